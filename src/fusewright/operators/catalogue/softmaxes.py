"""Softmax and its relatives, along one dimension."""

import math
from collections.abc import Callable

import numpy as np

from fusewright.operators.catalogue.reductions import reduction_dims
from fusewright.operators.catalogue.rule import Applied, Cost, Dice, Member, Refused, Rule
from fusewright.operators.catalogue.sample import Sample, average, greatest
from fusewright.operators.catalogue.value import DIMENSIONED, Fact, Kind, Value

LEAST = 8
"""Fewest elements worth a softmax."""
WIDEST = 4.0
"""Greatest deviation worth a softmax: beyond it one element takes all."""


def shares(sample: Sample, n: int) -> Sample:
    """Softmax over *n* elements distributed as *sample*."""
    weights = np.exp(sample - greatest(sample))
    return weights / (n * average(weights))


def log_shares(sample: Sample, n: int) -> Sample:
    """Log-softmax over *n* elements distributed as *sample*."""
    lowered = sample - greatest(sample)
    return lowered - np.log(n * average(np.exp(lowered)))


def _negative_shares(sample: Sample, n: int) -> Sample:
    return shares(-sample, n)


def softmax(  # noqa: PLR0913 -- one row of a table
    name: str,
    feel: Callable[[Sample, int], Sample],
    fact: Kind,
    *,
    high: float,
    verb: str,
    noun: str = "weights",
    weight: float = 1.0,
) -> Rule:
    """Make the rule of a softmax whose result has *fact* along its dimension."""

    def act(dice: Dice, x: Value) -> Applied | Refused:
        dims = reduction_dims(dice, x, several=False)
        dim, n = dims[0], x.count(dims)
        if n < LEAST:
            return Refused("constant")
        if x.deviation > WIDEST:
            return Refused("range")
        module = name.startswith("nn.")
        return Applied(
            call="{m0}({0})" if module else f"{name}({{0}}, dim={dim})",
            members=(Member("softmax", f"{name}(dim={dim})"),) if module else (),
            shape=x.shape,
            low=0.0 if high else x.low - x.high - math.log(n) - 1,
            high=high,
            facts=(Fact(fact, dims), *(f for f in x.facts if f.kind == "perm")),
            blind=(Fact("shift", dims), Fact("sum1", dims), Fact("lse0", dims)),
            feel=lambda _, sample: feel(sample, n),
            cost=Cost(moved=(4 if name == "F.softmin" else 2) * x.elements, slowness=1.3),
        )

    return Rule(name, "softmax", act, weight=weight, layouts=DIMENSIONED, noun=noun, verb=verb)


SOFTMAXES: tuple[Rule, ...] = (
    softmax("F.softmax", shares, "sum1", high=1.0, verb="take a softmax", weight=1.5),
    softmax("F.log_softmax", log_shares, "lse0", high=0.0, verb="take a log-softmax",
            noun="log_probs"),
    softmax("F.softmin", _negative_shares, "sum1", high=1.0, verb="take a softmin", weight=0.7),
    softmax("nn.Softmax", shares, "sum1", high=1.0, verb="take a softmax", weight=0.7),
    softmax("nn.LogSoftmax", log_shares, "lse0", high=0.0, verb="take a log-softmax",
            noun="log_probs", weight=0.5),
)  # fmt: skip
"""Softmaxes."""
