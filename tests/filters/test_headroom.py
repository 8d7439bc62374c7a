import pytest

from fusewright.filters.headroom import Headroom
from fusewright.protocols import MeasuredFilter
from fusewright.testing import check_filter, make_measurement, make_problem


@pytest.mark.parametrize(
    ("compiled_ms", "reason"), [(1.09, "no_headroom"), (1.1, None), (0.9, "no_headroom"), (3, None)]
)
def test_compiled_times_near_the_bound_leave_no_headroom(compiled_ms, reason):
    judge: MeasuredFilter = Headroom()
    problem = make_problem()
    measurement = make_measurement(problem, compiled_ms=compiled_ms, sol_ms=1.0)
    check_filter(judge, problem, measurement, reason=reason)


def test_a_rejection_tells_value_and_limit():
    problem = make_problem()
    rejection = Headroom(min_ratio=1.5).judge(
        problem, make_measurement(problem, compiled_ms=2.5, sol_ms=2.0)
    )

    assert (rejection.value, rejection.limit) == (1.25, 1.5)
    assert rejection.detail == (
        "compiled 2.5 ms is 1.250 times the speed-of-light time, under 1.5 times"
    )


@pytest.mark.parametrize("ratio", [0.99, -1.0, float("nan")])
def test_a_ratio_under_one_is_refused(ratio):
    with pytest.raises(ValueError, match="expected 1 or more"):
        Headroom(min_ratio=ratio)
