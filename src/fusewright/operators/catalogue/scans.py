"""Scans and sorts along one dimension."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fusewright.operators.catalogue.noise import Noise
from fusewright.operators.catalogue.reductions import reduction_dims
from fusewright.operators.catalogue.rule import Applied, Cost, Dice, Refused, Rule
from fusewright.operators.catalogue.sample import (
    COUNT,
    Sample,
    greatest,
    largest,
    moments,
    quantile,
    upper,
)
from fusewright.operators.catalogue.size import Size
from fusewright.operators.catalogue.value import DIMENSIONED, Fact, Value, constant_along, resized

Feel = Callable[[Noise, Sample, int], Sample]
LEAST = 8
"""Fewest elements worth scanning."""
_STAGES = np.arange(COUNT) % 4
LONGEST_SORT = 8192
"""Most elements along a sorted dimension."""


@dataclass(frozen=True)
class Scan:
    """What a scan makes of *n* elements along its dimension."""

    feel: Feel
    bounds: Callable[[float, float, int], tuple[float, float]]
    passes: int = 2
    slowness: float = 3.0
    tail: str = ""


def _steps(noise: Noise, n: int) -> Sample:
    """How far along a scan each element of a sample stands; a matter of place, not of data."""
    return 1 + (n - 1) * noise.uniform()


def _cumulated(noise: Noise, sample: Sample, n: int) -> Sample:
    mean, deviation = moments(sample)
    steps = _steps(noise, n)
    return mean * steps + deviation * np.sqrt(steps) * noise.drawn()


def _log_cumulated(noise: Noise, sample: Sample, n: int) -> Sample:
    top = greatest(sample)
    mean, deviation = moments(np.exp(sample - top))
    steps = _steps(noise, n)
    means = mean + deviation * noise.drawn() / np.sqrt(steps)
    return top + np.log(steps) + np.log(np.maximum(means, mean * 0.05))


def _running_peak(noise: Noise, sample: Sample, n: int) -> Sample:
    # Four stages of the scan stand for all of it.
    drawn = noise.drawn(view=upper)
    stages = [largest(sample, max(n * k // 4, 1), drawn) for k in (1, 2, 3, 4)]
    return np.choose(_STAGES, stages)


def _running_floor(noise: Noise, sample: Sample, n: int) -> Sample:
    return -_running_peak(noise, -sample, n)


def _ordered(noise: Noise, sample: Sample, n: int) -> Sample:
    within = quantile(np.sort(sample, -1), noise.fixed())
    return within + moments(sample)[1] / math.sqrt(n) * noise.drawn()


def _same(low: float, high: float, _: int) -> tuple[float, float]:
    return low, high


def _cumulated_bounds(low: float, high: float, n: int) -> tuple[float, float]:
    return min(low, low * n), max(high, high * n)


def _log_cumulated_bounds(low: float, high: float, n: int) -> tuple[float, float]:
    return low - 1e-3, high + math.log(n) + 1e-3


def scan(name: str, made: Scan, *, verb: str, family: str = "scan", weight: float = 1.0) -> Rule:
    """Make the rule of a scan."""

    def act(dice: Dice, x: Value) -> Applied | Refused:
        dims = reduction_dims(dice, x, several=False)
        n = x.count(dims)
        if n < LEAST or (family == "sort" and n > LONGEST_SORT):
            return Refused("shape")
        low, high = made.bounds(x.low, x.high, n)
        sorts = family == "sort"
        return Applied(
            call=f"{name}({{0}}, dim={dims[0]}){made.tail}",
            shape=x.shape,
            low=low,
            high=high,
            facts=(
                (Fact("perm" if sorts else "extreme", dims), *constant_along(x.facts, dims[0]))
                if made.bounds is _same
                else ()
            ),
            blind=(Fact("perm", dims),) if sorts else (),
            feel=lambda noise, sample: made.feel(noise, sample, n),
            cost=Cost(moved=made.passes * x.elements, slowness=made.slowness),
        )

    return Rule(name, family, act, weight=weight, layouts=DIMENSIONED, verb=verb)


def _top(dice: Dice, x: Value) -> Applied | Refused:
    dim = x.rank - 1
    k = dice.one_of((4, 8, 16))
    if x.size(dim) < 4 * k or x.size(dim) > LONGEST_SORT:
        return Refused("shape")
    n = int(x.size(dim))
    return Applied(
        call=f"torch.topk({{0}}, k={k}, dim={dim}).values",
        shape=resized(x.shape, dim, Size(k)),
        low=x.low,
        high=x.high,
        facts=constant_along(x.facts, dim),
        blind=(Fact("perm", (dim,)),),
        feel=lambda noise, sample: largest(sample, max(n // k, 1), noise.drawn(view=upper)),
        cost=Cost(moved=x.elements, slowness=10.0),
    )


SCANS: tuple[Rule, ...] = (
    scan("torch.cumsum", Scan(_cumulated, _cumulated_bounds), verb="sum cumulatively"),
    scan("torch.cummax", Scan(_running_peak, _same, passes=4, tail=".values"),
         verb="take the running maximum", weight=0.5),
    scan("torch.cummin", Scan(_running_floor, _same, passes=4, tail=".values"),
         verb="take the running minimum", weight=0.5),
    scan("torch.logcumsumexp", Scan(_log_cumulated, _log_cumulated_bounds, slowness=7.0),
         verb="take a cumulative logsumexp", weight=0.6),
)  # fmt: skip
"""Scans."""

SORTS: tuple[Rule, ...] = (
    scan("torch.sort", Scan(_ordered, _same, passes=4, slowness=15.0, tail=".values"),
         verb="sort", family="sort", weight=0.6),
    Rule("torch.topk", "sort", _top, layouts=DIMENSIONED, verb="keep the greatest", noun="top"),
)  # fmt: skip
"""Sorts."""
