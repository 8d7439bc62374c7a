"""Arithmetic with numbers and with learned parameters along the features."""

from collections.abc import Callable

import numpy as np

from fusewright.operators.catalogue.bounds import product
from fusewright.operators.catalogue.elementwise import kept
from fusewright.operators.catalogue.functions import sigmoid
from fusewright.operators.catalogue.noise import Noise
from fusewright.operators.catalogue.rule import Act, Applied, Cost, Dice, Member, Refused, Rule
from fusewright.operators.catalogue.sample import Sample, rolled
from fusewright.operators.catalogue.value import (
    DIMENSIONED,
    FEATURE,
    NORMAL_BOUND,
    PLACES,
    Fact,
    Value,
    others,
    resized,
)

GAIN = (0.5, 1.5)
"""Bounds of a learned scale at the start: `torch.rand(n) + 0.5`."""
SLOPE = 0.25
"""Slope of PReLU at the start, as torch.nn.PReLU has it."""


def feature_shape(value: Value) -> str:
    """Shape of a parameter that holds one number a feature, as arguments."""
    ones = value.rank - 1 - FEATURE[value.layout]
    return ", ".join([value.feature.text, *["1"] * ones])


def gains(noise: Noise, index: int = 0) -> Sample:
    """Elements of a learned scale: uniform between the ends of `GAIN`."""
    return 0.5 + noise.uniform(index)


def _multiply_number(dice: Dice, x: Value) -> Applied:
    factor = dice.one_of((0.5, 2.0, 1.5, 0.25))
    return Applied(
        call=f"{{0}} * {factor}",
        shape=x.shape,
        low=x.low * factor,
        high=x.high * factor,
        facts=(*x.facts, Fact("scale", tuple(range(x.rank)))),
        feel=lambda _, sample: factor * sample,
        cost=Cost(moved=2 * x.elements),
    )


def _add_number(dice: Dice, x: Value) -> Applied:
    term = dice.one_of((0.5, 1.0, 2.0))
    return Applied(
        call=f"{{0}} + {term}",
        shape=x.shape,
        low=x.low + term,
        high=x.high + term,
        facts=(*x.facts, Fact("shift", tuple(range(x.rank)))),
        feel=lambda _, sample: sample + term,
        cost=Cost(moved=2 * x.elements),
    )


def _subtract_from_one(_: Dice, x: Value) -> Applied:
    return Applied(
        call="1.0 - {0}",
        shape=x.shape,
        low=1 - x.high,
        high=1 - x.low,
        facts=kept(x.facts, frozenset({"perm", "shift", "bias"})),
        feel=lambda _, sample: 1 - sample,
        cost=Cost(moved=2 * x.elements),
    )


def _bias(_: Dice, x: Value) -> Applied:
    return Applied(
        call="{0} + {m0}",
        members=(Member("bias", f"nn.Parameter(torch.randn({feature_shape(x)}) * 0.5)"),),
        params=(0,),
        shape=x.shape,
        facts=(
            *kept(x.facts, frozenset({"shift", "bias"})),
            Fact("shift", others(x, FEATURE[x.layout])),
        ),
        low=x.low - 0.5 * NORMAL_BOUND,
        high=x.high + 0.5 * NORMAL_BOUND,
        feel=lambda noise, sample: sample + 0.5 * noise.fixed(),
        cost=Cost(moved=2 * x.elements, params=x.feature),
    )


def _scale(_: Dice, x: Value) -> Applied:
    low, high = product((x.low, x.high), GAIN)
    return Applied(
        call="{0} * {m0}",
        members=(Member("scale", f"nn.Parameter(torch.rand({feature_shape(x)}) + 0.5)"),),
        params=(0,),
        shape=x.shape,
        low=low,
        high=high,
        facts=(
            *kept(x.facts, frozenset({"scale"})),
            Fact("scale", others(x, FEATURE[x.layout])),
        ),
        feel=lambda noise, sample: sample * gains(noise),
        cost=Cost(moved=2 * x.elements, params=x.feature),
    )


def _guarded(name: str, term: float, at: Callable[[Sample], Sample]) -> Act:
    """Act of a function of `x + term`, which nothing negative may reach."""

    def act(_: Dice, x: Value) -> Applied | Refused:
        if x.low < 0:
            return Refused("domain")
        ends = at(np.array((x.low, x.high)) + term).tolist()
        return Applied(
            call=f"{name}({{0}} + {term})",
            shape=x.shape,
            low=min(ends),
            high=max(ends),
            facts=kept(x.facts, frozenset({"perm"})),
            feel=lambda _, sample: at(sample + term),
            cost=Cost(moved=4 * x.elements, kernels=2),
        )

    return act


def _reciprocal_root(x: Sample) -> Sample:
    return 1 / np.sqrt(x)


def _reciprocal(x: Sample) -> Sample:
    return 1 / x


def _prelu(_: Dice, x: Value) -> Applied:
    return Applied(
        call="{m0}({0})",
        members=(
            Member(
                "act", f"nn.PReLU({x.feature.text})", ("nn.init.uniform_({0}.weight, 0.1, 0.4)",)
            ),
        ),
        shape=x.shape,
        low=x.low * 0.4 if x.low < 0 else x.low,
        high=x.high,
        facts=kept(x.facts, frozenset({"scale"})),
        feel=lambda _, sample: np.maximum(sample, SLOPE * sample),
        cost=Cost(moved=2 * x.elements, params=x.feature),
    )


def _glu(_: Dice, x: Value) -> Applied | Refused:
    if x.feature % 2:
        return Refused("shape")
    dim = FEATURE[x.layout]
    return Applied(
        call=f"F.glu({{0}}, dim={dim})",
        shape=resized(x.shape, dim, x.feature // 2),
        low=min(x.low, 0.0),
        high=max(x.high, 0.0),
        feel=lambda _, sample: sample * sigmoid(rolled(sample)),
        cost=Cost(moved=x.elements + x.elements // 2),
    )


SCALINGS: tuple[Rule, ...] = (
    Rule("torch.mul", "elementwise", _multiply_number, verb="scale", weight=0.08),
    Rule("torch.add", "elementwise", _add_number, verb="shift", weight=0.3),
    Rule("torch.sub", "elementwise", _subtract_from_one, verb="subtract from one", weight=0.3),
    Rule("torch.add", "elementwise", _bias, weight=0.8, layouts=DIMENSIONED,
         verb="add a bias"),
    Rule("torch.mul", "elementwise", _scale, weight=0.3, layouts=DIMENSIONED,
         verb="scale each feature"),
    Rule("torch.log", "elementwise", _guarded("torch.log", 0.1, np.log), verb="take the log",
         uses=("torch.add", "torch.log"), weight=3.5),
    Rule("torch.rsqrt", "elementwise", _guarded("torch.rsqrt", 0.5, _reciprocal_root),
         verb="take the inverse root", uses=("torch.add", "torch.rsqrt"), weight=3.5),
    Rule("torch.reciprocal", "elementwise", _guarded("torch.reciprocal", 1.0, _reciprocal),
         verb="take the reciprocal", uses=("torch.add", "torch.reciprocal"), weight=3.0),
    # PReLU takes dimension 1 for its channels, whatever a layout means by it.
    Rule("nn.PReLU", "elementwise", _prelu, layouts=("rows", *PLACES),
         verb="rectify with a learned slope"),
    Rule("F.glu", "elementwise", _glu, weight=2.0, layouts=DIMENSIONED,
         verb="apply a gated linear unit"),
)  # fmt: skip
"""Arithmetic of one tensor with numbers and parameters, and what is built upon it."""
