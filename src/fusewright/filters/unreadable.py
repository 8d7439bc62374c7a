"""Text that cannot be parsed is a rejection, whichever filter meets it first."""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from fusewright.protocols import Facts
from fusewright.records import Problem, Rejection

SYNTAX_ERROR = "syntax_error"

_Filter = TypeVar("_Filter")
_Verdict = Rejection | Facts | None


def readable(
    judge: Callable[[_Filter, Problem], _Verdict],
) -> Callable[[_Filter, Problem], _Verdict]:
    """Make *judge*, a filter's method, reject what it fails to parse."""

    @wraps(judge)
    def guarded(self: _Filter, problem: Problem) -> _Verdict:
        try:
            return judge(self, problem)
        except SyntaxError as error:
            line = f" in line {error.lineno}" if error.lineno else ""
            detail = f"the text is not Python{line}: {error.msg}"
            return Rejection.of(problem, "screen", SYNTAX_ERROR, detail)

    return guarded
