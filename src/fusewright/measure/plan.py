"""What every worker is told once: device, limits, and how to time."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Plan:
    """Settings of the measuring processes; plain values, so that they travel as JSON."""

    device: str = "cpu"
    """`cpu` or `cuda`."""
    scratch: str = ""
    """Folder that the processes may write to; it is removed with them."""
    memory_bytes: int = 8 * 10**9
    """Host memory that one worker may hold."""
    warmup_ms: float = 20.0
    """Least time each callable runs before it is timed."""
    budget_ms: float = 100.0
    """Timed repetitions of one callable fill about this long."""
    min_repetitions: int = 7
    """Fewest timed repetitions of one callable."""
    max_repetitions: int = 50
    """Most timed repetitions of one callable in one round."""
    max_spread: float | None = None
    """Interquartile range over median above which a timing is noisy; None accepts any."""
