"""What the rules know of a tensor: sizes, bounds, facts, and a few of its elements.

Dimension 0 is always the batch. No rule reduces it or builds it into a parameter, so a shape here
leaves it out and the batch stays free to be sized last; dimensions are numbered as code does.
"""

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

from fusewright.operators.catalogue.once import once
from fusewright.operators.catalogue.sample import Sample, moments, slack
from fusewright.operators.catalogue.size import ONE, Size

Layout = Literal["scalars", "rows", "tokens", "signal", "image", "volume", "heads"]
"""`tokens` are [time, features], `signal` [channels, length], `heads` [heads, time, features]."""

Shape = tuple[Size, ...]
Dims = tuple[int, ...]

NORMAL_BOUND = 6.7
"""Greatest magnitude that `torch.randn` draws in float32: Box-Muller on 32 random bits."""

FEATURE: dict[Layout, int] = {
    "rows": 1, "tokens": 2, "signal": 1, "image": 1, "volume": 1, "heads": 3,
}  # fmt: skip
"""Dimension along which a layout holds its features."""

ROWS_LAST: tuple[Layout, ...] = ("rows", "tokens", "heads")
"""Layouts whose features come last."""
PLACES: tuple[Layout, ...] = ("signal", "image", "volume")
"""Layouts of channels and then one, two or three positions."""
DIMENSIONED: tuple[Layout, ...] = (*ROWS_LAST, *PLACES)
"""Layouts with more than the batch."""

Kind = Literal[
    "sum1", "mean0", "var1", "norm1", "lse0", "perm", "extreme", "shift", "scale", "bias"
]  # fmt: skip

WITHIN: frozenset[Kind] = frozenset({"shift", "scale", "bias"})
"""Facts that hold for any part of their dimensions; the others hold for the whole of them."""


class Fact(NamedTuple):
    """One thing that is exactly true of a value, along some dimensions.

    `sum1`, `mean0`, `var1`, `norm1` (unit norm) and `lse0` (logsumexp 0) tell what a reduction
    would give. `perm`: elements were only reordered. `extreme`: it holds the greatest or least of
    something, which is no news beside that. `shift` and `scale`: the last thing that
    happened was the addition of, or multiplication by, something constant along the dimensions;
    `bias` is a shift by the bias of a module, which can be left out.
    """

    kind: Kind
    dims: Dims

    def defeats(self, given: "Fact") -> bool:
        """Whether a rule that is blind to *self* does nothing for a value with *given*."""
        if self.kind != given.kind:
            return False
        inner, outer = (self, given) if given.kind in WITHIN else (given, self)
        return set(inner.dims) <= set(outer.dims)


@dataclass(frozen=True)
class Value:
    """A tensor with a free batch: sizes of the other dimensions, and what is known of it."""

    layout: Layout
    shape: Shape
    sample: Sample
    low: float
    """Least element that it may hold; a normal input holds none beyond `NORMAL_BOUND`."""
    high: float
    facts: tuple[Fact, ...] = ()
    made_by: tuple[str, str] = ("", "")
    """Name and family of the operator that made it; empty for an input."""

    @once
    def moments(self) -> tuple[float, float]:
        """Mean and standard deviation of its elements."""
        mean, deviation = moments(self.sample)
        return float(mean), float(deviation)

    @once
    def slack(self) -> Sample:
        """How far off its elements grading sees no difference."""
        return slack(self.sample)

    @property
    def mean(self) -> float:
        """Mean of its elements."""
        return self.moments[0]

    @property
    def deviation(self) -> float:
        """Standard deviation of its elements."""
        return self.moments[1]

    @once
    def peak(self) -> float:
        """Greatest magnitude that it may hold."""
        return max(-self.low, self.high)

    @once
    def elements(self) -> int:
        """Elements of one item of the batch."""
        return math.prod(map(int, self.shape))

    @property
    def rank(self) -> int:
        """Dimensions, the batch among them."""
        return len(self.shape) + 1

    @property
    def feature(self) -> Size:
        """Size of the feature dimension."""
        return self.size(FEATURE[self.layout])

    def size(self, dim: int) -> Size:
        """Size of dimension *dim*, counted from the batch, which is 0."""
        return self.shape[dim - 1]

    def count(self, dims: Dims) -> int:
        """Elements along *dims*."""
        return math.prod(int(self.size(dim)) for dim in dims)


def others(value: Value, dim: int) -> Dims:
    """Every dimension but *dim*, the batch among them."""
    return tuple(d for d in range(value.rank) if d != dim)


def resized(shape: Shape, dim: int, size: int) -> Shape:
    """*shape* with dimension *dim* made *size*."""
    named = size if isinstance(size, Size) else Size(size)
    return (*shape[: dim - 1], named, *shape[dim:])


def broadcast(shape: Shape, other: Shape) -> Shape | None:
    """Shape of an elementwise operator of the two; None where they do not fit."""
    if len(shape) != len(other):
        return None
    pairs = list(zip(shape, other, strict=True))
    if any(a != b and ONE not in (a, b) for a, b in pairs):
        return None
    return tuple(b if a == ONE else a for a, b in pairs)


def spread_dims(small: Shape, wide: Shape) -> Dims:
    """Dimensions along which *small* is repeated to fill *wide*."""
    pairs = enumerate(zip(small, wide, strict=True), start=1)
    return tuple(dim for dim, (a, b) in pairs if a == ONE and b != ONE)


def constant_along(facts: tuple[Fact, ...], dim: int) -> tuple[Fact, ...]:
    """Those of *facts* that tell of something constant along *dim*."""
    return tuple(fact for fact in facts if fact.kind in WITHIN and dim in fact.dims)


def mapped_facts(facts: tuple[Fact, ...], places: dict[int, int]) -> tuple[Fact, ...]:
    """*facts* after dimensions moved: *places* maps old to new, and drops what it lacks.

    Only facts that hold for part of their dimensions survive losing one.
    """
    kept = (
        Fact(fact.kind, tuple(places[d] for d in fact.dims if d in places))
        for fact in facts
        if fact.kind in WITHIN or all(d in places for d in fact.dims)
    )
    return tuple(fact for fact in kept if fact.dims)
