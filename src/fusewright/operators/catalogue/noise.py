"""Where the randomness of a sample comes from: parameters, and sums over many elements."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from fusewright.operators.catalogue.sample import (
    COUNT,
    Moment,
    Sample,
    blended,
    column,
    correlation,
    uniform_column,
)

View = Callable[[Sample], Sample]

COLUMNS = 8
"""Columns that one operator may use."""
_REDRAWN = 512


class Noise(NamedTuple):
    """Normal elements for one operator of a graph.

    An operator that sums thousands of elements shows a few normal ones. When the graph is run
    again with other operands, those follow as far as the operands are still correlated with what
    they were: half as much input left, half as much noise kept.
    """

    place: int
    """Index of the operator in its graph."""
    now: tuple[Sample, ...]
    """Operands of this run, `[127]`, or of many at once, `[runs, 127]`."""
    before: tuple[Sample, ...] | None = None
    """Operands of the run they are compared with; None where this is the first."""
    redrawn: Mapping[int, int] = MappingProxyType({})
    """Which run draws a parameter anew, by the index of the parameter."""
    runs: int = 1
    """How many runs there are at once."""

    def fixed(self, index: int = 0) -> Sample:
        """Noise of a parameter: the same whatever the operands."""
        return self._parameter(column, index)

    def uniform(self, index: int = 0) -> Sample:
        """The same, uniform between 0 and 1."""
        return self._parameter(uniform_column, index)

    def drawn(
        self, index: int = 4, operands: tuple[int, ...] = (0,), view: View | None = None
    ) -> Sample:
        """Noise that sums over *operands* leave, or over what *view* shows of them."""
        base = column(self.place * COLUMNS + index)
        kept: Moment | None = None
        for operand in operands:
            share = self._kept(operand, view)
            if share is not None:
                kept = share if kept is None else kept * share
        if kept is None:
            return base
        return blended(base, column(self.place * COLUMNS + index + _REDRAWN), kept)

    def _kept(self, operand: int, view: View | None) -> Moment | None:
        """Correlation of an operand with what it was, `[..., 1]`; None where it is the same."""
        if self.before is None or self.before[operand] is self.now[operand]:
            return None
        before, now = self.before[operand], self.now[operand]
        return correlation(view(before), view(now)) if view else correlation(before, now)

    def _parameter(self, columns: Callable[[int], Sample], index: int) -> Sample:
        base = columns(self.place * COLUMNS + index)
        if index not in self.redrawn:
            return base
        rows = np.empty((self.runs, COUNT))
        rows[:] = base
        rows[self.redrawn[index]] = columns(self.place * COLUMNS + index + _REDRAWN)
        return rows
