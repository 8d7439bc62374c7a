"""Bytes and FLOPs of one forward, and the least time that a device's peaks allow for them.

PyTorch is imported only when something is counted, so that estimates cost no import.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

LAUNCH_MS = 0.005
"""Cost of one kernel launch, the usual 5 microseconds."""

Bound = Literal["memory", "compute", "launch"]


@dataclass(frozen=True)
class Peaks:
    """What a device was measured to reach."""

    bytes_per_s: float
    flops_per_s: float


@dataclass(frozen=True)
class Cost:
    """What one call of a model must move and compute."""

    flops: int
    """Floating-point operations of matrix products, convolutions and attention."""
    io_bytes: int
    """Inputs, parameters and outputs, each once: a fused kernel moves no less."""
    kernels: int
    """Operators that computed something, views left out."""
    live_bytes: int
    """Most bytes of tensors alive at once."""

    def sol_ms(self, peaks: Peaks) -> float:
        """Speed-of-light time: the greater of compute and traffic at the peaks."""
        return max(self.compute_ms(peaks), self.memory_ms(peaks))

    def compute_ms(self, peaks: Peaks) -> float:
        """Time of the FLOPs alone."""
        return self.flops / peaks.flops_per_s * 1e3

    def memory_ms(self, peaks: Peaks) -> float:
        """Time of the traffic alone."""
        return self.io_bytes / peaks.bytes_per_s * 1e3

    def bound(self, peaks: Peaks) -> Bound:
        """Which limit is nearest."""
        if self.kernels * LAUNCH_MS > self.sol_ms(peaks):
            return "launch"
        return "compute" if self.compute_ms(peaks) > self.memory_ms(peaks) else "memory"


def count(call: Callable[[], Any], inputs: Any, parameters: Any) -> tuple[Any, Cost]:
    """Run *call* once and count it; works on real and on fake tensors alike.

    Returns:
        What *call* returned, and its cost.
    """
    # Importing here keeps torch out of whoever only wants an estimate.
    from fusewright.dispatch import CountingMode, size_bytes, tensors_in

    held = [*tensors_in(inputs), *tensors_in(parameters)]
    with CountingMode(sum(map(size_bytes, held))) as mode:
        result = call()
    io_bytes = sum(map(size_bytes, [*held, *tensors_in(result)]))
    return result, Cost(mode.flops, io_bytes, mode.kernels, mode.peak_bytes)
