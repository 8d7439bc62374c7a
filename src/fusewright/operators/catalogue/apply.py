"""Apply a rule to operands, and refuse what would be invalid or do nothing."""

import math
from dataclasses import dataclass

from fusewright.operators.catalogue.noise import Noise
from fusewright.operators.catalogue.rule import Applied, Dice, Refused, Rule
from fusewright.operators.catalogue.sample import MOVED, Sample, moments, moved
from fusewright.operators.catalogue.value import Value

MAX_MAGNITUDE = 1e4
"""Greatest usual element: beyond it float32 leaves little of the tolerance."""
MAX_PEAK = 1e12
"""Greatest element at all: sums of its square still fit float32."""
REACH = 12.0
"""Deviations from the mean that no element of a sum over many goes beyond."""
MIN_DEVIATION = 5e-3
"""Least deviation of a value, as a share of its magnitude: less is a constant to a grader."""


@dataclass(frozen=True)
class Placed:
    """An operator at its place in a graph, with the value that it gives."""

    rule: Rule
    applied: Applied
    value: Value


def apply(rule: Rule, dice: Dice, operands: tuple[Value, ...], place: int) -> Placed | Refused:
    """Apply *rule* as the operator number *place* of a graph."""
    if any(value.made_by == (rule.name, rule.family) for value in operands) and _echoes(rule):
        return Refused("repeat")
    fits = not rule.layouts or operands[0].layout in rule.layouts
    applied = rule.act(dice, *operands) if fits else Refused("shape")
    if isinstance(applied, Refused):
        return applied
    if _is_blind(applied, operands):
        return Refused("dead")
    samples = tuple(value.sample for value in operands)
    sample = felt(applied, Noise(place, samples))
    low, high = _bounds(applied, sample)
    value = Value(
        layout=applied.layout or operands[0].layout,
        shape=applied.shape,
        sample=sample,
        low=low,
        high=high,
        facts=applied.facts,
        made_by=(rule.name, rule.family),
    )
    return _fault(rule, value, operands) or Placed(rule, applied, value)


def felt(applied: Applied, noise: Noise) -> Sample:
    """What *applied* makes of the operands in *noise*, within its bounds."""
    low = -math.inf if applied.low is None else applied.low
    high = math.inf if applied.high is None else applied.high
    return tuple(min(max(x, low), high) for x in applied.feel(noise, *noise.now))


def _bounds(applied: Applied, sample: Sample) -> tuple[float, float]:
    """Bounds as the rule gives them, or as far from the mean as no sum of many elements goes."""
    mean, deviation = moments(sample)
    reach = REACH * deviation + applied.lone
    low = mean - reach if applied.low is None else applied.low
    high = mean + reach if applied.high is None else applied.high
    return low, high


def _echoes(rule: Rule) -> bool:
    """Whether nobody would write *rule* twice in a row."""
    return rule.family not in ("conv", "layout") and rule.arity == 1


def _is_blind(applied: Applied, operands: tuple[Value, ...]) -> bool:
    blind = [(0, fact) for fact in applied.blind] + list(applied.blind_others)
    return any(fact.defeats(given) for index, fact in blind for given in operands[index].facts)


def _fault(rule: Rule, value: Value, operands: tuple[Value, ...]) -> Refused | None:
    magnitude = max(map(abs, value.sample))
    if not (magnitude <= MAX_MAGNITUDE and value.peak <= MAX_PEAK):
        return Refused("range")
    if moments(value.sample)[1] <= MIN_DEVIATION * magnitude:
        return Refused("constant")
    for operand in operands:
        alike = operand.shape == value.shape or (rule.arity > 1 and rule.family == "elementwise")
        if alike and moved(value.sample, operand.sample) < MOVED:
            return Refused("dead")
    return None
