"""Where the time of one candidate goes, step by step."""

import time

LEASE = "lease"
"""Key of the time for which the device was held, all steps under it together."""


class Stopwatch:
    """One clock that always runs for exactly one step."""

    def __init__(self) -> None:
        self.spent_s: dict[str, float] = {}
        self.step, self._since = "load", time.perf_counter()

    def enter(self, step: str) -> None:
        """Let the clock of *step* run from here on; one that is entered again goes on."""
        now = time.perf_counter()
        self.add(self.step, now - self._since)
        self.step, self._since = step, now

    def add(self, step: str, seconds: float) -> None:
        """Add *seconds* to *step*."""
        self.spent_s[step] = self.spent_s.get(step, 0.0) + seconds

    def take(self) -> dict[str, float]:
        """Seconds by step since the last call of this, and start anew."""
        self.enter("load")
        taken, self.spent_s = self.spent_s, {}
        return {step: round(seconds, 5) for step, seconds in taken.items()}
