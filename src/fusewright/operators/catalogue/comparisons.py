"""Losses and distances, each without a reduction over the batch."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from fusewright.operators.catalogue.activations import softplus
from fusewright.operators.catalogue.noise import Noise
from fusewright.operators.catalogue.rule import Applied, Cost, Dice, Refused, Rule
from fusewright.operators.catalogue.sample import Sample, affine, mapped, moments, power
from fusewright.operators.catalogue.size import Size
from fusewright.operators.catalogue.value import (
    DIMENSIONED,
    FEATURE,
    Fact,
    Layout,
    Shape,
    Value,
    resized,
)

LARGEST_TABLE = 2048
"""Longest side of a table of distances."""


@dataclass(frozen=True)
class Penalty:
    """What a loss makes of a prediction and its target."""

    at: Callable[[float, float], float]
    arguments: str = "reduction='none'"
    accepts: Callable[[Value, Value], bool] = lambda _, __: True
    passes: int = 3


def loss(name: str, made: Penalty, verb: str, weight: float = 1.0) -> Rule:
    """Make the rule of a loss that is kept for each element."""

    def act(_: Dice, x: Value, y: Value) -> Applied | Refused:
        if x is y or x.shape != y.shape:
            return Refused("shape")
        if not made.accepts(x, y):
            return Refused("domain")
        symmetric = made.accepts(y, x)
        return Applied(
            call=f"{name}({{0}}, {{1}}, {made.arguments})",
            shape=x.shape,
            low=0.0 if symmetric else None,
            high=max(made.at(a, b) for a in (x.low, x.high) for b in (y.low, y.high)),
            feel=lambda _, a, b: mapped(made.at, a, b),
            cost=Cost(moved=made.passes * x.elements),
        )

    return Rule(name, "loss", act, 2, weight=weight, layouts=DIMENSIONED, noun="error", verb=verb)


def _squared(a: float, b: float) -> float:
    return (a - b) ** 2


def _huber(delta: float) -> Callable[[float, float], float]:
    def at(a: float, b: float) -> float:
        gap = abs(a - b)
        return 0.5 * gap * gap if gap < delta else delta * (gap - 0.5 * delta)

    return at


def _smooth(a: float, b: float) -> float:
    gap = abs(a - b)
    return 0.5 * gap * gap if gap < 1 else gap - 0.5


def _divergence(a: float, b: float) -> float:
    return b * (math.log(b) - a) if b > 0 else 0.0


def _is_log_probability(x: Value, y: Value) -> bool:
    return any(f.kind == "lse0" for f in x.facts) and any(f.kind == "sum1" for f in y.facts)


def _is_probability(_: Value, y: Value) -> bool:
    return y.low >= 0 and y.high <= 1


def _binary(a: float, b: float) -> float:
    return softplus(a) - a * b


def _poisson(a: float, b: float) -> float:
    return math.exp(min(a, 80.0)) - b * a


def _calm(x: Value, y: Value) -> bool:
    return y.low >= 0 and moments(x.sample)[1] < 2  # noqa: PLR2004 -- it exponentiates x


LOSSES: tuple[Rule, ...] = (
    loss("F.mse_loss", Penalty(_squared), "take squared errors against {1}"),
    loss("F.l1_loss", Penalty(lambda a, b: abs(a - b), passes=5), "take absolute errors against {1}"),
    loss("F.smooth_l1_loss", Penalty(_smooth), "take a smooth error against {1}"),
    loss("F.huber_loss", Penalty(_huber(0.5), "reduction='none', delta=0.5"), "take a Huber loss against {1}"),
    loss("F.kl_div", Penalty(_divergence, accepts=_is_log_probability, passes=10),
         "take a divergence against {1}", 4.0),
    loss("F.binary_cross_entropy_with_logits",
         Penalty(_binary, accepts=_is_probability, passes=12), "take a cross-entropy against {1}", 3.0),
    loss("F.poisson_nll_loss", Penalty(_poisson, accepts=_calm, passes=8),
         "take a Poisson loss against {1}", 2.0),
)  # fmt: skip
"""Losses."""


def _cosine(dice: Dice, x: Value, y: Value) -> Applied | Refused:
    if x is y or x.shape != y.shape:
        return Refused("shape")
    dim = FEATURE[x.layout] if dice.chance(0.7) else x.rank - 1
    n = int(x.size(dim))
    if n < 16:  # noqa: PLR2004 -- fewer give no angle worth the name
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
    left, right = math.sqrt(power(a)) or 1.0, math.sqrt(power(b)) or 1.0
    cosine = math.fsum(mapped(lambda p, q: p * q, a, b)) / len(a) / (left * right)

    def influence(p: float, q: float) -> float:
        """How far one pair of elements pulls the cosine, by the delta method."""
        u, v = p / left, q / right
        return u * v - cosine * (u * u + v * v) / 2

    deviation = moments(mapped(influence, a, b))[1]
    return affine(noise.drawn(4, (0, 1)), cosine, deviation / math.sqrt(n))


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
    if n < 16:  # noqa: PLR2004 -- fewer give no distance worth the name
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


def _distances(noise: Noise, a: Sample, b: Sample, n: int) -> Sample:
    squares = mapped(_squared, a, b)
    mean, deviation = moments(squares)
    sums = affine(noise.drawn(4, (0, 1)), n * mean, math.sqrt(n) * deviation)
    return tuple(math.sqrt(max(x, 0.0)) for x in sums)


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
    length: Size = dice.size("context_len", x.shape[0])
    return x.layout, resized(x.shape, 1, length)


def _triplet(_: Dice, x: Value, y: Value, z: Value) -> Applied | Refused:
    if not x.shape == y.shape == z.shape:
        return Refused("shape")
    if len({id(x), id(y), id(z)}) < 3:  # noqa: PLR2004
        return Refused("shape")
    n = int(x.shape[-1])
    margin = 1.0

    def feel(noise: Noise, a: Sample, b: Sample, c: Sample) -> Sample:
        near = _distances(noise, a, b, n)
        far = _distances(Noise(noise.place + 1, noise.now, noise.before), a, c, n)
        return mapped(lambda p, q: max(p - q + margin, 0.0), near, far)

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
    Rule("F.cosine_similarity", "distance", _cosine, 2, layouts=DIMENSIONED, verb="compare with {1} by cosine",
         noun="similarity"),
    Rule("F.pairwise_distance", "distance", _pairwise, 2, layouts=DIMENSIONED, verb="measure distances to {1}",
         noun="distance"),
    Rule("torch.cdist", "distance", _cdist, 2, layouts=("tokens",), verb="measure all distances to {1}", noun="distances",
         partner=_other_length),
    Rule("F.triplet_margin_loss", "loss", _triplet, 3, layouts=("rows", "tokens"), verb="take a triplet loss", noun="error"),
)  # fmt: skip
"""Distances."""
