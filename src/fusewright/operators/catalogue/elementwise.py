"""Rules for operators of one tensor that treat every element alike: one real curve each."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fusewright.operators.catalogue.rule import Applied, Cost, Dice, Member, Refused, Rule
from fusewright.operators.catalogue.sample import Sample
from fusewright.operators.catalogue.value import Fact, Kind, Value


@dataclass(frozen=True)
class Curve:
    """A real function and what the rules must know of it."""

    at: Callable[[Sample], Sample]
    turns: tuple[float, ...] = ()
    """Where it has a local extreme."""
    bounds: tuple[float, float] | None = None
    """Bounds of what it gives, where its ends and turns do not tell."""
    domain: tuple[float, float] = (-math.inf, math.inf)
    """Bounds that its operand must keep."""
    keeps: frozenset[Kind] = frozenset({"perm"})
    """Facts that survive it."""
    widest: float = math.inf
    """Greatest deviation of its operand: a wider one turns small errors into large ones."""

    def image(self, low: float, high: float) -> tuple[float, float]:
        """Bounds of the curve between *low* and *high*."""
        if self.bounds:
            return self.bounds
        inner = [turn for turn in self.turns if low < turn < high]
        reached = self.at(np.array((low, high, *inner))).tolist()
        return min(reached), max(reached)


HOMOGENEOUS: frozenset[Kind] = frozenset({"perm", "scale"})
"""Facts that survive a curve through the origin that is straight on either side of it."""


def unary(  # noqa: PLR0913 -- one row of a table
    name: str,
    *options: tuple[str, Curve],
    verb: str = "",
    noun: str = "",
    passes: int = 2,
    weight: float = 1.0,
    slowness: float = 1.0,
    call: str = "",
    uses: tuple[str, ...] = (),
) -> Rule:
    """Make the rule of an operator from its *options*: further arguments, and their curve.

    *passes* counts how often an element is read or written. An operator that is made of others,
    its *uses* in order, has its expression in *call*, `{0}` being the operand.
    """

    def act(dice: Dice, x: Value) -> Applied | Refused:
        arguments, curve = dice.one_of(options)
        if x.low < curve.domain[0] or x.high > curve.domain[1]:
            return Refused("domain")
        if x.deviation > curve.widest:
            return Refused("range")
        low, high = curve.image(x.low, x.high)
        spelled, members = (call, ()) if call else _spell(name, arguments)
        return Applied(
            call=spelled,
            members=members,
            shape=x.shape,
            low=low,
            high=high,
            feel=lambda _, sample: curve.at(sample),
            facts=kept(x.facts, curve.keeps),
            cost=Cost(moved=passes * x.elements, kernels=passes // 2, slowness=slowness),
        )

    plain = name.rpartition(".")[2].replace("_", " ")
    said = verb or f"apply {plain}"
    return Rule(name, "elementwise", act, weight=weight, uses=uses, noun=noun, verb=said)


def kept(facts: tuple[Fact, ...], kinds: frozenset[Kind]) -> tuple[Fact, ...]:
    """Those of *facts* that are of *kinds*."""
    return tuple(fact for fact in facts if fact.kind in kinds)


def _spell(name: str, arguments: str) -> tuple[str, tuple[Member, ...]]:
    if name.startswith("nn."):
        return "{m0}({0})", (Member("act", f"{name}({arguments})"),)
    return f"{name}({{0}}{', ' if arguments else ''}{arguments})", ()
