"""Losses, kept for each element."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fusewright.operators.catalogue.functions import softplus
from fusewright.operators.catalogue.rule import Applied, Cost, Dice, Refused, Rule
from fusewright.operators.catalogue.sample import Sample
from fusewright.operators.catalogue.value import (
    DIMENSIONED,
    Value,
)

HUBER_DELTA = 0.5
"""Difference from which a Huber loss is straight."""
WIDEST = 2.0
"""Greatest deviation of a prediction that a loss exponentiates."""


@dataclass(frozen=True)
class Penalty:
    """What a loss makes of a prediction and its target."""

    at: Callable[[Sample, Sample], Sample]
    arguments: str = "reduction='none'"
    accepts: Callable[[Value, Value], bool] = lambda _, __: True
    passes: int = 3
    least: Callable[[Value, Value], float] | None = None
    """Least loss for the two; None is zero where either may be the prediction, else unknown."""


def loss(name: str, made: Penalty, verb: str, weight: float = 1.0) -> Rule:
    """Make the rule of a loss that is kept for each element."""

    def act(_: Dice, x: Value, y: Value) -> Applied | Refused:
        if x is y or x.shape != y.shape:
            return Refused("shape")
        if not made.accepts(x, y):
            return Refused("domain")
        zero = 0.0 if made.accepts(y, x) else None
        return Applied(
            call=f"{name}({{0}}, {{1}}, {made.arguments})",
            shape=x.shape,
            low=made.least(x, y) if made.least else zero,
            high=_highest(made, x, y),
            feel=lambda _, a, b: made.at(a, b),
            cost=Cost(moved=made.passes * x.elements),
        )

    return Rule(name, "loss", act, 2, weight=weight, layouts=DIMENSIONED, noun="error", verb=verb)


def _highest(made: Penalty, x: Value, y: Value) -> float:
    """Greatest penalty at the corners of the bounds."""
    corners = made.at(np.array((x.low, x.low, x.high, x.high)), np.array((y.low, y.high) * 2))
    return float(np.maximum.reduce(corners))


def squared(a: Sample, b: Sample) -> Sample:
    """Squared difference."""
    gap = a - b
    return gap * gap


def _absolute(a: Sample, b: Sample) -> Sample:
    return abs(a - b)


def _huber(a: Sample, b: Sample) -> Sample:
    gap = abs(a - b)
    straight = HUBER_DELTA * (gap - 0.5 * HUBER_DELTA)
    return np.where(gap < HUBER_DELTA, 0.5 * gap * gap, straight)


def _smooth(a: Sample, b: Sample) -> Sample:
    gap = abs(a - b)
    return np.where(gap < 1, 0.5 * gap * gap, gap - 0.5)


def _divergence(a: Sample, b: Sample) -> Sample:
    return np.where(b > 0, b * (np.log(np.maximum(b, 1e-300)) - a), 0.0)


def _is_log_probability(x: Value, y: Value) -> bool:
    return any(f.kind == "lse0" for f in x.facts) and any(f.kind == "sum1" for f in y.facts)


def _is_probability(_: Value, y: Value) -> bool:
    return y.low >= 0 and y.high <= 1


def _binary(a: Sample, b: Sample) -> Sample:
    return softplus(a) - a * b


def _poisson(a: Sample, b: Sample) -> Sample:
    return np.exp(np.minimum(a, 80.0)) - b * a


def _least_poisson(x: Value, y: Value) -> float:
    # Straight in the target, and lowest along the prediction where its exponential is the target.
    lowest = ((min(max(math.log(max(b, 1e-9)), x.low), x.high), b) for b in (y.low, y.high))
    return min(math.exp(min(a, 80.0)) - b * a for a, b in lowest)


def _is_calm(x: Value, y: Value) -> bool:
    return y.low >= 0 and x.deviation < WIDEST


LOSSES: tuple[Rule, ...] = (
    loss("F.mse_loss", Penalty(squared), "take squared errors against {1}"),
    loss("F.l1_loss", Penalty(_absolute, passes=5), "take absolute errors against {1}"),
    loss("F.smooth_l1_loss", Penalty(_smooth), "take a smooth error against {1}"),
    loss("F.huber_loss", Penalty(_huber, "reduction='none', delta=0.5"),
         "take a Huber loss against {1}"),
    loss("F.kl_div", Penalty(_divergence, accepts=_is_log_probability, passes=10),
         "take a divergence against {1}", 4.0),
    loss("F.binary_cross_entropy_with_logits", Penalty(_binary, accepts=_is_probability, passes=8),
         "take a cross-entropy against {1}", 3.0),
    loss("F.poisson_nll_loss", Penalty(_poisson, accepts=_is_calm, passes=8, least=_least_poisson),
         "take a Poisson loss against {1}", 2.0),
)  # fmt: skip
"""Losses."""
