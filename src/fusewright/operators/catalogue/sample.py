"""A hundred and twenty-seven elements that stand for all of a tensor's.

Every rule says what it does to a few elements, as arrays. Elements of two tensors at the same index
belong together, so that `x * sigmoid(x)` or `x - relu(x)` come out as they would; what a
contraction makes of thousands of elements follows from the central limit. What leaves these
elements where they were is a dead operator, and needs no rule of its own.

A sample may have several rows, which are as many ways that the tensor could have come out: all that
is here works along the last dimension and keeps it.
"""

import math
import random
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Sample = NDArray[np.float64]
"""Elements of one tensor, `[127]`, or of several ways it could be, `[rows, 127]`."""
Moment = NDArray[np.float64]
"""A number, or one for each row, `[rows, 1]`."""

COUNT = 127
"""Elements of a sample: enough to see 1 % of a tensor move."""
TAIL = 12
"""Elements of a sample that count as its tail."""
MOVED = 0.05
"""Least share of elements that an operator must move; grading asks for 0.01, the rest is margin."""
TOLERANCE = 1e-3
"""Absolute and relative difference that grading forgives in float32 (KernelBench-Verified)."""


def _fixed(values: list[float]) -> Sample:
    """An array that nobody may write to: it is shared."""
    array = np.array(values)
    array.flags.writeable = False
    return array


