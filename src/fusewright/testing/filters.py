"""Check one verdict of one filter."""

from fusewright.protocols import MeasuredFilter, ProblemFilter
from fusewright.records import Measurement, Problem, Rejection


def check_filter(
    judge: ProblemFilter | MeasuredFilter,
    problem: Problem,
    measurement: Measurement | None = None,
    *,
    reason: str | None,
) -> Rejection | None:
    """Assert that *judge* rejects for *reason* (None: keeps), and that it declared the reason.

    Returns:
        The rejection, so that a test can look at its detail.

    Raises:
        AssertionError: It judged otherwise.
    """
    args = (problem,) if measurement is None else (problem, measurement)
    verdict = judge.judge(*args)
    rejection = verdict if isinstance(verdict, Rejection) else None
    given = rejection and rejection.reason
    assert given == reason, f"{judge.name}: expected {reason}, got {rejection or 'kept'}"
    if rejection:
        assert rejection.reason in judge.reasons, f"{judge.name} does not declare {reason}"
        assert rejection.subject == problem.key, f"{judge.name} rejects another record"
        assert rejection.detail, f"{judge.name} says nothing of why"
    return rejection
