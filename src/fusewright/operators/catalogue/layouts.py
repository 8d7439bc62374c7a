"""Operators that move elements without computing any."""

import math

import numpy as np

from fusewright.operators.catalogue.elementwise import kept
from fusewright.operators.catalogue.reductions import reduction_dims
from fusewright.operators.catalogue.rule import Applied, Cost, Dice, Refused, Rule
from fusewright.operators.catalogue.sample import COUNT, Sample, rolled
from fusewright.operators.catalogue.value import (
    DIMENSIONED,
    FEATURE,
    PLACES,
    Dims,
    Fact,
    Kind,
    Layout,
    Shape,
    Value,
    mapped_facts,
    others,
    resized,
)

VIEWS = frozenset({"torch.transpose", "torch.flatten"})
"""Operators that move nothing: no source yields them as work, and none can be broken."""
LEAST_SHARE = 16
"""Parts of a concatenation of which each must be one at least."""
_STRIDE = np.arange(COUNT) * 37 % COUNT
_HALF = np.arange(COUNT) % 2
LARGEST_FLAT = 2**16
"""Most features worth flattening into one row."""


def _moved(x: Value, call: str, shape: Shape, *, passes: int = 2, **rest: object) -> Applied:
    return Applied(
        call=call,
        shape=shape,
        low=x.low,
        high=x.high,
        feel=lambda _, sample: rolled(sample, 23),
        cost=Cost(moved=passes * x.elements if passes else 0, kernels=min(passes, 1)),
        **rest,  # type: ignore[arg-type]
    )


def _transpose(_: Dice, x: Value) -> Applied | Refused:
    """Swap positions and features: a sequence becomes a signal, and back."""
    turned: dict[Layout, Layout] = {"tokens": "signal", "signal": "tokens"}
    if x.made_by[0] == "torch.transpose":
        return Refused("repeat")
    return _moved(
        x,
        "{0}.transpose(1, 2)",
        (x.shape[1], x.shape[0]),
        passes=0,
        layout=turned[x.layout],
        facts=mapped_facts(x.facts, {0: 0, 1: 2, 2: 1}),
    )


def _flatten_places(_: Dice, x: Value) -> Applied | Refused:
    """Unroll the positions of an image or volume into one dimension."""
    if math.prod(x.shape[1:]) < 16:  # noqa: PLR2004
        return Refused("shape")
    length = x.shape[1]
    for size in x.shape[2:]:
        length = length * size
    return _moved(
        x,
        "torch.flatten({0}, 2)",
        (x.feature, length),
        passes=0,
        layout="signal",
        facts=_unrolled(x),
    )


def _unrolled(x: Value) -> tuple[Fact, ...]:
    """Facts along all positions become ones along the one dimension that they are now."""
    places = set(range(2, x.rank))
    along = {0: 0, 1: 1, **dict.fromkeys(places, 2)}
    whole = (fact for fact in x.facts if places <= set(fact.dims))
    unrolled = tuple(
        Fact(fact.kind, tuple(dict.fromkeys(along[dim] for dim in fact.dims))) for fact in whole
    )
    others_of = tuple(fact for fact in x.facts if not places <= set(fact.dims))
    return unrolled + mapped_facts(others_of, {0: 0, 1: 1})


def _flatten(_: Dice, x: Value) -> Applied | Refused:
    """Unroll everything but the batch into one row."""
    if x.elements > LARGEST_FLAT:
        return Refused("shape")
    width = x.shape[0]
    for size in x.shape[1:]:
        width = width * size if size > 1 else width
    return _moved(x, "torch.flatten({0}, 1)", (width,), passes=0, layout="rows")


def _flip(dice: Dice, x: Value) -> Applied | Refused:
    dims = reduction_dims(dice, x, several=False)
    if x.count(dims) < 4:  # noqa: PLR2004
        return Refused("dead")
    return _permuted(x, f"torch.flip({{0}}, dims=({dims[0]},))", dims)


def _roll(dice: Dice, x: Value) -> Applied | Refused:
    dims, shift = reduction_dims(dice, x, several=False), dice.one_of((1, 2, 4))
    if x.count(dims) < 2 * shift:
        return Refused("dead")
    return _permuted(x, f"torch.roll({{0}}, shifts={shift}, dims={dims[0]})", dims)


def _permuted(x: Value, call: str, dims: Dims) -> Applied:
    fact = Fact("perm", dims)
    return _moved(x, call, x.shape, facts=(*kept(x.facts, _KEPT), fact), blind=(fact,))


_KEPT: frozenset[Kind] = frozenset({"sum1", "mean0", "var1", "norm1", "lse0"})


