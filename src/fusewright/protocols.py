"""What a plug-in implements: a name and one method.

A frozen dataclass satisfies each of these without inheriting from anything; its fields are its
settings. Four extras are optional: `Remembering`, for a filter with a memory (duplicates),
`Remeasuring`, for a meter that can say how well its timings come again, and two for a composer:
`Ruled`, which draws by the typed rules of plug-ins, and `Inspectable`, which says what it draws.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Protocol, runtime_checkable

from fusewright.records import Measurement, Operator, Problem, Rejection

Facts = Mapping[str, str | float | None]
"""Fields of a `Screening` that a filter learnt while it judged."""


class Named(Protocol):
    """Anything with a read-only name."""

    @property
    def name(self) -> str:
        """Name by which configs and reports call it."""
        ...


class OperatorSource(Named, Protocol):
    """Yields operators for the mine stage."""

    def operators(self) -> Iterator[Operator]:
        """Yield each operator once, in a stable order."""
        ...


class Composer(Named, Protocol):
    """Writes problems from operators."""

    def compose(self, operators: Sequence[Operator], seed: int) -> Problem | Rejection:
        """Write the one problem that *operators* and *seed* determine."""
        ...


@runtime_checkable
class Ruled(Protocol):
    """A composer that takes typed rules of plug-ins beside its own."""

    def with_rules(self, rules: Sequence[Any]) -> Composer:
        """Make the same composer with *rules*, each a `fusewright.operators.catalogue.Rule`."""
        ...


@runtime_checkable
class Inspectable(Protocol):
    """A composer whose problems can be tried out at tiny sizes, and described together."""

    def tiny(self, operators: Sequence[Operator], seed: int) -> Problem | Rejection:
        """Write what *seed* determines at sizes of which a processor runs many a second."""
        ...

    def describe(self, operators: Sequence[Operator], seeds: Sequence[int]) -> dict[str, Any]:
        """Tell `skeleton_share`, `duplicate_share` and `uses` (operator -> share) of *seeds*."""
        ...


class Meter(Named, Protocol):
    """Runs problems on a device, in processes of their own."""

    def measure(self, problems: Sequence[Problem]) -> Iterator[Measurement | Rejection]:
        """Yield one verdict a problem, in the order in which they are decided."""
        ...


@runtime_checkable
class Remeasuring(Protocol):
    """A meter that can measure again, alone; without it a run has no fidelity figures."""

    def remeasure(self, problems: Sequence[Problem]) -> Iterator[Measurement | Rejection]:
        """Yield a second verdict a problem: alone on the device, in a process that is new to it."""
        ...


class ProblemFilter(Named, Protocol):
    """Judges the text of a problem; runs nothing."""

    reasons: ClassVar[tuple[str, ...]]

    def judge(self, problem: Problem) -> Rejection | Facts | None:
        """Reject, or keep (None) with what was learnt on the way."""
        ...


class Remembering(Protocol):
    """A filter whose verdict depends on what was kept before."""

    def remember(self, problem: Problem) -> None:
        """Take *problem* into memory: the stage kept it, now or in an earlier sitting."""
        ...


class MeasuredFilter(Named, Protocol):
    """Judges a measured problem by stored numbers; runs nothing."""

    reasons: ClassVar[tuple[str, ...]]

    def judge(self, problem: Problem, measurement: Measurement) -> Rejection | None:
        """Return None to keep the problem, or why it goes."""
        ...
