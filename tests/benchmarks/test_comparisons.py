"""Figures of two parts held against each other."""

import pytest

import comparisons

from .lines import outcome, verdict


def measured(eager_ms, compiled_ms=None):
    compiled = compiled_ms or [1.0] * len(eager_ms)
    return outcome(
        verdict(str(i), times_ms=times_ms)
        for i, times_ms in enumerate(zip(eager_ms, compiled, strict=True))
    )


def test_a_difference_is_that_of_the_second_median_from_the_first():
    found = comparisons.fidelity(measured([2.0, 4.0]), measured([2.1, 4.0], [1.0, 0.5]))
    assert found["n"] == 2
    assert found["eager"]["max"] == pytest.approx(0.05)
    assert found["compiled"]["max"] == pytest.approx(0.5)
    assert found["eager"]["p50"] == pytest.approx(0.025)


def test_what_one_side_has_not_measured_is_no_pair():
    solo = outcome([verdict("0"), verdict("1", reason="timeout"), verdict("other")])
    found = comparisons.fidelity(measured([2.0, 2.0]), solo)
    assert (found["n"], found["sampled"], found["eager"]["n"]) == (1, 3, 1)


def test_those_that_came_out_farthest_are_named():
    found = comparisons.fidelity(measured([1.0] * 5), measured([1.0, 1.3, 1.1, 1.2, 1.0]))
    assert [outlier["key"] for outlier in found["outliers"]] == ["1", "3", "2"]
    assert found["outliers"][0]["again_ms"] == 1.3


@pytest.mark.parametrize(
    ("gate", "difference", "held"),
    [("p50", 0.0049, True), ("p50", 0.0051, False), ("p90", 0.019, True), ("p90", 0.021, False)],
)
def test_a_gate_holds_up_to_its_limit(gate, difference, held):
    found = comparisons.fidelity(measured([1.0]), measured([1.0 + difference]))
    assert found["gates"][gate]["held"] is held


def test_a_gate_asks_both_timings():
    found = comparisons.fidelity(measured([1.0]), measured([1.0], [1.006]))
    assert found["gates"]["p50"]["held"] is False


@pytest.mark.parametrize(
    ("n", "difference", "held"), [(499, 0.5, None), (500, 0.5, False), (500, 0.0, True)]
)
def test_the_last_hundredth_is_asked_of_five_hundred(n, difference, held):
    found = comparisons.fidelity(measured([1.0] * n), measured([1.0 + difference] * n))
    assert found["gates"]["p99"]["held"] is held


def test_no_pairs_hold_no_gate():
    found = comparisons.fidelity(outcome([]), outcome([]))
    assert found["eager"]["p50"] is None
    assert [gate["held"] for gate in found["gates"].values()] == [None, None, None]


ENGINE = outcome(
    [
        verdict("a", spent_s={"waiting": 2.0, "compile": 1.0, "lease": 1.0, "timing": 0.9}),
        verdict("b", spent_s={"waiting": 2.0, "compile": 3.0, "lease": 1.0}),
        verdict("c", reason="too_easy", spent_s={"lease": 0.1}),
        verdict("d", spent_s={"lease": 100.0}),
    ],
    workers=10,
)


def test_rates_are_those_of_the_same_problems_the_first_of_the_baseline_left_out():
    baseline = outcome(verdict(key, spent_s={"lease": 10.0}) for key in "dab")
    found = comparisons.speed(ENGINE, baseline)
    assert found["decided"]["n"] == 2
    assert found["decided"]["engine"] == pytest.approx(10 * 3600 / 5)
    assert found["decided"]["baseline"] == pytest.approx(360)
    assert found["decided"]["ratio"] == pytest.approx(20)


def test_what_the_engine_turns_away_early_counts_as_decided_alone():
    baseline = outcome(verdict(key, spent_s={"lease": 10.0}) for key in "xabc")
    found = comparisons.speed(ENGINE, baseline)
    assert (found["decided"]["n"], found["measured"]["n"]) == (3, 2)
    assert found["measured"]["ratio"] == pytest.approx(20)
    assert found["decided"]["ratio"] > 20


def test_no_problem_in_common_gives_no_ratio():
    found = comparisons.speed(ENGINE, outcome([verdict("a", spent_s={"lease": 1.0})]))
    assert found["decided"] == {"n": 0, "engine": None, "baseline": None, "ratio": None}
