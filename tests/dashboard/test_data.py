import pytest

from fusewright.dashboard.data import MAX_POINTS, STAGES, Run
from fusewright.ledger import Ledger
from fusewright.records import Measurement, Node, Passed, Rejection, Screening
from fusewright.testing import make_measurement, make_problem


def test_counts_are_those_of_the_ledger(make_run):
    ledger = make_run()
    for stage in Run(ledger).stages:
        tally = ledger.tally(stage.name)
        assert (stage.kept, stage.rejected) == (tally.kept, tally.rejected.total())


def test_reasons_add_up_to_the_rejections_of_their_stage(make_run):
    run = Run(make_run())
    for stage in run.stages:
        assert sum(r.count for r in run.reasons if r.stage == stage.name) == stage.rejected


def test_the_most_frequent_reason_of_a_stage_comes_first(make_run):
    screen = [reason for reason in Run(make_run()).reasons if reason.stage == "screen"]
    assert [(r.slug, r.count) for r in screen] == [("exact_duplicate", 2), ("near_benchmark", 1)]


@pytest.mark.parametrize(
    ("last", "waiting"),
    [
        ("mine", {}),
        ("compose", {"screen": 12}),
        ("screen", {"measure": 9}),
        ("measure", {"judge": 8}),
        ("judge", {"select": 7}),
        ("select", {}),
    ],
)
def test_what_a_stage_kept_waits_for_the_next(make_run, last, waiting):
    run = Run(make_run(last=last))
    assert {stage.name: stage.waiting for stage in run.stages if stage.waiting} == waiting


def test_survival_of_a_whole_run_is_survivors_over_candidates(make_run):
    headline = Run(make_run()).headline
    assert (headline.candidates, headline.survivors, headline.selected) == (12, 7, 6)
    assert headline.survival == pytest.approx(7 / 12)


def test_survival_is_unknown_while_a_stage_has_decided_nothing(make_run):
    assert Run(make_run(last="measure")).headline.survival is None


def test_survival_is_zero_when_a_stage_kept_nothing(tmp_path):
    problem = make_problem()
    turned = (problem.key, Rejection.of(problem, "screen", "syntax_error"))
    ledger = Ledger(tmp_path)
    ledger.append("screen", [turned], Screening)
    assert Run(ledger).headline.survival == 0


def test_medians_are_over_survivors_alone(tmp_path):
    ledger = with_timings(tmp_path, {"kept": [(4, 2), (6, 1)], "too_slow": [(900, 1)]})
    headline = Run(ledger).headline
    assert (headline.eager_ms, headline.speedup) == (5.0, 4.0)


def test_every_timing_knows_what_became_of_its_candidate(tmp_path):
    ledger = with_timings(tmp_path, {"kept": [(4, 2)], "too_slow": [(900, 1)], "waiting": [(5, 5)]})
    timings = Run(ledger).timings.sort("eager_ms")
    assert timings["fate"].to_list() == ["kept", "waiting", "rejected"]
    assert timings["reason"].to_list() == [None, None, "too_slow"]


def test_points_are_capped_and_counts_are_not(tmp_path):
    ledger = with_timings(tmp_path, {"kept": [(4, 2)] * (MAX_POINTS + 5)})
    run = Run(ledger)
    assert (run.points.height, run.timings.height) == (MAX_POINTS, MAX_POINTS + 5)


@pytest.mark.parametrize(
    ("speedup", "low", "high"), [(1.0, 1.0, 2**0.25), (2.0, 2.0, 2**1.25), (0.9, 2**-0.25, 1.0)]
)
def test_a_speedup_falls_into_the_quarter_octave_that_begins_at_or_below_it(
    tmp_path, speedup, low, high
):
    bins = Run(with_timings(tmp_path, {"kept": [(speedup, 1.0)]})).speedups
    assert bins.select("low", "high").row(0) == pytest.approx((low, high))


def test_bars_of_one_bin_stand_on_each_other(tmp_path):
    ledger = with_timings(tmp_path, {"kept": [(4, 2)] * 3, "too_slow": [(4, 2)] * 2})
    bars = Run(ledger).speedups.select("fate", "start", "end").rows()
    assert bars == [("kept", 0, 3), ("rejected", 3, 5)]


@pytest.mark.parametrize(
    ("similarity", "low"), [(0.0, 0.0), (0.69, 0.65), (0.7, 0.7), (0.9, 0.9), (1.0, 0.95)]
)
def test_a_similarity_falls_into_the_bin_that_begins_at_or_below_it(tmp_path, similarity, low):
    problem = make_problem()
    screened = Screening(
        problem=problem.key, canonical="c", numberless="n", benchmark_similarity=similarity
    )
    ledger = Ledger(tmp_path)
    ledger.append("screen", [(problem.key, screened)], Screening)
    assert Run(ledger).similarities["low"].to_list() == [low]


def test_rejected_neighbours_of_a_benchmark_are_in_the_histogram(make_run):
    bins = Run(make_run()).similarities.select("low", "fate", "count").rows()
    assert bins == [(0.4, "kept", 9), (0.95, "rejected", 1)]


def test_operator_uses_count_repeats_of_survivors_alone(tmp_path):
    graph = tuple(Node(op=op, inputs=(-1,)) for op in ("F.gelu", "F.gelu", "torch.add"))
    ledger = with_timings(tmp_path, {"kept": [(4, 2)], "too_slow": [(4, 2)]}, graph=graph)
    uses = Run(ledger).operators(25)
    assert uses.rows() == [
        ("F.gelu", 2, pytest.approx(2 / 3)),
        ("torch.add", 1, pytest.approx(1 / 3)),
    ]


def test_a_limit_is_the_one_that_rejections_name(tmp_path):
    run = Run(with_timings(tmp_path, {"too_slow": [(900, 1)]}))
    assert (run.limit("judge", "too_slow"), run.limit("judge", "too_easy")) == (100.0, None)


def test_an_empty_run_has_every_stage_and_no_figure(tmp_path):
    run = Run(Ledger(tmp_path / "nothing"))
    assert [stage.name for stage in run.stages] == list(STAGES)
    assert (run.headline.survival, run.headline.eager_ms, run.headline.devices) == (None, None, ())
    assert run.speedups.is_empty()
    assert run.operators(25).is_empty()


def with_timings(root, by_fate, **fields) -> Ledger:
    """Measure one problem a pair of eager and compiled time, and judge it as its key says."""
    measured, judged = [], []
    for fate, pairs in by_fate.items():
        for eager_ms, compiled_ms in pairs:
            problem = make_problem(seed=len(measured))
            measured.append(
                (problem.key, make_measurement(problem, eager_ms, compiled_ms, **fields))
            )
            if fate == "kept":
                judged.append((problem.key, Passed(problem=problem.key)))
            elif fate != "waiting":
                judged.append((problem.key, Rejection.of(problem, "judge", fate, limit=100.0)))
    ledger = Ledger(root)
    ledger.append("measure", measured, Measurement)
    ledger.append("judge", judged, Passed)
    return ledger
