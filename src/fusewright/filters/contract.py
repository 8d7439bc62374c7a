"""The form of a problem: `class Model(nn.Module)`, `get_inputs()` and `get_init_inputs()`."""

from dataclasses import dataclass
from typing import ClassVar

from fusewright.filters.unreadable import SYNTAX_ERROR, readable
from fusewright.identity import read
from fusewright.identity.contract import missing
from fusewright.identity.program import syntax_guard
from fusewright.protocols import Facts
from fusewright.records import Problem, Rejection


@dataclass(frozen=True)
class Contract:
    """Rejects text that is no Python, or not of KernelBench's form."""

    name: ClassVar[str] = "contract"
    reasons: ClassVar[tuple[str, ...]] = (SYNTAX_ERROR, "contract_missing")

    @readable
    def judge(self, problem: Problem) -> Rejection | Facts | None:
        """Keep a problem whose text compiles and defines all three names properly."""
        program = read(problem.code)
        with syntax_guard():  # finds what parsing does not: `return` outside a function
            compile(problem.code, "<problem>", "exec", dont_inherit=True)
        for lacking in missing(program):
            return Rejection.of(problem, "screen", "contract_missing", lacking)
        return None
