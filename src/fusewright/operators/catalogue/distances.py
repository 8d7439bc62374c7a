"""Distances and similarities of two tensors."""

import math

import numpy as np

from fusewright.operators.catalogue.losses import squared
from fusewright.operators.catalogue.noise import Noise
from fusewright.operators.catalogue.rule import Applied, Cost, Dice, Refused, Rule
from fusewright.operators.catalogue.sample import (
    Sample,
    average,
    moments,
    power,
)
from fusewright.operators.catalogue.value import (
    DIMENSIONED,
    FEATURE,
    Fact,
    Layout,
    Shape,
    Value,
    resized,
)

LEAST = 16
"""Fewest elements that give a distance worth the name."""
LARGEST_TABLE = 2048
"""Longest side of a table of distances."""
CHANCE = 0.3
"""Correlation that two samples of independent elements may show."""
MARGIN = 1.0
"""Margin of the triplet loss, torch's own."""


def _cosine(dice: Dice, x: Value, y: Value) -> Applied | Refused:
    if x is y or x.shape != y.shape:
        return Refused("shape")
    dim = FEATURE[x.layout] if dice.chance(0.7) else x.rank - 1
    n = int(x.size(dim))
    if n < LEAST:
        return Refused("constant")
    if _reordered_alike(x, y, dim):
        return Refused("dead")
    left = tuple(size for d, size in enumerate(x.shape, start=1) if d != dim)
    scale = Fact("scale", (dim,))
    return Applied(
        call=f"F.cosine_similarity({{0}}, {{1}}, dim={dim})",
        shape=left,
        layout=_remaining(x, dim),
        low=-1.001,
        high=1.001,
        blind=(scale,),
        blind_others=((1, scale),),
        feel=lambda noise, a, b: _cosines(noise, a, b, n),
        cost=Cost(moved=11 * x.elements, kernels=8),
    )


def _cosines(noise: Noise, a: Sample, b: Sample, n: int) -> Sample:
    u, v = (x / np.sqrt(np.maximum(power(x), 1e-60)) for x in (a, b))
    cosine = average(u * v)
    # How far each pair of elements pulls the cosine, by the delta method.
    influence = u * v - cosine * (u * u + v * v) / 2
    return cosine + moments(influence)[1] / math.sqrt(n) * noise.drawn(4, (0, 1))


def _reordered_alike(x: Value, y: Value, dim: int) -> bool:
    """Whether both were reordered along *dim* in the same way, which a sum does not see."""
    return any(f.kind == "perm" and dim in f.dims and f in y.facts for f in x.facts)


def _remaining(x: Value, dim: int) -> Layout:
    by_rank: dict[int, Layout] = {0: "scalars", 1: "rows", 3: "image"}
    return by_rank.get(x.rank - 2, "tokens" if FEATURE[x.layout] == dim else "signal")


def _pairwise(_: Dice, x: Value, y: Value) -> Applied | Refused:
    if x is y or x.shape != y.shape:
        return Refused("shape")
    last, n = x.rank - 1, int(x.size(x.rank - 1))
    if n < LEAST:
        return Refused("constant")
    if _reordered_alike(x, y, last):
        return Refused("dead")
    return Applied(
        call="F.pairwise_distance({0}, {1})",
        shape=x.shape[:-1],
        layout=_remaining(x, last),
        low=0.0,
        high=math.sqrt(n) * (x.peak + y.peak),
        feel=lambda noise, a, b: _distances(noise, a, b, n),
        cost=Cost(moved=6 * x.elements, kernels=3),
    )


def _distances(noise: Noise, a: Sample, b: Sample, n: int, other: int = 1) -> Sample:
    """Distances over *n* elements between the first operand and the one numbered *other*."""
    mean, deviation = moments(squared(a, b))
    (left, spread), (right, width) = moments(a), moments(b)
    apart = squared(left, right) + spread * spread + width * width
    covariance = average(a * b) - left * right
    mean = np.where(abs(covariance) < CHANCE * spread * width, apart, mean)
    sums = n * mean + math.sqrt(n) * deviation * noise.drawn(3 + other, (0, other))
    return np.sqrt(np.maximum(sums, 0.0))


def _cdist(_: Dice, x: Value, y: Value) -> Applied | Refused:
    if x is y or y.layout != "tokens" or x.shape[1] != y.shape[1]:
        return Refused("shape")
    if max(int(x.shape[0]), int(y.shape[0])) > LARGEST_TABLE:
        return Refused("shape")
    n, table = int(x.shape[1]), int(x.shape[0]) * int(y.shape[0])
    return Applied(
        call="torch.cdist({0}, {1})",
        shape=(x.shape[0], y.shape[0]),
        low=0.0,
        feel=lambda noise, a, b: _distances(noise, a, b, n),
        cost=Cost(moved=3 * (x.elements + y.elements) + 2 * table, flops=2 * n * table, kernels=6),
    )


def _other_length(dice: Dice, x: Value) -> tuple[Layout, Shape]:
    length = dice.size("context_len", x.shape[0])
    return x.layout, resized(x.shape, 1, length)


def _triplet(_: Dice, x: Value, y: Value, z: Value) -> Applied | Refused:
    if not x.shape == y.shape == z.shape:
        return Refused("shape")
    if x is y or y is z or x is z:
        return Refused("shape")
    n = int(x.shape[-1])

    def feel(noise: Noise, a: Sample, b: Sample, c: Sample) -> Sample:
        near, far = _distances(noise, a, b, n), _distances(noise, a, c, n, other=2)
        return np.maximum(near - far + MARGIN, 0.0)

    return Applied(
        call="F.triplet_margin_loss({0}, {1}, {2}, reduction='none')",
        shape=x.shape[:-1],
        layout=_remaining(x, x.rank - 1),
        low=0.0,
        high=math.sqrt(n) * (x.peak + z.peak + y.peak),
        feel=feel,
        cost=Cost(moved=13 * x.elements, kernels=8),
    )


DISTANCES: tuple[Rule, ...] = (
    Rule("F.cosine_similarity", "distance", _cosine, 2, layouts=DIMENSIONED, noun="similarity",
         verb="compare with {1} by cosine"),
    Rule("F.pairwise_distance", "distance", _pairwise, 2, layouts=DIMENSIONED, noun="distance",
         verb="measure distances to {1}"),
    Rule("torch.cdist", "distance", _cdist, 2, layouts=("tokens",), noun="distances",
         verb="measure all distances to {1}", partner=_other_length),
    Rule("F.triplet_margin_loss", "loss", _triplet, 3, layouts=("rows", "tokens"), noun="error",
         verb="take a triplet loss"),
)  # fmt: skip
"""Distances."""
