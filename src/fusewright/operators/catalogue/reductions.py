"""Reductions over one or more dimensions; never over the batch."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from fusewright.operators.catalogue.noise import Noise
from fusewright.operators.catalogue.rule import Applied, Cost, Dice, Refused, Rule
from fusewright.operators.catalogue.sample import Sample, affine, largest, moments, upper
from fusewright.operators.catalogue.size import ONE
from fusewright.operators.catalogue.value import (
    DIMENSIONED,
    FEATURE,
    WITHIN,
    Dims,
    Fact,
    Kind,
    Layout,
    Shape,
    Value,
    mapped_facts,
)

Feel = Callable[[Noise, Sample, int], Sample]
Bounds = Callable[[float, float, int], tuple[float, float]]

_BY_RANK: dict[int, Layout] = {0: "scalars", 1: "rows", 3: "image"}


@dataclass(frozen=True)
class Reduction:
    """What one reduction makes of *n* elements."""

    feel: Feel
    bounds: Bounds
    blind: tuple[Kind, ...]
    """Facts along the reduced dimensions that leave nothing to learn from the reduction."""
    several: bool = True
    """Whether it takes more than one dimension."""
    passes: int = 1
    """How often the operand is read."""
    slowness: float = 1.0
    """Time over that of a plain pass over the same bytes."""
    least: int = 4
    """Fewest elements worth reducing."""


def averaged(noise: Noise, sample: Sample, n: int) -> Sample:
    """Means of *n* elements each."""
    mean, deviation = moments(sample)
    return affine(noise.drawn(), mean, deviation / math.sqrt(n))


def summed(noise: Noise, sample: Sample, n: int) -> Sample:
    """Sums of *n* elements each."""
    return affine(averaged(noise, sample, n), 0.0, n)


def greatest(noise: Noise, sample: Sample, n: int) -> Sample:
    """Greatest of *n* elements each."""
    return largest(sample, n, noise.drawn(view=upper))


def least(noise: Noise, sample: Sample, n: int) -> Sample:
    """Least of *n* elements each."""
    return affine(greatest(noise, affine(sample, 0.0, -1.0), n), 0.0, -1.0)


def log_summed(noise: Noise, sample: Sample, n: int) -> Sample:
    """Log of the sum of the exponentials of *n* elements each."""
    top = max(sample)
    sums = summed(noise, tuple(math.exp(x - top) for x in sample), n)
    return tuple(top + math.log(max(x, 1e-30)) for x in sums)


def deviations(noise: Noise, sample: Sample, n: int) -> Sample:
    """Standard deviation of *n* elements each."""
    mean, deviation = moments(sample)
    if deviation == 0:
        return affine(sample, 0.0, 0.0)
    fourth = math.fsum((x - mean) ** 4 for x in sample) / len(sample)
    spread = math.sqrt(max(fourth / deviation**4 - 1, 0.0) / (4 * n))
    return tuple(deviation * abs(1 + spread * z) for z in noise.drawn())


def _variances(noise: Noise, sample: Sample, n: int) -> Sample:
    return tuple(x * x for x in deviations(noise, sample, n))


def norms(noise: Noise, sample: Sample, n: int) -> Sample:
    """Euclidean norm of *n* elements each."""
    squares = summed(noise, tuple(x * x for x in sample), n)
    return tuple(math.sqrt(max(x, 0.0)) for x in squares)


def _middle(noise: Noise, sample: Sample, n: int) -> Sample:
    centre = sorted(sample)[len(sample) // 2]
    # The median of n normal elements deviates by sqrt(pi / 2) as much as their mean.
    return affine(noise.drawn(), centre, moments(sample)[1] * math.sqrt(math.pi / (2 * n)))


def _same(low: float, high: float, _: int) -> tuple[float, float]:
    return low, high


def _times(low: float, high: float, n: int) -> tuple[float, float]:
    return low * n, high * n


def _log_times(low: float, high: float, n: int) -> tuple[float, float]:
    return low + math.log(n) - 1e-3, high + math.log(n) + 1e-3


def _deviation(low: float, high: float, _: int) -> tuple[float, float]:
    return 0.0, high - low


def _variance(low: float, high: float, _: int) -> tuple[float, float]:
    return 0.0, (high - low) ** 2


def _length(low: float, high: float, n: int) -> tuple[float, float]:
    return 0.0, max(abs(low), abs(high)) * math.sqrt(n)


def reduction_dims(dice: Dice, x: Value, *, several: bool) -> Dims:
    """Choose what to reduce: the features, or the positions, or now and then something else."""
    feature = FEATURE[x.layout]
    places = tuple(dim for dim in range(1, x.rank) if dim != feature)
    options: list[Dims] = [(feature,)]
    if len(places) == 1 or (places and several):
        options += [places, places]
    if len(places) > 1:
        options.append((x.rank - 1,))
    return dice.one_of(options)


def reduced(x: Value, dims: Dims, *, keep: bool) -> tuple[Shape, Layout, tuple[Fact, ...]]:
    """Shape, layout and facts that are left once *dims* are reduced."""
    inside = tuple(fact for fact in x.facts if fact.kind in WITHIN)
    left = [dim for dim in range(1, x.rank) if dim not in dims]
    if keep:
        shape = tuple(ONE if d in dims else size for d, size in enumerate(x.shape, start=1))
        return shape, x.layout, inside
    layout = _BY_RANK.get(len(left), "tokens" if FEATURE[x.layout] in dims else "signal")
    places = {0: 0} | {dim: place for place, dim in enumerate(left, start=1)}
    return tuple(x.size(dim) for dim in left), layout, mapped_facts(inside, places)


def spelled(dims: Dims) -> str:
    """Write *dims* as an argument."""
    return str(dims[0]) if len(dims) == 1 else str(dims)


def reduction(  # noqa: PLR0913 -- one row of a table
    name: str,
    made: Reduction,
    *,
    noun: str,
    verb: str,
    tail: str = "",
    weight: float = 1.0,
) -> Rule:
    """Make the rule of a reduction; *tail* picks the values where indices come along."""

    def act(dice: Dice, x: Value) -> Applied | Refused:
        dims = reduction_dims(dice, x, several=made.several)
        n = x.count(dims)
        if n < made.least:
            return Refused("constant")
        keep = dice.chance(0.6)
        shape, layout, facts = reduced(x, dims, keep=keep)
        low, high = made.bounds(x.low, x.high, n)
        return Applied(
            call=f"{name}({{0}}, dim={spelled(dims)}{', keepdim=True' if keep else ''}){tail}",
            shape=shape,
            layout=layout,
            low=low,
            high=high,
            facts=(*facts, *((Fact("extreme", dims),) if made.feel in (greatest, least) else ())),
            blind=tuple(Fact(kind, dims) for kind in made.blind),
            feel=lambda noise, sample: made.feel(noise, sample, n),
            cost=Cost(
                moved=made.passes * x.elements + x.elements // n,
                kernels=made.passes,
                slowness=made.slowness,
            ),
        )

    return Rule(name, "reduction", act, weight=weight, layouts=DIMENSIONED, noun=noun, verb=verb)


REDUCTIONS: tuple[Rule, ...] = (
    reduction("torch.sum", Reduction(summed, _times, ("sum1", "mean0", "perm")), noun="total",
              verb="sum"),
    reduction("torch.mean", Reduction(averaged, _same, ("sum1", "mean0", "perm")), noun="mean",
              verb="average"),
    reduction("torch.amax", Reduction(greatest, _same, ("perm",)), noun="peak",
              verb="take the maximum"),
    reduction("torch.amin", Reduction(least, _same, ("perm",)), noun="floor",
              verb="take the minimum"),
    reduction("torch.max", Reduction(greatest, _same, ("perm",), several=False), noun="peak",
              verb="take the maximum", tail=".values", weight=0.5),
    reduction("torch.min", Reduction(least, _same, ("perm",), several=False), noun="floor",
              verb="take the minimum", tail=".values", weight=0.5),
    reduction("torch.logsumexp", Reduction(log_summed, _log_times, ("lse0", "perm"), passes=3),
              noun="energy", verb="take a logsumexp"),
    reduction("torch.std", Reduction(deviations, _deviation, ("var1", "perm", "shift", "norm1"),
                                     slowness=3.0),
              noun="spread", verb="take the deviation", weight=0.8),
    reduction("torch.var", Reduction(_variances, _variance, ("var1", "perm", "shift", "norm1"),
                                     slowness=3.0),
              noun="spread", verb="take the variance", weight=0.7),
    reduction("torch.linalg.vector_norm",
              Reduction(norms, _length, ("var1", "norm1", "perm")), noun="length",
              verb="take the norm", weight=0.8),
    reduction("torch.median", Reduction(_middle, _same, ("perm",), several=False, least=16,
                                        slowness=20.0),
              noun="middle", verb="take the median", tail=".values", weight=0.4),
)  # fmt: skip
"""Reductions."""
