"""Where the randomness of a sample comes from: parameters, and sums over many elements."""

from collections.abc import Callable
from dataclasses import dataclass

from fusewright.operators.catalogue.sample import Sample, blended, column, correlation

View = Callable[[Sample], Sample]

COLUMNS = 8
"""Columns that one operator may use."""
_REDRAWN = 512


@dataclass(frozen=True)
class Noise:
    """Normal elements for one operator of a graph.

    An operator that sums thousands of elements shows a few normal ones. When the graph is run
    again with other operands, those follow as far as the operands are still correlated with what
    they were: half as much input left, half as much noise kept.
    """

    place: int
    """Index of the operator in its graph."""
    now: tuple[Sample, ...]
    """Operands of this run."""
    before: tuple[Sample, ...] | None = None
    """Operands of the run it is compared with; None where this is the first."""
    redrawn: int | None = None
    """Index of the parameter that this run draws anew."""

    def fixed(self, index: int = 0) -> Sample:
        """Noise of a parameter: the same whatever the operands."""
        anew = _REDRAWN if index == self.redrawn else 0
        return column(self.place * COLUMNS + index + anew)

    def drawn(
        self, index: int = 4, operands: tuple[int, ...] = (0,), view: View | None = None
    ) -> Sample:
        """Noise that sums over *operands* leave, or over what *view* shows of them."""
        base = column(self.place * COLUMNS + index)
        kept = 1.0
        for operand in operands:
            kept *= self._kept(operand, view or _whole)
        if kept == 1:
            return base
        return blended(base, column(self.place * COLUMNS + index + _REDRAWN), kept)

    def _kept(self, operand: int, view: View) -> float:
        if self.before is None or self.before[operand] is self.now[operand]:
            return 1.0
        return correlation(view(self.before[operand]), view(self.now[operand]))


def _whole(sample: Sample) -> Sample:
    return sample
