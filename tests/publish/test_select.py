import math
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fusewright.config import JudgeSettings, SelectSettings
from fusewright.publish.select import Candidate, select
from fusewright.records import Passed, Screening

LIMITS = JudgeSettings()


def candidate(number=0, **fields):
    defaults = {
        "key": f"{number:016x}",
        "skeleton": f"s{number}",
        "ops": ("torch.relu", "torch.mean"),
        "families": ("elementwise", "reduction"),
        "numberless": f"n{number}",
        "eager_ms": 10.0,
        "headroom": 2.0,
    }
    return Candidate(**defaults | fields)


def taken(candidates, target, limits=LIMITS, **fields):
    verdicts = select(candidates, SelectSettings(target=target, **fields), limits)
    return [key for key, verdict in verdicts if isinstance(verdict, Passed)]


def only(one, limits=LIMITS, **fields):
    ((key, verdict),) = select([one], SelectSettings(target=1, **fields), limits)
    assert key == one.key
    return verdict


pools = st.lists(
    st.builds(
        candidate,
        st.integers(0, 10**6),
        skeleton=st.sampled_from("abc"),
        ops=st.lists(st.sampled_from(("F.a", "F.b", "F.c")), max_size=3).map(tuple),
        families=st.lists(st.sampled_from("xy"), max_size=3).map(tuple),
        numberless=st.sampled_from("0123456789"),
        eager_ms=st.floats(1.0, 100.0),
        headroom=st.floats(1.1, 8.0),
    ),
    unique_by=lambda c: c.key,
    max_size=30,
)


@given(pools, st.integers(1, 12), st.randoms())
@settings(deadline=None, max_examples=60)
def test_the_order_of_the_candidates_changes_nothing(pool, target, random):
    shuffled = random.sample(pool, len(pool))
    wanted = SelectSettings(target=target)
    assert list(select(pool, wanted, LIMITS)) == list(select(shuffled, wanted, LIMITS))


@given(pools, st.integers(1, 12), st.sampled_from([0.0, 0.1, 0.5, 1.0]))
@settings(deadline=None, max_examples=100)
def test_every_candidate_has_one_verdict_and_the_share_of_twins_holds(pool, target, share):
    wanted = SelectSettings(target=target, numberless_share=share)
    verdicts = list(select(pool, wanted, LIMITS))
    assert sorted(key for key, _ in verdicts) == sorted(c.key for c in pool)
    kept = {key for key, verdict in verdicts if isinstance(verdict, Passed)}
    groups = Counter(c.numberless for c in pool if c.key in kept)
    assert sum(n for n in groups.values() if n > 1) <= share * len(kept)
    assert len(kept) <= target


@pytest.mark.parametrize(("there", "rows"), [(9, 9), (10, 10), (11, 10)])
def test_exactly_the_target_is_taken_where_there_are_enough(there, rows):
    assert len(taken([candidate(n) for n in range(there)], 10)) == rows


def test_what_is_left_over_is_surplus_because_the_target_is_met():
    verdicts = dict(select([candidate(n) for n in range(3)], SelectSettings(target=2), LIMITS))
    left = verdicts[candidate(2).key]
    assert (left.stage, left.reason) == ("select", "surplus")
    assert left.detail == "the target of 2 rows is met"


def test_equals_are_taken_in_the_order_of_their_keys():
    assert taken([candidate(n) for n in (3, 1, 2)], 2) == [candidate(1).key, candidate(2).key]


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"eager_ms": 1.0499}, "1.05 ms is not clear of 1 ms"),
        ({"eager_ms": 1.05}, None),
        ({"eager_ms": 95.0}, None),
        ({"eager_ms": 95.01}, "95.01 ms is not clear of 100 ms"),
        ({"headroom": 1.154}, "1.154 is not clear of 1.1"),
        ({"headroom": 1.1551}, None),
    ],
)
def test_a_guard_lies_inside_each_limit(fields, why):
    verdict = only(candidate(**fields))
    if why is None:
        assert isinstance(verdict, Passed)
    else:
        assert verdict.reason == "surplus"
        assert f"{why} by the guard of 5%" in verdict.detail
        assert verdict.value == next(iter(fields.values()))
        assert verdict.limit is not None


