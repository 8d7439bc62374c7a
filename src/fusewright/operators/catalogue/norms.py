"""Normalizations. Their weights start random, so that leaving them out shows."""

import math

from fusewright.operators.catalogue.elementwise import kept
from fusewright.operators.catalogue.noise import Noise
from fusewright.operators.catalogue.rule import Act, Applied, Cost, Dice, Member, Refused, Rule
from fusewright.operators.catalogue.sample import Sample, power
from fusewright.operators.catalogue.spans import Span, unit_power
from fusewright.operators.catalogue.value import (
    DIMENSIONED,
    FEATURE,
    PLACES,
    ROWS_LAST,
    Fact,
    Layout,
    Value,
)

LEAST = 16
"""Fewest elements worth normalizing over."""


def _last(name: str, settings: str = "", *, centres: bool, cost: Cost) -> Act:
    """Act of a norm over the last dimension: a module with weights, or a function without."""

    def act(_: Dice, x: Value) -> Applied | Refused:
        last = x.rank - 1
        width = x.size(last)
        if width < LEAST:
            return Refused("constant")
        spent = Cost(moved=cost.moved * x.elements, kernels=cost.kernels, slowness=cost.slowness)
        if name.startswith("F."):
            member = Member("normalized_size", width.text)
            return Span((last,), centres).applied(x, f"{name}({{0}}, ({{m0}},))", spent, (member,))
        span = Span((last,), centres, last)
        member = Member("norm", f"{name}({width.text}{settings})", span.initial())
        return span.applied(x, "{m0}({0})", spent, (member,))

    return act


def _groups(name: str) -> Act:
    """Act of a norm over groups of channels: a module with weights, or a function without."""

    def act(dice: Dice, x: Value) -> Applied | Refused:
        groups = dice.one_of((2, 4, 8, 16))
        if x.feature % groups or x.feature < 2 * groups or x.elements // groups < LEAST:
            return Refused("shape")
        cost, dims = Cost(moved=2 * x.elements, slowness=2.0), tuple(range(1, x.rank))
        if name.startswith("F."):
            return Span(dims).applied(x, f"{name}({{0}}, {groups})", cost)
        span = Span(dims, affine_dim=1)
        member = Member("norm", f"{name}({groups}, {x.feature.text})", span.initial())
        return span.applied(x, "{m0}({0})", cost, (member,))

    return act


def _batch(name: str) -> Act:
    """Act of a batch norm that uses the batch's own statistics in either mode."""

    def act(_: Dice, x: Value) -> Applied | Refused:
        span = Span((0, *range(2, x.rank)), affine_dim=1)
        build = f"{name}({x.feature.text}, track_running_stats=False)"
        cost = Cost(moved=3 * x.elements, params=2 * x.feature, slowness=1.3)
        return span.applied(x, "{m0}({0})", cost, (Member("norm", build, span.initial()),))

    return act


def _instance(name: str) -> Act:
    """Act of an instance norm: a module with weights, or a function without."""

    def act(_: Dice, x: Value) -> Applied | Refused:
        places = tuple(range(2, x.rank))
        if x.count(places) < LEAST:
            return Refused("constant")
        cost = Cost(moved=3 * x.elements, slowness=1.3)
        if name.startswith("F."):
            return Span(places).applied(x, f"{name}({{0}})", cost)
        span = Span(places, affine_dim=1)
        member = Member("norm", f"{name}({x.feature.text}, affine=True)", span.initial())
        return span.applied(x, "{m0}({0})", cost, (member,))

    return act


def _normalize(dice: Dice, x: Value) -> Applied | Refused:
    dim = FEATURE[x.layout] if dice.chance(0.7) else x.rank - 1
    n = int(x.size(dim))
    if n < LEAST:
        return Refused("constant")
    return Applied(
        call=f"F.normalize({{0}}, dim={dim})",
        shape=x.shape,
        low=-1.0 if x.low < 0 else 0.0,
        high=1.0 if x.high > 0 else 0.0,
        facts=(Fact("norm1", (dim,)), *kept(x.facts, frozenset({"perm"}))),
        blind=(Fact("scale", (dim,)), Fact("norm1", (dim,)), Fact("var1", (dim,))),
        feel=lambda _, sample: unit_power(sample) / math.sqrt(n),
        cost=Cost(moved=4 * x.elements, kernels=3),
    )


def _local_response(dice: Dice, x: Value) -> Applied | Refused:
    if x.feature < LEAST:
        return Refused("shape")
    size, alpha = dice.one_of((3, 5)), dice.one_of((1.0, 0.5))
    return Applied(
        call="{m0}({0})",
        members=(Member("norm", f"nn.LocalResponseNorm({size}, alpha={alpha}, beta=0.75)"),),
        shape=x.shape,
        low=min(x.low, 0.0),
        high=max(x.high, 0.0),
        feel=lambda noise, sample: _responded(noise, sample, size, alpha),
        cost=Cost(moved=14 * x.elements, kernels=7),
    )


def _responded(noise: Noise, sample: Sample, size: int, alpha: float) -> Sample:
    mean = power(sample)
    around = mean + mean * math.sqrt(2 / size) * noise.drawn()
    responded: Sample = sample / (1 + alpha * abs(around)) ** 0.75
    return responded


def _rule(name: str, act: Act, verb: str, layouts: tuple[Layout, ...], weight: float = 1.0) -> Rule:
    return Rule(name, "norm", act, weight=weight, layouts=layouts, verb=verb)


_LAYER = Cost(moved=2, slowness=1.5)
_RMS = Cost(moved=4, kernels=2)
NORMS: tuple[Rule, ...] = (
    _rule("nn.LayerNorm", _last("nn.LayerNorm", centres=True, cost=_LAYER), "layer-normalize",
          ROWS_LAST, 1.5),
    _rule("nn.RMSNorm", _last("nn.RMSNorm", ", eps=1e-6", centres=False, cost=_RMS),
          "RMS-normalize", ROWS_LAST, 1.3),
    _rule("F.layer_norm", _last("F.layer_norm", centres=True, cost=_LAYER), "layer-normalize",
          (*ROWS_LAST, "signal"), 0.7),
    _rule("F.rms_norm", _last("F.rms_norm", centres=False, cost=_RMS), "RMS-normalize",
          (*ROWS_LAST, "signal"), 0.7),
    _rule("nn.GroupNorm", _groups("nn.GroupNorm"), "group-normalize", PLACES, 1.3),
    _rule("F.group_norm", _groups("F.group_norm"), "group-normalize", PLACES, 0.6),
    _rule("nn.BatchNorm1d", _batch("nn.BatchNorm1d"), "batch-normalize", ("rows", "signal")),
    _rule("nn.BatchNorm2d", _batch("nn.BatchNorm2d"), "batch-normalize", ("image",)),
    _rule("nn.BatchNorm3d", _batch("nn.BatchNorm3d"), "batch-normalize", ("volume",)),
    *(_rule(f"nn.InstanceNorm{n}d", _instance(f"nn.InstanceNorm{n}d"), "instance-normalize",
            (PLACES[n - 1],), 0.8) for n in (1, 2, 3)),
    _rule("F.instance_norm", _instance("F.instance_norm"), "instance-normalize", PLACES, 0.5),
    _rule("F.normalize", _normalize, "normalize to unit length", DIMENSIONED),
    _rule("nn.LocalResponseNorm", _local_response, "normalize across channels",
          ("image", "signal"), 0.5),
)  # fmt: skip
"""Normalizations."""
