import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusewright.ledger import Ledger
from fusewright.publish.fidelity import STAGE, figures, in_sample, of_run
from fusewright.records import Measurement, Rejection
from fusewright.testing import make_measurement, make_problem

KEYS = st.text("0123456789abcdef", min_size=16, max_size=16)
SHARES = st.floats(0, 1)


def both(values):
    """Differences of eager and compiled alike."""
    return {"eager": values, "compiled": values}


def held(values, quantile):
    return figures(both(values), {})["gates"][quantile]["held"]


@given(KEYS, SHARES, SHARES)
def test_a_greater_share_holds_a_lesser_one(key, one, other):
    assert in_sample(key, min(one, other)) <= in_sample(key, max(one, other))


@given(KEYS)
def test_no_share_takes_nothing_and_the_whole_takes_all(key):
    assert (in_sample(key, 0.0), in_sample(key, 1.0)) == (False, True)


@given(st.integers(0, 2**32), st.sampled_from([0.01, 0.03, 0.3, 0.9]))
def test_the_share_drawn_is_near_the_fraction(first, fraction):
    size = 4000
    drawn = sum(in_sample(f"{first + n:016x}", fraction) for n in range(size))
    # Six standard deviations of a binomial: what chance alone does not leave.
    assert abs(drawn - size * fraction) < 6 * (size * fraction * (1 - fraction)) ** 0.5


def test_the_sample_is_the_same_in_every_release_of_the_package():
    keys = [f"{n:016x}" for n in range(100)]
    assert [n for n, key in enumerate(keys) if in_sample(key, 0.05)] == [5, 24, 28, 91]


def test_quantiles_are_linear_between_neighbours():
    eager = figures(both([n / 100 for n in range(11)]), {})["eager"]
    assert eager == pytest.approx(
        {"rows": 11, "p50": 0.05, "p90": 0.09, "p95": 0.095, "p99": 0.099, "max": 0.1}
    )


@pytest.mark.parametrize(
    ("quantile", "limit", "rows"), [("p50", 0.005, 1), ("p90", 0.02, 1), ("p99", 0.05, 500)]
)
def test_a_gate_holds_up_to_its_limit_and_no_further(quantile, limit, rows):
    assert held([limit] * rows, quantile) is True
    assert held([limit + 1e-6] * rows, quantile) is False


def test_a_gate_asks_both_timings():
    made = figures({"eager": [0.0], "compiled": [1.0]}, {})
    assert made["gates"]["p50"] == {"limit": 0.005, "least_rows": 1, "held": False}


def test_p99_is_told_and_not_gated_under_500_rows():
    assert held([1.0] * 499, "p99") is None
    assert figures(both([1.0] * 499), {})["eager"]["p99"] == 1.0


def test_nothing_measured_again_has_no_quantile_and_no_gate():
    made = figures(both([]), {"timeout": 2})
    assert made["eager"] == dict.fromkeys(("p50", "p90", "p95", "p99", "max")) | {"rows": 0}
    assert {gate["held"] for gate in made["gates"].values()} == {None}
    assert made["rejected"] == {"timeout": 2}


@pytest.fixture
def twice(tmp_path):
    """Measure three problems, all but the last of them again, of which the second fails."""
    ledger, problems = Ledger(tmp_path), [make_problem(seed=n) for n in range(3)]
    first = [(p.key, make_measurement(p, 4.0, 2.0)) for p in problems]
    turned = Rejection.of(problems[1], STAGE, "noisy_timing")
    again = [(problems[0].key, make_measurement(problems[0], 3.0, 2.5)), (problems[1].key, turned)]
    ledger.append("measure", first, Measurement)
    ledger.append(STAGE, again, Measurement)
    return ledger


def test_differences_are_relative_to_the_first_measurement_and_have_no_sign(twice):
    made = of_run(twice, 1.0)
    assert (made["eager"]["max"], made["compiled"]["max"]) == (0.25, 0.25)


def test_rejected_and_missing_ones_are_told_beside_the_rows(twice):
    made = of_run(twice, 1.0)
    assert (made["fraction"], made["sampled"]) == (1.0, 3)
    assert (made["eager"]["rows"], made["rejected"]) == (1, {"noisy_timing": 1})


def test_a_smaller_share_than_was_measured_again_counts_its_own_sample(twice):
    assert of_run(twice, 0.0) is None


def test_a_run_that_was_measured_once_has_no_figures(tmp_path):
    ledger, problem = Ledger(tmp_path), make_problem()
    assert of_run(ledger, 1.0) is None
    ledger.append("measure", [(problem.key, make_measurement(problem))], Measurement)
    assert of_run(ledger, 1.0) is None


def test_a_sample_that_was_turned_away_whole_has_figures_without_rows(tmp_path):
    ledger, problem = Ledger(tmp_path), make_problem()
    ledger.append("measure", [(problem.key, make_measurement(problem))], Measurement)
    turned = Rejection.of(problem, STAGE, "timeout")
    ledger.append(STAGE, [(problem.key, turned)], Measurement)
    made = of_run(ledger, 1.0)
    assert (made["eager"]["rows"], made["rejected"]) == (0, {"timeout": 1})
