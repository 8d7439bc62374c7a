"""Operators that join two or three tensors element by element."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from fusewright.operators.catalogue import bounds
from fusewright.operators.catalogue.bounds import Bounds
from fusewright.operators.catalogue.elementwise import kept
from fusewright.operators.catalogue.functions import exp, gelu, sigmoid, softplus
from fusewright.operators.catalogue.rule import Applied, Cost, Dice, Refused, Rule
from fusewright.operators.catalogue.sample import MOVED, Sample, moved
from fusewright.operators.catalogue.size import ONE
from fusewright.operators.catalogue.value import (
    FEATURE,
    Fact,
    Layout,
    Shape,
    Value,
    broadcast,
    spread_dims,
)


@dataclass(frozen=True)
class Join:
    """A real function of several operands, and the bounds it gives."""

    at: Callable[..., Sample]
    bounds: Callable[..., Bounds]
    adds: bool = False
    """Whether it adds a share of its second operand to its first, or subtracts it."""
    scales: Literal["no", "signed", "positive"] = "no"
    """Whether it multiplies its first operand by something made of its second, and of what sign."""
    positive: tuple[int, ...] = ()
    """Operands that must not be negative."""
    wide: bool = False
    """Whether every operand must have the full shape."""
    chooses: bool = False
    """Whether it picks the greater or the lesser of its operands."""
    inner: int | None = None
    """Operand that another operator treats first."""
    bare: Callable[..., Sample] | None = None
    """What it would be without its first operator, where it has two."""


def join(  # noqa: PLR0913 -- one row of a table
    name: str,
    call: str,
    made: Join,
    *,
    arity: int = 2,
    verb: str,
    weight: float = 1.0,
    uses: tuple[str, ...] = (),
) -> Rule:
    """Make the rule of an operator that joins *arity* tensors by *made*."""

    def act(_: Dice, *operands: Value) -> Applied | Refused:
        shape = _joined_shape(made, operands)
        if shape is None or len({id(value) for value in operands}) < arity:
            return Refused("shape")
        if any(operands[index].low < 0 for index in made.positive):
            return Refused("domain")
        if _is_pointless(made, operands):
            return Refused("dead")
        low, high = made.bounds(*((value.low, value.high) for value in operands))
        inner = () if made.inner is None else (operands[made.inner],)
        elements = math.prod(map(int, shape))
        return Applied(
            call=call,
            shape=shape,
            layout=operands[0].layout if operands[0].shape == shape else operands[1].layout,
            low=low,
            high=high,
            facts=_joined_facts(made, operands, shape),
            feel=lambda _, *samples: made.at(*samples),
            cost=Cost(
                moved=elements + sum(value.elements for value in (*operands, *inner * 2)),
                kernels=max(1, len(uses)),
            ),
        )

    partner = None if made.wide else _partner
    return Rule(
        name, "elementwise", act, arity, weight=weight, uses=uses, verb=verb, partner=partner
    )


def _is_pointless(made: Join, operands: tuple[Value, ...]) -> bool:
    if made.chooses:
        return any(fact.kind == "extreme" for value in operands for fact in value.facts)
    samples = [value.sample for value in operands]
    return made.bare is not None and moved(made.at(*samples), made.bare(*samples)) < MOVED


def _joined_shape(made: Join, operands: tuple[Value, ...]) -> Shape | None:
    shape: Shape | None = operands[0].shape
    for value in operands[1:]:
        shape = shape and broadcast(shape, value.shape)
    if made.wide and any(value.shape != shape for value in operands):
        return None
    return shape or None


def _joined_facts(made: Join, operands: tuple[Value, ...], shape: Shape) -> tuple[Fact, ...]:
    facts = [fact for value in operands[1:] for fact in value.facts
             if fact.kind == "perm" and fact in operands[0].facts]  # fmt: skip
    for place, value in enumerate(operands[:2]):
        dims = spread_dims(value.shape, shape)
        if made.adds:
            own = kept(value.facts, frozenset({"shift", "bias"}))
            facts += [Fact("shift", dims)] if dims else own
        elif made.scales != "no" and not dims:
            facts += kept(value.facts, frozenset({"scale"})) if place == 0 else ()
        elif made.scales != "no" and (value.low >= 0 or (place and made.scales == "positive")):
            facts.append(Fact("scale", dims))
    return tuple(facts)


def _partner(dice: Dice, value: Value) -> tuple[Layout, Shape]:
    """The same shape, or one that is repeated along every dimension but the features."""
    if value.rank <= FEATURE.get(value.layout, 0) or value.rank < 3 or dice.chance(0.7):  # noqa: PLR2004
        return value.layout, value.shape
    feature = FEATURE[value.layout]
    shape = tuple(size if dim == feature else ONE for dim, size in enumerate(value.shape, start=1))
    return value.layout, shape


def _logaddexp(x: Sample, y: Sample) -> Sample:
    return np.maximum(x, y) + np.log1p(exp(-abs(x - y)))


def _product(x: Sample, y: Sample) -> Sample:
    return x * y


JOINS: tuple[Rule, ...] = (
    join("torch.add", "{0} + {1}", Join(lambda x, y: x + y, bounds.total, adds=True),
         verb="add {1}", weight=1.1),
    join("torch.sub", "{0} - {1}", Join(lambda x, y: x - y, bounds.difference, adds=True),
         verb="subtract {1}"),
    join("torch.mul", "{0} * {1}", Join(_product, bounds.product, scales="signed"),
         verb="multiply by {1}", weight=0.12),
    join("torch.div", "{0} / (1.0 + {1})",
         Join(lambda x, y: x / (1 + y), bounds.fraction, scales="positive", positive=(1,), inner=1),
         verb="divide by one plus {1}", weight=2.0, uses=("torch.add", "torch.div")),
    join("torch.maximum", "torch.maximum({0}, {1})", Join(np.maximum, bounds.greater, chooses=True),
         verb="take the greater of it and {1}"),
    join("torch.minimum", "torch.minimum({0}, {1})", Join(np.minimum, bounds.lesser, chooses=True),
         verb="take the lesser of it and {1}"),
    join("torch.lerp", "torch.lerp({0}, {1}, 0.3)",
         Join(lambda x, y: 0.7 * x + 0.3 * y, bounds.between, adds=True),
         verb="interpolate towards {1}"),
    join("torch.hypot", "torch.hypot({0}, {1})", Join(np.hypot, bounds.hypotenuse),
         verb="take the hypotenuse with {1}", weight=0.5),
    join("torch.logaddexp", "torch.logaddexp({0}, {1})", Join(_logaddexp, bounds.logarithmic_sum),
         verb="add {1} in log space", weight=0.6),
    join("torch.addcmul", "torch.addcmul({0}, {1}, {2})",
         Join(lambda x, y, z: x + y * z, bounds.plus_product, wide=True), arity=3,
         verb="add a product"),
    join("torch.addcmul", "torch.addcmul({0}, {1}, {2}, value=0.5)",
         Join(lambda x, y, z: x + 0.5 * y * z, bounds.plus_product, wide=True), arity=3,
         verb="add half a product", weight=0.5),
    join("torch.addcdiv", "torch.addcdiv({0}, {1}, {2} + 0.5)",
         Join(lambda x, y, z: x + y / (z + 0.5), bounds.plus_quotient, wide=True, positive=(2,),
              inner=2), arity=3, verb="add a quotient", uses=("torch.add", "torch.addcdiv")),
    join("torch.special.xlog1py", "torch.special.xlog1py({0}, {1})",
         Join(lambda x, y: x * np.log1p(y), bounds.logarithmic, scales="positive", positive=(1,)),
         verb="weigh by log1p of {1}", weight=0.5),
    join("torch.sigmoid", "{0} * torch.sigmoid({1})",
         Join(lambda x, y: x * sigmoid(y), bounds.fraction, scales="positive", inner=1,
              bare=_product), verb="gate by the sigmoid of {1}", weight=0.12,
         uses=("torch.sigmoid", "torch.mul")),
    join("F.gelu", "F.gelu({0}) * {1}",
         Join(lambda x, y: gelu(x) * y, bounds.curved, scales="signed", inner=0, bare=_product),
         verb="gate {1} by GELU", weight=0.12, uses=("F.gelu", "torch.mul")),
    join("F.silu", "F.silu({0}) * {1}",
         Join(lambda x, y: x * sigmoid(x) * y, bounds.curved, scales="signed", inner=0,
              bare=_product), verb="gate {1} by SiLU", weight=0.12,
         uses=("F.silu", "torch.mul")),
    join("torch.tanh", "{0} * torch.tanh({1})",
         Join(lambda x, y: x * np.tanh(y), bounds.swung, scales="signed", inner=1, bare=_product),
         verb="gate by tanh of {1}", weight=0.1, uses=("torch.tanh", "torch.mul")),
    join("F.softplus", "{0} * F.softplus({1})",
         Join(lambda x, y: x * softplus(y), bounds.weighed, scales="positive", inner=1,
              bare=_product), verb="weigh by softplus of {1}", weight=0.08,
         uses=("F.softplus", "torch.mul")),
)  # fmt: skip
"""Operators of two or three tensors."""
