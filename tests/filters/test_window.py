import pytest

from fusewright.filters.window import Window
from fusewright.protocols import MeasuredFilter
from fusewright.testing import check_filter, make_measurement, make_problem


@pytest.mark.parametrize(
    ("eager_ms", "reason"),
    [(0.999, "too_easy"), (1.0, None), (100.0, None), (100.1, "too_slow")],
)
def test_eager_times_in_the_window_are_kept_both_ends_included(eager_ms, reason):
    judge: MeasuredFilter = Window()
    problem = make_problem()
    check_filter(judge, problem, make_measurement(problem, eager_ms), reason=reason)


@pytest.mark.parametrize(
    ("eager_ms", "detail", "limit"),
    [(0.62, "eager 0.62 ms is under 1 ms", 1.0), (2000.0, "eager 2000 ms is over 100 ms", 100.0)],
)
def test_a_rejection_tells_value_and_limit(eager_ms, detail, limit):
    problem = make_problem()
    rejection = Window().judge(problem, make_measurement(problem, eager_ms))

    assert (rejection.detail, rejection.value, rejection.limit) == (detail, eager_ms, limit)
    assert rejection.stage == "judge"


@pytest.mark.parametrize("limits", [(-1, 100), (0, 100), (5, 4), (float("nan"), 1)])
def test_limits_that_make_no_window_are_refused(limits):
    with pytest.raises(ValueError, match="expected 0 < min_ms <= max_ms"):
        Window(*limits)
