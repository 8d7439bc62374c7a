"""Whether a device still is what it was, by canaries: the same work timed now and then."""

from collections.abc import Mapping
from dataclasses import dataclass, field

MAX_DRIFT = 0.02
"""Change of a canary's time from which the timings since the last one are measured again."""


@dataclass
class Drift:
    """The canaries of one device, in order."""

    limit: float = MAX_DRIFT
    readings: list[Mapping[str, float]] = field(default_factory=list)
    """Milliseconds by kind of work."""
    redone: int = 0
    """How many readings had drifted."""

    def steady(self, canary: Mapping[str, float]) -> bool:
        """Note *canary*; whether it agrees with the one before, the first with itself."""
        before = self.readings[-1] if self.readings else canary
        self.readings.append(canary)
        if canary.keys() == before.keys() and all(
            abs(canary[name] / before[name] - 1) <= self.limit for name in canary
        ):
            return True
        self.redone += 1
        return False

    def report(self) -> dict[str, float]:
        """Number of canaries and of those that had drifted, with the range of each kind."""
        if not self.readings:
            return {}
        names = self.readings[0]
        return {
            "canaries": len(self.readings),
            "drifted": self.redone,
            **{f"least_{name}": min(r[name] for r in self.readings) for name in names},
            **{f"most_{name}": max(r[name] for r in self.readings) for name in names},
        }
