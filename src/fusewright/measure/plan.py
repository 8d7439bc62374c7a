"""What every worker is told once: device, limits, and how to time."""

from dataclasses import dataclass
from typing import Literal

Checks = Literal["all", "basic", "none"]
Last = Literal["eager", "timing"]


@dataclass(frozen=True)
class Plan:
    """Settings of the measuring processes; plain values, so that they travel as JSON."""

    device: str = "cpu"
    """`cpu` or `cuda`."""
    index: int = 0
    """Which of the visible devices of that kind."""
    scratch: str = ""
    """Folder that the processes may write to; it is removed with them."""
    leases: str = ""
    """Folder of the lease files: the one that every run on this machine uses."""
    memory_bytes: int = 8 * 10**9
    """Host memory that one worker may hold."""
    device_share: float = 0.4
    """Share of the device's memory that one worker may hold while others are at work. Whoever has
    no lease holds little, so that the shares of all may exceed the whole."""
    checks: Checks = "all"
    """`all`; `basic` for finite, deterministic and compiled as eager; `none` to time alone."""
    last: Last = "timing"
    """Phase after which a candidate is done: `eager` compiles and times nothing."""
    window_ms: tuple[float, float] | None = None
    """Eager times that are worth compiling for; far outside them a first look ends it."""
    stock_benchmarks: bool = False
    """Whether Inductor benchmarks its kernels for as long as it would by itself."""
    warmup_ms: float = 10.0
    """Least time each callable runs before it is timed."""
    budget_ms: float = 12.0
    """Timed repetitions of one callable fill about this long in one round."""
    min_repetitions: int = 4
    """Fewest timed repetitions of one callable in one round."""
    max_repetitions: int = 50
    """Most timed repetitions of one callable in one round."""
    keep_samples: bool = False
    """Whether to tell every single time, by block."""
    max_spread: float | None = None
    """Interquartile range over median above which a timing is noisy; None accepts any."""