_SCORES = [NormalDist().inv_cdf((i + 0.5) / COUNT) for i in range(COUNT)]
_SCALE = math.sqrt(COUNT / math.fsum(z * z for z in _SCORES))
GRID: Sample = _fixed([_SCALE * z for z in _SCORES])
"""Quantiles of the standard normal, of unit variance."""
_LEAST, _ROUNDED = 1e-300, 1 - 1e-13
_SHARES = np.full(COUNT, 1 / COUNT)
_STEPS = np.diff(GRID)
_FLAT_TAIL, _LONG_TAIL = (float(abs(GRID[-1] - GRID[-1 - n])) for n in (TAIL // 4, TAIL))


@lru_cache(maxsize=1024)
def column(index: int) -> Sample:
    """Standard normal elements that are independent of every other column's."""
    return _fixed([float(GRID[place]) for place in _places(index)])


@lru_cache(maxsize=1024)
def uniform_column(index: int) -> Sample:
    """Elements between 0 and 1 in the order of `column`."""
    return _fixed([NormalDist().cdf(float(GRID[place])) for place in _places(index)])


def _places(index: int) -> list[int]:
    places = list(range(COUNT))
    random.Random(index).shuffle(places)  # noqa: S311 -- a fixed table, no secret
    return places


def average(sample: Sample) -> Moment:
    """Mean of each row."""
    found: Moment = sample @ _SHARES
    return found if sample.ndim == 1 else found[:, None]


def power(sample: Sample) -> Moment:
    """Mean square of each row."""
    if sample.ndim == 1:
        return sample @ sample / COUNT
    found: Moment = (sample * sample) @ _SHARES
    return found[:, None]


def moments(sample: Sample) -> tuple[Moment, Moment]:
    """Mean and standard deviation of each row."""
    if sample.ndim == 1:
        return _row_moments(sample)
    mean = average(sample)
    # Less than this share is what rounding leaves of a constant.
    variance = power(sample) * _ROUNDED - mean * mean
    return mean, np.sqrt(np.maximum(variance, 0.0))


def _row_moments(sample: Sample) -> tuple[Moment, Moment]:
    mean = sample @ _SHARES
    variance = float(sample @ sample) / COUNT * _ROUNDED - float(mean) ** 2
    return mean, np.sqrt(max(variance, 0.0))


def greatest(sample: Sample) -> Moment:
    """Greatest element of each row."""
    found: Moment = np.maximum.reduce(sample, -1)
    return found if sample.ndim == 1 else found[:, None]


def rolled(sample: Sample, places: int = 41) -> Sample:
    """The same elements at other places: another draw of the same distribution."""
    return np.concatenate((sample[..., places:], sample[..., :places]), -1)


def slack(sample: Sample) -> Sample:
    """How far an element may be off *sample* before grading sees it, element by element."""
    return TOLERANCE + TOLERANCE * abs(sample)


def moved(sample: Sample, other: Sample, allowed: Sample | None = None) -> float:
    """Share of elements of one row that lie off *other* by more than *allowed*, or its slack."""
    limit = slack(other) if allowed is None else allowed
    return np.count_nonzero(abs(sample - other) > limit) / COUNT


def rows_moved(rows: Sample, other: Sample, allowed: Sample) -> Sample:
    """The same for each of *rows*; all of one that is not finite counts as moved."""
    # What is no number is not within any limit.
    within = np.count_nonzero(abs(rows - other) <= allowed, axis=-1)
    shares: Sample = 1 - within / COUNT
    return shares


def correlation(sample: Sample, other: Sample) -> Moment:
    """Pearson's correlation of one row with each of *other*'s; 0 where either is constant."""
    # Centred on one side is enough: the mean of the other meets a sum of zero.
    centred = sample - average(sample)
    covariance = other @ centred / COUNT
    scale = np.sqrt(centred @ centred / COUNT) * moments(other)[1]
    found = covariance if other.ndim == 1 else covariance[:, None]
    return np.where(scale > 0, found / np.maximum(scale, _LEAST), 0.0)


def blended(sample: Sample, fresh: Sample, kept: Moment) -> Sample:
    """Unit-variance elements that correlate with *sample* by *kept*."""
    rest: Moment = np.sqrt(np.maximum(0.0, 1 - kept * kept))
    return kept * sample + rest * fresh


def upper(sample: Sample) -> Sample:
    """The upper end of a sample, all else pressed flat: what a maximum of many sees."""
    return np.maximum(sample, np.sort(sample, -1)[..., -TAIL : -TAIL + 1])


def largest(sample: Sample, n: int, noise: Sample) -> Sample:
    """Greatest of *n* elements, for each element of *noise*.

    Within the sample by interpolation between order statistics, beyond it along its upper tail.
    """
    centre, width = _extreme_score(n)
    return quantile(np.sort(sample, -1), centre + width * noise)


def quantile(ordered: Sample, scores: Sample) -> Sample:
    """Elements of *ordered* at the normal *scores*, extrapolated along the tails."""
    inner = np.minimum(np.maximum(scores, GRID[0]), GRID[-1])
    below = np.minimum(np.maximum(np.searchsorted(GRID, inner) - 1, 0), COUNT - 2)
    share = (inner - GRID[below]) / _STEPS[below]
    low, high = _picked(ordered, below), _picked(ordered, below + 1)
    found: Sample = low + share * (high - low)
    beyond = scores - inner
    if not beyond.any():
        return found
    rise, fall = _slope(ordered, -1, -1), _slope(ordered, 0, 1)
    found += np.where(beyond > 0, rise, fall) * beyond
    return found


def _picked(ordered: Sample, places: NDArray[np.intp]) -> Sample:
    if ordered.ndim == 1:
        return ordered[places]
    if places.ndim == 1:
        return ordered[:, places]
    return np.take_along_axis(ordered, places, -1)


def _slope(ordered: Sample, end: int, inward: int) -> Sample:
    """Slope of a tail; the flatter of two views, since a tail may end in a wall."""
    edge = ordered[..., end]
    near = abs(ordered[..., end + inward * (TAIL // 4)] - edge) / _FLAT_TAIL
    far = abs(ordered[..., end + inward * TAIL] - edge) / _LONG_TAIL
    slope: Sample = np.minimum(near, far)[..., None]
    return slope


@lru_cache(maxsize=1024)
def _extreme_score(n: int) -> tuple[float, float]:
    """Mean and deviation of the normal score of the greatest of *n*."""
    normal = NormalDist()
    uniforms = [(i + 0.5) / COUNT for i in range(COUNT)]
    scores = np.array([-normal.inv_cdf(-math.expm1(math.log(u) / n)) for u in uniforms])
    mean, deviation = moments(scores)
    return float(mean), float(deviation)
