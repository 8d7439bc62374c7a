"""Time eager and compiled side by side, until the medians stand."""

import math
import statistics
from dataclasses import dataclass
from typing import Any

from fusewright.measure.device import Call, Device
from fusewright.measure.plan import Plan

MAX_ROUNDS = 3
MAX_NOTCH = 0.01
MAX_SHIFT = 0.02
"""Another round follows while the notch of a median is over 1 % to either side, or the two blocks
of the last round differ by over 2 %, at most three rounds in all."""
LONG_MS = 20.0
"""From here on a call averages over its own noise: one in each block will do to begin with."""


@dataclass
class Samples:
    """Times of one callable, by block."""

    blocks: list[list[float]]

    @property
    def all_ms(self) -> list[float]:
        """Every time, in order."""
        return [ms for block in self.blocks for ms in block]

    @property
    def median_ms(self) -> float:
        """Median over all blocks."""
        return statistics.median(self.all_ms)

    @property
    def spread(self) -> float:
        """Interquartile range over median."""
        low, _, high = statistics.quantiles(self.all_ms, n=4, method="inclusive")
        return (high - low) / self.median_ms

    @property
    def stands(self) -> bool:
        """Whether another round would hardly move the median."""
        # Half the notch of a median, 1.57 IQR/sqrt(n): McGill, Tukey and Larsen 1978. Twice the
        # median deviation stands in for IQR: one slow call among four does not move the median.
        deviation_ms = statistics.median(abs(ms - self.median_ms) for ms in self.all_ms)
        notch = 1.57 * 2 * deviation_ms / self.median_ms / math.sqrt(len(self.all_ms))
        first_ms, last_ms = (statistics.median_low(block) for block in self.blocks[-2:])
        return notch < MAX_NOTCH and abs(first_ms - last_ms) < MAX_SHIFT * self.median_ms

    def report(self) -> dict[str, Any]:
        """Fields of a `Timing` record."""
        return {
            "median_ms": self.median_ms,
            "spread": self.spread,
            "repetitions": len(self.all_ms),
        }


def time_pair(device: Device, eager: Call, compiled: Call, plan: Plan) -> tuple[Samples, Samples]:
    """Warm both up, then time them in blocks of the order eager, compiled, compiled, eager."""
    eager_ms, compiled_ms = (warm_up(device, call, plan) for call in (eager, compiled))
    first, second = Samples([]), Samples([])
    for _ in range(MAX_ROUNDS):
        for samples, call, coarse_ms in (
            (first, eager, eager_ms),
            (second, compiled, compiled_ms),
            (second, compiled, compiled_ms),
            (first, eager, eager_ms),
        ):
            samples.blocks.append(device.time(call, block_size(coarse_ms, plan)))
        if first.stands and second.stands:
            break
    return first, second


def block_size(coarse_ms: float, plan: Plan) -> int:
    """Half of the repetitions that fill the budget, within the plan's limits."""
    least = plan.min_repetitions if coarse_ms < LONG_MS else 2
    wanted = math.ceil(plan.budget_ms / coarse_ms)
    return math.ceil(min(plan.max_repetitions, max(least, wanted)) / 2)


def warm_up(device: Device, call: Call, plan: Plan) -> float:
    """Call until the clocks have risen; returns a first, coarse median in milliseconds."""
    (first_ms,) = device.time(call, 1)
    calls = max(1, math.ceil(plan.warmup_ms / first_ms) - 1)
    # The first call may be slow in ways that say nothing of the next: it has no say.
    return statistics.median(device.time(call, min(plan.max_repetitions, calls)))
