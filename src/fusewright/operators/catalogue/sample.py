"""A hundred and twenty-seven elements that stand for all of a tensor's.

Every rule says what it does to a few elements in plain floats. Elements of two tensors at the same
index belong together, so that `x * sigmoid(x)` or `x - relu(x)` come out as they would; what a
contraction makes of thousands of elements follows from the central limit. What leaves these
elements where they were is a dead operator, and needs no rule of its own.
"""

import math
import random
from collections.abc import Callable
from functools import lru_cache
from statistics import NormalDist

Sample = tuple[float, ...]
"""Elements of one tensor."""

COUNT = 127
"""Elements of a sample: enough to see 1 % of a tensor move."""
TAIL = 12
"""Elements of a sample that count as its tail."""
MOVED = 0.05
"""Least share of elements that an operator must move; grading asks for 0.01, the rest is margin."""
TOLERANCE = 1e-3
"""Absolute and relative difference that grading forgives in float32 (KernelBench-Verified)."""

_GRID = [NormalDist().inv_cdf((i + 0.5) / COUNT) for i in range(COUNT)]
_SCALE = math.sqrt(COUNT / math.fsum(z * z for z in _GRID))
GRID: Sample = tuple(_SCALE * z for z in _GRID)
"""Quantiles of the standard normal, of unit variance."""


@lru_cache(maxsize=1024)
def column(index: int) -> Sample:
    """Standard normal elements that are independent of every other column's."""
    shuffled = list(GRID)
    random.Random(index).shuffle(shuffled)  # noqa: S311 -- a fixed table, no secret
    return tuple(shuffled)


def mapped(function: Callable[..., float], *samples: Sample) -> Sample:
    """Apply *function* element by element."""
    return tuple(map(function, *samples))


def moments(sample: Sample) -> tuple[float, float]:
    """Mean and standard deviation."""
    mean = math.fsum(sample) / COUNT
    return mean, math.sqrt(math.fsum((x - mean) ** 2 for x in sample) / COUNT)


def power(sample: Sample) -> float:
    """Mean square."""
    return math.fsum(x * x for x in sample) / COUNT


def affine(sample: Sample, offset: float, gain: float) -> Sample:
    """`offset + gain * x` for each element."""
    return tuple(offset + gain * x for x in sample)


def rolled(sample: Sample, places: int = 41) -> Sample:
    """The same elements at other places: another draw of the same distribution."""
    return sample[places:] + sample[:places]


def moved(sample: Sample, other: Sample, tolerance: float = TOLERANCE) -> float:
    """Share of elements that differ beyond *tolerance*, absolute and relative."""
    return (
        sum(abs(a - b) > tolerance * (1 + abs(b)) for a, b in zip(sample, other, strict=True))
        / COUNT
    )


def correlation(sample: Sample, other: Sample) -> float:
    """Pearson's correlation; 0 where either sample is constant."""
    (mean, deviation), (other_mean, other_deviation) = moments(sample), moments(other)
    if deviation * other_deviation == 0:
        return 0.0
    products = ((a - mean) * (b - other_mean) for a, b in zip(sample, other, strict=True))
    return math.fsum(products) / COUNT / (deviation * other_deviation)


def blended(sample: Sample, fresh: Sample, kept: float) -> Sample:
    """Unit-variance elements that correlate with *sample* by *kept*."""
    rest = math.sqrt(max(0.0, 1 - kept * kept))
    return tuple(kept * a + rest * b for a, b in zip(sample, fresh, strict=True))


def upper(sample: Sample) -> Sample:
    """The upper end of a sample, all else pressed flat: what a maximum of many sees."""
    edge = sorted(sample)[-TAIL]
    return tuple(max(x, edge) for x in sample)


def largest(sample: Sample, n: int, noise: Sample) -> Sample:
    """Greatest of *n* elements, for each element of *noise*.

    Within the sample by interpolation between order statistics, beyond it along its upper tail.
    """
    ordered = sorted(sample)
    centre, width = _extreme_score(n)
    return tuple(quantile(ordered, centre + width * z) for z in noise)


def quantile(ordered: list[float], score: float) -> float:
    """Element of *ordered* at the normal *score*, extrapolated along the tails."""
    if score >= GRID[-1]:
        return ordered[-1] + _slope(ordered, -1, -1) * (score - GRID[-1])
    if score <= GRID[0]:
        return ordered[0] + _slope(ordered, 0, 1) * (score - GRID[0])
    place = NormalDist().cdf(score / _SCALE) * COUNT - 0.5
    below = min(max(int(place), 0), COUNT - 2)
    return ordered[below] + (place - below) * (ordered[below + 1] - ordered[below])


def _slope(ordered: list[float], end: int, inward: int) -> float:
    """Slope of a tail; the flatter of two views, since a tail may end in a wall."""
    return min(
        abs(ordered[end + inward * steps] - ordered[end])
        / abs(GRID[end + inward * steps] - GRID[end])
        for steps in (TAIL // 4, TAIL)
    )


@lru_cache(maxsize=1024)
def _extreme_score(n: int) -> tuple[float, float]:
    """Mean and deviation of the normal score of the greatest of *n*."""
    normal = NormalDist()
    uniforms = [(i + 0.5) / COUNT for i in range(COUNT)]
    scores = tuple(-normal.inv_cdf(-math.expm1(math.log(u) / n)) for u in uniforms)
    return moments(scores)
