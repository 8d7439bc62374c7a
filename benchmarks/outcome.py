"""What one part of a benchmark left: the lines that `python -m fusewright.measure` writes.

First the device, then a verdict each with `at_s`, when it fell, and `spent_s`, seconds by
step; last what the canaries said.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

Line = dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """The lines of one part, sorted."""

    about: Line
    """Device, isolation, number of workers and how long they took to boot."""
    verdicts: list[Line] = field(default_factory=list)
    """In the order in which they were handed out."""
    drift: list[Line] = field(default_factory=list)
    """What the canaries of each device said, where they sang."""

    @property
    def timed(self) -> list[Line]:
        """Verdicts of which it is known where the time went: their workers lived to tell."""
        return [verdict for verdict in self.verdicts if "spent_s" in verdict]

    @property
    def measurements(self) -> dict[str, Line]:
        """What was measured, by key."""
        return {v["key"]: v["measurement"] for v in self.verdicts if "measurement" in v}

    @property
    def reasons(self) -> list[str]:
        """Why the others were rejected, one reason each."""
        return [v["rejection"]["reason"] for v in self.verdicts if "rejection" in v]


def parse(lines: Iterable[Line]) -> Outcome | None:
    """Sort the lines of one part, of one sitting or several; None before the first whole one."""
    lines = list(lines)
    about = [line for line in lines if "device" in line]
    if not about:
        return None
    verdicts = [line for line in lines if "key" in line]
    drift = [report for line in lines for report in line.get("drift", ()) if report]
    return Outcome(about[0], verdicts, drift)
