"""Scaled dot-product attention, over one or several heads."""

import math

from fusewright.operators.catalogue.noise import Noise
from fusewright.operators.catalogue.products import DOMINANT, likeness
from fusewright.operators.catalogue.rule import Applied, Cost, Dice, Member, Refused, Rule
from fusewright.operators.catalogue.sample import Sample, moments
from fusewright.operators.catalogue.value import Fact, Layout, Shape, Value

LONGEST = 4096
"""Longest sequence worth attending to."""
VISIBLE = 0.01
"""Least deviation between queries: ten times the tolerance."""
SHARPEST = 4.0
"""Greatest variance of the scores: beyond it one position takes all."""


def attended(noise: Noise, q: Sample, k: Sample, v: Sample, length: int) -> Sample:
    """Mean of *length* values, weighed by a softmax of scaled products."""
    mean, deviation = moments(v)
    variance = min(score_variance(q, k), SHARPEST)
    plain = deviation / math.sqrt(length)
    weighed = deviation * math.sqrt(math.expm1(variance) / length)
    values, scores = noise.drawn(4, (2,)), noise.drawn(5, (0, 1, 2))
    return tuple(mean + plain * a + weighed * b for a, b in zip(values, scores, strict=True))


def _sharpness(values: Sample, variance: float, length: int) -> float:
    """Deviation of the result from one query to another; a flat softmax gives all the same."""
    return moments(values)[1] * math.sqrt(math.expm1(variance) / length)


def score_variance(q: Sample, k: Sample) -> float:
    """Variance of scaled products along the keys of one query."""
    mean, deviation = moments(q)
    return (mean * mean + deviation * deviation) * moments(k)[1] ** 2


def _attention(dice: Dice, q: Value, k: Value, v: Value) -> Applied | Refused:
    if len({q.rank, k.rank, v.rank}) > 1:
        return Refused("shape")
    if q.shape[:-2] != k.shape[:-2] or k.shape != v.shape or q.shape[-1] != k.shape[-1]:
        return Refused("shape")
    length, width = int(k.shape[-2]), int(q.shape[-1])
    if not 16 <= length <= LONGEST or k is v or k is q:  # noqa: PLR2004
        return Refused("shape")
    if score_variance(q.sample, k.sample) > SHARPEST:
        return Refused("range")
    # Positions that match themselves best attend to nothing else.
    if likeness(q.sample, k.sample) * math.sqrt(width) > DOMINANT:
        return Refused("dead")
    if _sharpness(v.sample, score_variance(q.sample, k.sample), length) < VISIBLE:
        return Refused("constant")
    causal = q.shape == k.shape and dice.chance(0.3)
    heads = math.prod(map(int, q.shape[:-2]))
    return Applied(
        call="F.scaled_dot_product_attention({0}, {1}, {2}"
        f"{', is_causal=True' if causal else ''})",
        shape=q.shape,
        low=v.low,
        high=v.high,
        blind_others=((1, Fact("shift", (k.rank - 2,))),),
        feel=lambda noise, a, b, c: attended(noise, a, b, c, length),
        cost=Cost(
            moved=2 * q.elements + k.elements + v.elements,
            flops=4 * heads * int(q.shape[-2]) * length * width,
            unit="attention",
        ),
    )


def _self_attention(dice: Dice, x: Value) -> Applied | Refused:
    heads = dice.one_of((2, 4, 8))
    if x.feature % heads or not 16 <= x.shape[0] <= LONGEST:  # noqa: PLR2004
        return Refused("shape")
    length, width = int(x.shape[0]), int(x.feature)
    build = f"nn.MultiheadAttention({x.feature.text}, {heads}, bias=False, batch_first=True)"
    half = tuple(element / math.sqrt(2) for element in x.sample)
    variance = score_variance(half, half)
    if variance > SHARPEST:
        return Refused("range")
    if _sharpness(half, variance, length) < VISIBLE:
        return Refused("constant")
    return Applied(
        call="{m0}({0}, {0}, {0}, need_weights=False)[0]",
        members=(Member("attention", build),),
        shape=x.shape,
        low=-2 * x.peak,
        high=2 * x.peak,
        feel=lambda noise, s: _projected_attention(noise, s, length),
        cost=Cost(
            moved=10 * x.elements,
            flops=2 * length * width * (4 * width + 2 * length),
            params=4 * width * width,
            kernels=5,
        ),
    )


def _projected_attention(noise: Noise, sample: Sample, length: int) -> Sample:
    # Xavier weights over the packed projections halve the variance, Kaiming's third it.
    half = tuple(x / math.sqrt(2) for x in sample)
    inner = Noise(noise.place, (half,) * 3, noise.before and (noise.before[0],) * 3)
    return tuple(x / math.sqrt(3) for x in attended(inner, half, half, half, length))


def _sequence(_: Dice, x: Value) -> tuple[Layout, Shape]:
    """Another sequence with the same features."""
    return x.layout, x.shape


ATTENTIONS: tuple[Rule, ...] = (
    Rule("F.scaled_dot_product_attention", "attention", _attention, 3,
         layouts=("tokens", "heads"), noun="attended", verb="attend to {1}", partner=_sequence),
    Rule("nn.MultiheadAttention", "attention", _self_attention, weight=0.7,
         layouts=("tokens",), noun="attended", verb="attend to itself"),
)  # fmt: skip
"""Attention."""
