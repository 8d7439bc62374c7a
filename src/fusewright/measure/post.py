"""One device as the supervisor keeps it: its canaries, and the verdicts that wait for the next."""

import math
import os
import time
from collections import deque

from fusewright.errors import MeasureError
from fusewright.measure.drift import Drift
from fusewright.measure.handle import Handle, Message
from fusewright.measure.lease import holder, lease_file, open_lease

IDLE_WAITS, LOOK_S = 40, 0.05
"""Looks in a row that find a worker waiting for what nobody else holds, and the time between two
of them that count: 2 s or more in all, in all of which the supervisor was awake."""
SILENT_CANARIES = 5
"""Canaries in a row that nobody answers before the device counts as lost."""


class Post:
    """One device.

    Args:
        canary_s: Seconds between canaries; None sends none, and proves every verdict at once.
    """

    def __init__(self, canary_s: float | None = None) -> None:
        self.drift = Drift()
        self.chores: deque[Message] = deque()
        self.unproven: list[Message] = []
        self._canary_s = canary_s
        self._last_s = -math.inf
        self._unanswered = 0
        self._lease: int | None = None

    def open(self, folder: str, identity: str) -> None:
        """Learn which device it is, so that it shows who holds its lease."""
        if self._lease is None:
            self._lease = open_lease(lease_file(folder, identity))

    def close(self) -> None:
        """Close the file of the lease."""
        if self._lease is not None:
            os.close(self._lease)

    def call_for_canary(self) -> None:
        """Let a worker time the canary next, where canaries are sent."""
        if self._canary_s is not None and not self.chores:
            if self._unanswered >= SILENT_CANARIES:
                raise MeasureError(
                    f"{SILENT_CANARIES} canaries in a row ended their worker: the device works no "
                    "more. Try it with `fusewright doctor`, or set `measure.canary_s` to null"
                )
            self._unanswered += 1
            self.chores.append({"task": "canary", "key": "canary"})
            # Not due again before it has been timed.
            self._last_s = math.inf

    def call_if_due(self) -> None:
        """Let a worker time the canary if the last one is long past."""
        if self._canary_s is not None and time.monotonic() - self._last_s > self._canary_s:
            self.call_for_canary()

    def forget(self) -> None:
        """Nobody waits for verdicts any more, nor for a canary that was called for."""
        self.chores.clear()
        self.unproven.clear()
        self._unanswered = 0
        self.disturbed()

    def disturbed(self) -> None:
        """A worker was killed at its work, and may have left the device in another state."""
        self._last_s = -math.inf

    def take(self, verdict: Message) -> tuple[list[Message], list[Message]]:
        """Take in what a worker decided.

        Returns:
            Verdicts that can be handed out, and requests that have to be measured again.
        """
        if verdict["request"]["task"] != "canary":
            self.unproven.append(verdict)
            if self._canary_s is not None:
                return [], []
            taken, self.unproven = self.unproven, []
            return taken, []
        self._last_s, self._unanswered = time.monotonic(), 0
        taken, self.unproven = self.unproven, []
        if self.drift.steady(verdict["canary"]):
            return taken, []
        return (
            [verdict for verdict in taken if not _repeatable(verdict)],
            [{**v["request"], "again": True} for v in taken if _repeatable(v)],
        )

    def waits_in_vain(self, handle: Handle) -> bool:
        """Whether a worker has long been waiting for a device that nobody else holds."""
        if self._lease is None or holder(self._lease) not in (None, handle.pid):
            handle.idle_waits = 0
        elif time.monotonic() - handle.looked_at >= LOOK_S:
            handle.idle_waits += 1
            handle.looked_at = time.monotonic()
        return handle.idle_waits > IDLE_WAITS


def _repeatable(verdict: Message) -> bool:
    """Whether to measure anew would tell more; what has been so a second time is taken as it is."""
    return "measurement" in verdict and "again" not in verdict["request"]