def _pixel_shuffle(_: Dice, x: Value) -> Applied | Refused:
    if x.feature % 4 or x.feature < 8:  # noqa: PLR2004
        return Refused("shape")
    return _moved(x, "F.pixel_shuffle({0}, 2)", (x.shape[0] // 4, 2 * x.shape[1], 2 * x.shape[2]))


def _pixel_unshuffle(_: Dice, x: Value) -> Applied | Refused:
    if x.shape[1] % 2 or x.shape[2] % 2:
        return Refused("shape")
    return _moved(
        x, "F.pixel_unshuffle({0}, 2)", (4 * x.shape[0], x.shape[1] // 2, x.shape[2] // 2)
    )


def _channel_shuffle(dice: Dice, x: Value) -> Applied | Refused:
    groups = dice.one_of((2, 4))
    if x.feature % groups or x.feature <= groups:
        return Refused("shape")
    return _permuted(x, f"F.channel_shuffle({{0}}, {groups})", (1,))


def _pad(dice: Dice, x: Value) -> Applied | Refused:
    if min(map(int, x.shape[1:])) < 4:  # noqa: PLR2004
        return Refused("shape")
    width, mode = dice.one_of((1, 2)), dice.one_of(("reflect", "replicate", "circular"))
    sides = ", ".join([str(width)] * 2 * (x.rank - 2))
    shape = (x.feature, *(size + 2 * width for size in x.shape[1:]))
    return _moved(x, f"F.pad({{0}}, ({sides}), mode='{mode}')", shape)


def _difference(_: Dice, x: Value) -> Applied | Refused:
    dim = x.rank - 1
    if x.size(dim) < 16:  # noqa: PLR2004
        return Refused("shape")
    return Applied(
        call=f"torch.diff({{0}}, dim={dim})",
        shape=resized(x.shape, dim, x.size(dim) - 1),
        low=x.low - x.high,
        high=x.high - x.low,
        blind=(Fact("shift", (dim,)),),
        feel=lambda _, s: s - rolled(s),
        cost=Cost(moved=3 * x.elements),
    )


def _triangle(name: str) -> Rule:
    def act(_: Dice, x: Value) -> Applied | Refused:
        if x.shape[-1] != x.shape[-2]:
            return Refused("shape")
        return Applied(
            call=f"{name}({{0}})",
            shape=x.shape,
            low=min(x.low, 0.0),
            high=max(x.high, 0.0),
            feel=lambda _, s: s * _HALF,
            cost=Cost(moved=2 * x.elements),
        )

    return Rule(
        name, "layout", act, weight=3.0, layouts=("tokens", "heads"), verb="mask a triangle"
    )


def _cat(_: Dice, x: Value, y: Value) -> Applied | Refused:
    if x is y or x.layout != y.layout:
        return Refused("shape")
    dim = FEATURE[x.layout]
    if x.rank != y.rank or resized(x.shape, dim, 0) != resized(y.shape, dim, 0):
        return Refused("shape")
    total = int(x.feature) + int(y.feature)
    if min(int(x.feature), int(y.feature)) * LEAST_SHARE < total:
        return Refused("dead")
    border = round(COUNT * int(x.feature) / total)
    width = x.feature + y.feature if x.feature != y.feature else 2 * x.feature
    places = {d: d for d in others(x, dim)}
    return Applied(
        call=f"torch.cat([{{0}}, {{1}}], dim={dim})",
        facts=mapped_facts((*x.facts, *y.facts), places),
        shape=resized(x.shape, dim, width),
        low=min(x.low, y.low),
        high=max(x.high, y.high),
        # A stride through the sample takes elements of either at random.
        feel=lambda _, a, b: _mixed(a, b, border),
        cost=Cost(moved=2 * (x.elements + y.elements)),
    )


def _mixed(a: Sample, b: Sample, border: int) -> Sample:
    return np.where(border > _STRIDE, a, b)


def _features(dice: Dice, x: Value) -> tuple[Layout, Shape]:
    """The same positions with as many features, or others."""
    return x.layout, resized(x.shape, FEATURE[x.layout], dice.features(x))


LAYOUTS: tuple[Rule, ...] = (
    Rule("torch.transpose", "layout", _transpose, weight=1.2, layouts=("tokens", "signal"),
         verb="transpose"),
    Rule("torch.flatten", "layout", _flatten_places, layouts=("image", "volume"), noun="flat",
         verb="flatten"),
    Rule("torch.flatten", "layout", _flatten, weight=0.7, layouts=("tokens", *PLACES),
         noun="flat", verb="flatten"),
    Rule("torch.flip", "layout", _flip, weight=0.5, layouts=DIMENSIONED, verb="flip"),
    Rule("torch.roll", "layout", _roll, weight=0.5, layouts=DIMENSIONED, verb="roll"),
    Rule("F.pixel_shuffle", "layout", _pixel_shuffle, layouts=("image",), verb="shuffle pixels"),
    Rule("F.pixel_unshuffle", "layout", _pixel_unshuffle, weight=0.7, layouts=("image",),
         verb="unshuffle pixels"),
    Rule("F.channel_shuffle", "layout", _channel_shuffle, weight=0.5, layouts=("image", "signal"),
         verb="shuffle channels"),
    Rule("F.pad", "layout", _pad, layouts=PLACES, verb="pad"),
    Rule("torch.diff", "scan", _difference, weight=0.7, layouts=DIMENSIONED, verb="difference"),
    _triangle("torch.tril"),
    _triangle("torch.triu"),
    Rule("torch.cat", "layout", _cat, 2, layouts=DIMENSIONED, noun="joined",
         verb="concatenate {1}", partner=_features),
)  # fmt: skip
"""Layout operators."""
