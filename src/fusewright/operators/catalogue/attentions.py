"""Scaled dot-product attention, over one or several heads."""

import math

import numpy as np

from fusewright.operators.catalogue.noise import Noise
from fusewright.operators.catalogue.products import DOMINANT, likeness
from fusewright.operators.catalogue.rule import Applied, Cost, Dice, Member, Refused, Rule
from fusewright.operators.catalogue.sample import Moment, Sample, moments
from fusewright.operators.catalogue.value import Fact, Layout, Shape, Value

SHORTEST, LONGEST = 16, 4096
"""Lengths of sequences worth attending to."""
VISIBLE = 0.01
"""Least deviation between queries: ten times the tolerance."""
SHARPEST = 4.0
"""Greatest variance of the scores: beyond it one position takes all."""


def attended(noise: Noise, q: Sample, k: Sample, v: Sample, length: int) -> Sample:
    """Mean of *length* values, weighed by a softmax of scaled products."""
    mean, deviation = moments(v)
    variance = np.minimum(score_variance(q, k), SHARPEST)
    plain = noise.drawn(4, (2,)) + np.sqrt(np.expm1(variance)) * noise.drawn(5, (0, 1, 2))
    return mean + deviation / math.sqrt(length) * plain


def _flat(values: Sample, variance: float, length: int) -> Refused | None:
    """Refuse scores that pick one position alone, or that tell no query from another."""
    if variance > SHARPEST:
        return Refused("range")
    between_queries = float(moments(values)[1]) * math.sqrt(math.expm1(variance) / length)
    return Refused("constant") if between_queries < VISIBLE else None


def score_variance(q: Sample, k: Sample) -> Moment:
    """Variance of scaled products along the keys of one query."""
    mean, deviation = moments(q)
    return (mean * mean + deviation * deviation) * moments(k)[1] ** 2


def _attention(dice: Dice, q: Value, k: Value, v: Value) -> Applied | Refused:
    if not _fit(q, k, v):
        return Refused("shape")
    length, width = int(k.shape[-2]), int(q.shape[-1])
    refused = _flat(v.sample, float(score_variance(q.sample, k.sample)), length)
    if refused:
        return refused
    # Positions that match themselves best attend to nothing else.
    if likeness(q.sample, k.sample) * math.sqrt(width) > DOMINANT:
        return Refused("dead")
    causal = ", is_causal=True" if q.shape == k.shape and dice.chance(0.3) else ""
    heads, pairs = math.prod(map(int, q.shape[:-2])), int(q.shape[-2]) * length
    # Only with a dimension for heads is there a kernel that never writes the scores.
    scores = 4 * pairs if q.layout == "tokens" else 0
    return Applied(
        call=f"F.scaled_dot_product_attention({{0}}, {{1}}, {{2}}{causal})",
        shape=q.shape,
        low=v.low,
        high=v.high,
        blind_others=((1, Fact("shift", (k.rank - 2,))),),
        feel=lambda noise, a, b, c: attended(noise, a, b, c, length),
        cost=Cost(
            moved=2 * q.elements + k.elements + v.elements + scores,
            flops=4 * heads * pairs * width,
            unit="attention",
        ),
    )


def _fit(q: Value, k: Value, v: Value) -> bool:
    ranks = q.rank == k.rank == v.rank
    shapes = q.shape[:-2] == k.shape[:-2] and k.shape == v.shape and q.shape[-1] == k.shape[-1]
    apart = k is not v and k is not q
    return ranks and shapes and apart and SHORTEST <= k.shape[-2] <= LONGEST


def _self_attention(dice: Dice, x: Value) -> Applied | Refused:
    heads = dice.one_of((2, 4, 8))
    if x.feature % heads or not SHORTEST <= x.shape[0] <= LONGEST:
        return Refused("shape")
    length, width = int(x.shape[0]), int(x.feature)
    build = f"nn.MultiheadAttention({x.feature.text}, {heads}, bias=False, batch_first=True)"
    half = x.sample / math.sqrt(2)
    refused = _flat(half, float(score_variance(half, half)), length)
    if refused:
        return refused
    return Applied(
        call="{m0}({0}, {0}, {0}, need_weights=False)[0]",
        members=(Member("attention", build),),
        shape=x.shape,
        low=-2 * x.peak,
        high=2 * x.peak,
        feel=lambda noise, s: _projected_attention(noise, s, length),
        cost=Cost(
            moved=20 * x.elements,
            flops=2 * length * width * (4 * width + 2 * length),
            params=4 * width * width,
            kernels=5,
        ),
    )


def _projected_attention(noise: Noise, sample: Sample, length: int) -> Sample:
    # Xavier weights over the packed projections halve the variance, Kaiming's third it.
    half = sample / math.sqrt(2)
    inner = Noise(noise.place, (half,) * 3, noise.before and (noise.before[0],) * 3)
    return attended(inner, half, half, half, length) / math.sqrt(3)


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
