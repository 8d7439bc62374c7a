"""Problems that run too short to be worth a kernel, or too long to be worth the device."""

from dataclasses import dataclass
from typing import ClassVar

from fusewright.records import Measurement, Problem, Rejection


@dataclass(frozen=True)
class Window:
    """Rejects eager times outside *min_ms* to *max_ms*; both ends are inside.

    Source: arXiv 2602.24286, which keeps 1 to 100 ms of eager time.
    """

    min_ms: float = 1.0
    max_ms: float = 100.0
    name: ClassVar[str] = "window"
    reasons: ClassVar[tuple[str, ...]] = ("too_easy", "too_slow")

    def __post_init__(self) -> None:
        """Check the settings.

        Raises:
            ValueError: The limits are not 0 < min_ms <= max_ms.
        """
        if not 0 < self.min_ms <= self.max_ms:
            given = f"min_ms {self.min_ms} and max_ms {self.max_ms}"
            raise ValueError(f"{given} make no window; expected 0 < min_ms <= max_ms")

    def judge(self, problem: Problem, measurement: Measurement) -> Rejection | None:
        """Keep a problem whose median eager time lies in the window."""
        eager_ms = measurement.eager.median_ms
        if eager_ms < self.min_ms:
            return _outside(problem, "too_easy", eager_ms, "under", self.min_ms)
        if eager_ms > self.max_ms:
            return _outside(problem, "too_slow", eager_ms, "over", self.max_ms)
        return None


def _outside(problem: Problem, reason: str, value: float, side: str, limit: float) -> Rejection:
    detail = f"eager {value:.4g} ms is {side} {limit:g} ms"
    return Rejection.of(problem, "judge", reason, detail, value=value, limit=limit)
