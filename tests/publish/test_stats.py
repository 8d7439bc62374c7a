import pytest

from fusewright.configfile import make_config
from fusewright.errors import LedgerError
from fusewright.ledger import Ledger
from fusewright.publish.stats import STAGES, distributions, funnel, manifest
from fusewright.records import Passed, Rejection

FACTS = {
    "fusewright": "0.1.0",
    "python": "3.11.7",
    "torch": "2.13.0",
    "commit": "abc",
    "started": "2026-11-30T12:00:00+00:00",
}


def fill(ledger, stage, kept, *reasons):
    verdicts = [(f"k{n}", Passed(problem=f"k{n}")) for n in range(kept)]
    verdicts += [
        (f"r{n}", Rejection(subject=f"r{n}", stage=stage, reason=reason))
        for n, reason in enumerate(reasons)
    ]
    ledger.append(stage, verdicts, Passed)


@pytest.fixture
def ledger(tmp_path):
    """Hold a whole run that ends in one row."""
    ledger = Ledger(tmp_path)
    fill(ledger, "mine", 9, "self_test_failed")
    fill(ledger, "compose", 6, "unparsed")
    fill(ledger, "screen", 4, "near_benchmark", "exact_duplicate")
    fill(ledger, "measure", 4)
    fill(ledger, "judge", 2, "too_slow", "too_easy")
    fill(ledger, "select", 1, "surplus")
    return ledger


def test_the_funnel_tells_inputs_kept_and_rejected_of_each_stage_in_order(ledger):
    stages = funnel(ledger, STAGES, 1)["stages"]
    assert [(s["stage"], s["inputs"], s["kept"]) for s in stages] == [
        ("mine", 10, 9),
        ("compose", 7, 6),
        ("screen", 6, 4),
        ("measure", 4, 4),
        ("judge", 4, 2),
        ("select", 2, 1),
        ("release", 1, 1),
    ]
    assert all(s["inputs"] == s["kept"] + sum(s["rejected"].values()) for s in stages)


def test_reasons_go_by_count_and_then_by_name(tmp_path):
    ledger = Ledger(tmp_path)
    fill(ledger, "mine", 0, "b", "c", "c", "a")
    (mine, _) = funnel(ledger, ["mine"], 0)["stages"]
    assert list(mine["rejected"].items()) == [("c", 2), ("a", 1), ("b", 1)]


def test_a_record_lost_between_two_stages_is_an_error(ledger):
    fill(ledger, "judge", 1)
    with pytest.raises(LedgerError, match="measure kept 4, judge had 5"):
        funnel(ledger, STAGES, 1)


def test_a_release_with_other_rows_than_were_selected_is_an_error(ledger):
    with pytest.raises(LedgerError, match="select kept 1, the release has 2 rows"):
        funnel(ledger, STAGES, 2)


def test_the_manifest_says_what_the_release_was_made_from(new_row):
    config = make_config({"name": "small", "seed": 5}, "test")
    rows = [new_row(1), new_row(2, device="other", licenses=("BSD-3-Clause", "MIT"))]
    made = manifest(config, rows, 7, FACTS)
    assert made["config_hash"] == config.hash
    assert made["config"]["name"] == "small"
    assert made["seeds"] == {"run": 5}
    assert made["git_commit"] == "abc"
    assert made["versions"] == {"fusewright": "0.1.0", "python": "3.11.7", "torch": "2.13.0"}
    assert made["measured_with"] == {"torch 2.13.0": 2}
    assert made["devices"] == {"fake": 1, "other": 1}
    assert made["counts"] == {"rows": 2, "rejected": 7}
    assert made["fidelity"] is None
    assert made["licenses"] == {"BSD-3-Clause": 2, "MIT": 1}


def test_the_manifest_does_not_know_when_it_was_made(new_row):
    config = make_config({}, "test")
    later = FACTS | {"started": "2026-12-01T12:00:00+00:00"}
    assert manifest(config, [new_row()], 0, FACTS) == manifest(config, [new_row()], 0, later)


def test_the_manifest_has_the_fidelity_as_it_was_found(new_row):
    facts = FACTS | {"fidelity": {"fraction": 0.03}}
    made = manifest(make_config({}, "test"), [new_row()], 0, facts)
    assert made["fidelity"] == {"fraction": 0.03}


def test_operators_are_counted_in_all_their_uses_most_used_first(new_row):
    rows = [new_row(1, ops=("F.a", "F.b", "F.b")), new_row(2, ops=("F.b", "F.c"))]
    assert list(distributions(rows)["operators"].items()) == [("F.b", 3), ("F.a", 1), ("F.c", 1)]


@pytest.mark.parametrize(
    ("eager_ms", "low"), [(0.99, 0.5), (1.0, 1.0), (1.99, 1.0), (2.0, 2.0), (100.0, 64.0)]
)
def test_runtimes_are_counted_by_powers_of_two(new_row, eager_ms, low):
    assert distributions([new_row(eager_ms=eager_ms)])["eager_ms"] == {low: 1}


def test_speedups_are_told_by_quantiles(new_row):
    rows = [new_row(n, speedup=float(n)) for n in range(1, 6)]
    assert distributions(rows)["speedup"] == pytest.approx(
        {0.05: 1.2, 0.25: 2.0, 0.5: 3.0, 0.75: 4.0, 0.95: 4.8}
    )


def test_branching_rows_and_skeletons_are_counted(new_row):
    rows = [new_row(1), new_row(2, branching=True), new_row(3, skeleton="other")]
    made = distributions(rows)
    assert (made["branching"], made["skeletons"]) == (1, 2)


def test_no_rows_have_no_quantiles():
    assert distributions([])["speedup"] == {}
