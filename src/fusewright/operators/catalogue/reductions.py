"""Reductions over one or more dimensions; never over the batch."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fusewright.operators.catalogue.noise import Noise
from fusewright.operators.catalogue.rule import Applied, Cost, Dice, Refused, Rule
from fusewright.operators.catalogue.sample import COUNT, Sample, largest, moments, power, upper
from fusewright.operators.catalogue.sample import greatest as top_of
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
    return mean + deviation / math.sqrt(n) * noise.drawn()


def summed(noise: Noise, sample: Sample, n: int) -> Sample:
    """Sums of *n* elements each."""
    return n * averaged(noise, sample, n)


def greatest(noise: Noise, sample: Sample, n: int) -> Sample:
    """Greatest of *n* elements each."""
    return largest(sample, n, noise.drawn(view=upper))


def least(noise: Noise, sample: Sample, n: int) -> Sample:
    """Least of *n* elements each."""
    return -greatest(noise, -sample, n)


def log_summed(noise: Noise, sample: Sample, n: int) -> Sample:
    """Log of the sum of the exponentials of *n* elements each."""
    top = top_of(sample)
    sums = summed(noise, np.exp(sample - top), n)
    return top + np.log(np.maximum(sums, 1e-30))


def deviations(noise: Noise, sample: Sample, n: int) -> Sample:
    """Standard deviation of *n* elements each."""
    mean, deviation = moments(sample)
    fourth = power((sample - mean) ** 2)
    flatness = fourth / np.maximum(deviation, 1e-30) ** 4
    spread = np.sqrt(np.maximum(flatness - 1, 0.0) / (4 * n))
    found: Sample = deviation * abs(1 + spread * noise.drawn())
    return found


def _variances(noise: Noise, sample: Sample, n: int) -> Sample:
    spread = deviations(noise, sample, n)
    return spread * spread


def norms(noise: Noise, sample: Sample, n: int) -> Sample:
    """Euclidean norm of *n* elements each."""
    return np.sqrt(np.maximum(summed(noise, sample * sample, n), 0.0))


def _middle(noise: Noise, sample: Sample, n: int) -> Sample:
    centre = np.sort(sample, -1)[..., COUNT // 2 : COUNT // 2 + 1]
    # The median of n normal elements deviates by sqrt(pi / 2) as much as their mean.
    return centre + moments(sample)[1] * math.sqrt(math.pi / (2 * n)) * noise.drawn()


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
