"""Operators that a problem names, against those that its text uses."""

from dataclasses import dataclass
from typing import ClassVar

from fusewright.filters.unreadable import SYNTAX_ERROR, readable
from fusewright.identity import operator_names
from fusewright.protocols import Facts
from fusewright.records import Problem, Rejection


@dataclass(frozen=True)
class Label:
    """Rejects a problem that declares an operator which its text does not use.

    Only the last part of a name counts, without case and underscores: `F.log_softmax` is served by
    `nn.LogSoftmax` as well. How often an operator is used does not matter.
    """

    name: ClassVar[str] = "label"
    reasons: ClassVar[tuple[str, ...]] = (SYNTAX_ERROR, "operators_mismatch")

    @readable
    def judge(self, problem: Problem) -> Rejection | Facts | None:
        """Keep a problem that declares nothing, or only what it uses."""
        if not problem.ops:
            return None
        found = operator_names(problem.code)
        used = {_bare(name) for name in found}
        absent = [name for name in problem.ops if _bare(name) not in used]
        if not absent:
            return None
        detail = (
            f"declares {', '.join(dict.fromkeys(absent))}, "
            f"but uses {', '.join(dict.fromkeys(found)) or 'no operator'}"
        )
        return Rejection.of(problem, "screen", "operators_mismatch", detail)


def _bare(name: str) -> str:
    return name.rpartition(".")[2].replace("_", "").lower()
