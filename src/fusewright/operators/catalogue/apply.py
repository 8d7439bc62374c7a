"""Apply a rule to operands, and refuse what would be invalid or do nothing."""

from typing import NamedTuple

import numpy as np

from fusewright.operators.catalogue.lane import FLOAT32, Lane
from fusewright.operators.catalogue.noise import Noise
from fusewright.operators.catalogue.rule import Applied, Dice, Refused, Rule
from fusewright.operators.catalogue.sample import MOVED, Sample, moments, moved
from fusewright.operators.catalogue.value import Layout, Value

MAX_MAGNITUDE = 1e4
"""Greatest usual element: beyond it float32 leaves little of the tolerance."""
REACH = 12.0
"""Deviations from the mean that no element of a sum over many goes beyond."""
MIN_DEVIATION = 5e-3
"""Least deviation of a value, as a share of its magnitude: less is a constant to a grader."""


class Placed(NamedTuple):
    """An operator at its place in a graph, with the value that it gives."""

    rule: Rule
    applied: Applied
    value: Value


def apply(
    rule: Rule, dice: Dice, operands: tuple[Value, ...], place: int, lane: Lane = FLOAT32
) -> Placed | Refused:
    """Apply *rule* as the operator number *place* of a graph that computes in *lane*."""
    made_by = (rule.name, rule.family)
    if rule.arity == 1 and operands[0].made_by == made_by and _echoes(rule):
        return Refused("repeat")
    fits = not rule.layouts or operands[0].layout in rule.layouts
    applied = rule.act(dice, *operands) if fits else Refused("shape")
    if isinstance(applied, Refused):
        return applied
    if _is_blind(applied, operands):
        return Refused("dead")
    samples = tuple([value.sample for value in operands])
    with np.errstate(all="ignore"):
        sample = felt(applied, Noise(place, samples))
    value = bounded(applied, operands[0].layout, sample, made_by)
    return _fault(rule, value, operands, lane) or Placed(rule, applied, value)


def felt(applied: Applied, noise: Noise) -> Sample:
    """What *applied* makes of the operands in *noise*, within its bounds."""
    sample = applied.feel(noise, *noise.now)
    if applied.low is not None:
        sample = np.maximum(sample, applied.low)
    return sample if applied.high is None else np.minimum(sample, applied.high)


def bounded(applied: Applied, layout: Layout, sample: Sample, made_by: tuple[str, str]) -> Value:
    """Make the value: bounds as the rule gives them, or as far out as no sum of many goes."""
    low, high = applied.low, applied.high
    if low is None or high is None:
        mean, deviation = moments(sample)
        reach = REACH * float(deviation) + applied.lone
        low = float(mean) - reach if low is None else low
        high = float(mean) + reach if high is None else high
    return Value(
        layout=applied.layout or layout,
        shape=applied.shape,
        sample=sample,
        low=low,
        high=high,
        facts=applied.facts,
        made_by=made_by,
    )


def _echoes(rule: Rule) -> bool:
    """Whether nobody would write *rule* twice in a row."""
    return rule.family not in ("conv", "layout")


def _is_blind(applied: Applied, operands: tuple[Value, ...]) -> bool:
    for fact in applied.blind:
        for given in operands[0].facts:
            if fact.defeats(given):
                return True
    return any(
        fact.defeats(g) for index, fact in applied.blind_others for g in operands[index].facts
    )


def _fault(rule: Rule, value: Value, operands: tuple[Value, ...], lane: Lane) -> Refused | None:
    least = MIN_DEVIATION * lane.leniency
    peak = value.peak
    # Most are well within their bounds, and need no look at each element.
    if not (peak <= MAX_MAGNITUDE and value.deviation > least * peak):
        magnitude = float(np.maximum.reduce(abs(value.sample)))
        if not (magnitude <= MAX_MAGNITUDE and peak <= lane.peak):
            return Refused("range")
        if value.deviation <= least * magnitude:
            return Refused("constant")
    for operand in operands:
        alike = operand.shape == value.shape or (rule.arity > 1 and rule.family == "elementwise")
        if alike and (moved(value.sample, operand.sample, lane.leniency * operand.slack) < MOVED):
            return Refused("dead")
    return None