def test_without_a_guard_the_limits_themselves_pass():
    for fields in ({"eager_ms": 1.0}, {"eager_ms": 100.0}, {"headroom": 1.1}):
        assert isinstance(only(candidate(**fields), guard=0.0), Passed)


def test_without_a_headroom_limit_any_headroom_passes():
    limits = JudgeSettings(min_headroom=None)
    assert isinstance(only(candidate(headroom=0.3), limits), Passed)


@pytest.mark.parametrize(("share", "rows"), [(0.19, 9), (0.2, 10)])
def test_twins_are_taken_up_to_their_share_of_the_release(share, rows):
    # Nine distinct texts and a twin of one: 2 of 10 rows would equal another.
    pool = [candidate(n) for n in range(9)] + [candidate(9, numberless="n0")]
    assert len(taken(pool, 10, numberless_share=share)) == rows


def test_a_twin_beyond_the_share_says_so_with_value_and_limit():
    pool = [candidate(0), candidate(1, numberless="n0")]
    left = dict(select(pool, SelectSettings(target=2), LIMITS))[candidate(1).key]
    assert left.detail == "equal to another row but for numbers, beyond the share of 2%"
    assert (left.value, left.limit) == (1.0, 0.02)


def test_a_twin_gives_way_to_what_is_distinct():
    twins = [candidate(n, numberless="n", skeleton=f"s{n}") for n in range(3)]
    dull = [candidate(n, skeleton="s0") for n in range(3, 6)]
    kept = taken([*twins, *dull], 4, numberless_share=1.0)
    assert len(set(kept) & {c.key for c in twins}) == 1


def test_a_skeleton_repeats_only_once_all_were_taken():
    pool = [candidate(n, skeleton=f"s{n % 4}") for n in range(12)]
    skeletons = {c.key: c.skeleton for c in pool}
    kept = [skeletons[key] for key in taken(pool, 8)]
    assert set(kept[:4]) == set(kept[4:]) == {"s0", "s1", "s2", "s3"}


@pytest.mark.parametrize(
    "rare",
    [
        {"ops": ("torch.cumsum",)},
        {"families": ("scan",)},
        {"eager_ms": 40.0},
    ],
    ids=["operator", "family", "runtime"],
)
def test_what_was_seldom_taken_comes_before_more_of_the_same(rare):
    pool = [candidate(n) for n in range(5)] + [candidate(9, **rare)]
    assert candidate(9).key in taken(pool, 2)


def test_runtimes_do_not_matter_where_they_are_too_noisy_to_choose_by():
    pool = [candidate(n) for n in range(5)] + [candidate(9, eager_ms=40.0)]
    assert candidate(9).key not in taken(pool, 2, runtime_strata=False)


def test_a_stale_score_never_lets_a_worse_candidate_pass():
    pool = [
        candidate(n, skeleton=f"s{n % 3}", ops=(f"F.{n % 5}", f"F.{n % 7}"), eager_ms=1.1 + n)
        for n in range(60)
    ]
    assert taken(pool, 40) == slow_greedy(pool, 40)


def slow_greedy(pool, target):
    """Score every candidate anew for each row."""
    weights = [len({op for c in pool for op in c.ops}), len({f for c in pool for f in c.families})]
    weights.append(len({math.floor(math.log2(c.eager_ms)) for c in pool}))
    left, rows = {c.key: c for c in pool}, []

    def score(c):
        ops, families, strata = (
            Counter(op for r in rows for op in r.ops),
            Counter(f for r in rows for f in r.families),
            Counter(math.floor(math.log2(r.eager_ms)) for r in rows),
        )
        return (
            sum(r.skeleton == c.skeleton for r in rows),
            weights[0] * (sum(ops[op] for op in c.ops) / len(c.ops))
            + weights[1] * (sum(families[f] for f in c.families) / len(c.families))
            + weights[2] * strata[math.floor(math.log2(c.eager_ms))],
            c.key,
        )

    while len(rows) < target:
        rows.append(left.pop(min(left.values(), key=score).key))
    return [row.key for row in rows]


def test_a_candidate_is_what_its_row_and_screening_say(new_row):
    row = new_row(eager_ms=3.0)
    made = Candidate.of(row, Screening(problem="k", canonical="c", numberless="n"))
    assert made == replace(
        candidate(key="k", numberless="n", eager_ms=3.0),
        skeleton=row.skeleton,
        ops=row.ops,
        families=row.families,
        headroom=row.headroom,
    )
