"""The workers of one run: forked, kept, and let go."""

import contextlib
import selectors
import time
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from fusewright.errors import MeasureError
from fusewright.measure.forker import BOOT_S, TICK_S, Forker
from fusewright.measure.handle import Handle, Message, describe_exit
from fusewright.measure.plan import Plan

STILLBIRTHS = 20
"""Workers forked in a row none of which got ready, beyond two for each one wanted, from which a
device counts as lost."""


@dataclass
class Roll:
    """What the first workers of every device told of themselves."""

    device: dict[str, Any] = field(default_factory=dict)
    """Name of the device and what its timings depend on, the same for all."""
    identities: dict[int, str] = field(default_factory=dict)
    """What tells one device from the others, by its number."""
    isolation: dict[str, bool] = field(default_factory=dict)
    """Which isolations hold for every worker."""
    peaks: dict[str, float] = field(default_factory=dict)
    """What the first device reaches."""

    def enter(self, number: int, message: Message) -> None:
        """Note a worker that is ready.

        Raises:
            MeasureError: Its device is of another kind.
        """
        device = message["ready"]
        self.device = self.device or device
        if self.device["name"] != device["name"]:
            raise MeasureError(
                f"the devices differ: {self.device['name']} and {device['name']}; a run has one "
                "kind, chosen by `measure.devices`"
            )
        self.identities[number] = message["identity"]
        self.isolation = {
            name: holds and self.isolation.get(name, True)
            for name, holds in message["isolation"].items()
        }


class Crew:
    """Workers, and the process that forks them; close it in the end.

    Raises:
        MeasureError: That process does not get ready.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._handles: dict[int, Handle] = {}
        self._selector = selectors.DefaultSelector()
        self._forker = Forker(plan)
        self._wanted = self._unready = 0
        self.loss = ""
        """How the last worker that was lost had ended."""

    @property
    def leases(self) -> str:
        """Folder of the lease files."""
        return self._forker.plan.leases

    def boot(self, devices: Collection[int], workers: int) -> Roll:
        """Fork *workers* for each of *devices*; when all are ready, one measures its peaks.

        Raises:
            MeasureError: A device cannot be used, or does not answer.
        """
        begin, roll = time.monotonic(), Roll()
        self._wanted = workers * len(devices)
        handles = [self.fork(n) for n in devices for _ in range(workers)]
        while not roll.peaks:
            if all(handle.ready for handle in handles) and not self.busy():
                handles[0].send({"task": "peaks", "key": "peaks"})
            if time.monotonic() - begin > BOOT_S:
                raise MeasureError(f"device '{self._plan.device}' gave no answer in {BOOT_S:g} s")
            for handle in self.heard():
                self._enroll(handle, roll)
            self._forker.listen()
        return roll

    def fork(self, device: int) -> Handle:
        """Start a worker.

        Raises:
            MeasureError: Of those that were started last none got ready.
        """
        self._unready += 1
        if self._unready > STILLBIRTHS + 2 * self._wanted:
            raise MeasureError(f"no worker for device {device} gets ready any more: {self.loss}")
        handle = self._forker.fork(device)
        self._handles[handle.pid] = handle
        self._selector.register(handle.channel, selectors.EVENT_READ, handle)
        return handle

    def greet(self, handle: Handle) -> None:
        """Note that a worker is ready."""
        handle.ready, handle.begun, self._unready = True, False, 0

    def idle(self, device: int, recycle_after: int) -> Handle | None:
        """A worker without work; whoever has served so often is let go."""
        for handle in list(self._handles.values()):
            if handle.device == device and not handle.request:
                if handle.served < recycle_after:
                    return handle
                self.drop(handle)
        return None

    def busy(self, device: int | None = None) -> list[Handle]:
        """Workers that are at something."""
        return [h for h in self._handles.values() if h.request and device in (None, h.device)]

    def heard(self) -> list[Handle]:
        """Workers that have said something, after a short wait at most."""
        return [key.data for key, _ in self._selector.select(TICK_S)]

    def listen(self) -> None:
        """Learn which workers have ended.

        Raises:
            ForkerDiedError: The process that forks them has.
        """
        self._forker.listen()

    def end_of(self, handle: Handle) -> str:
        """Say how a worker that has hung up ended."""
        return describe_exit(self._forker.exit_status(handle.pid))

    def drop(self, handle: Handle) -> None:
        """End one worker."""
        self._handles.pop(handle.pid, None)
        with contextlib.suppress(KeyError, ValueError):
            self._selector.unregister(handle.channel)
        handle.kill()

    def dismiss(self) -> None:
        """End them all."""
        for handle in list(self._handles.values()):
            self.drop(handle)

    def renew(self) -> None:
        """Begin anew without any worker, the process that forked them being dead."""
        self.dismiss()
        self._forker.close()
        self._forker = Forker(self._plan)

    def close(self) -> None:
        """End everything, and remove what was written."""
        self.dismiss()
        self._selector.close()
        self._forker.close()

    def _enroll(self, handle: Handle, roll: Roll) -> None:
        messages = handle.receive()
        if messages is None:
            messages = [{"unusable": self.end_of(handle)}]
        for message in messages:
            if "unusable" in message:
                detail = message["unusable"]
                raise MeasureError(f"device '{self._plan.device}' cannot be used: {detail}")
            if "ready" in message:
                self.greet(handle)
                roll.enter(handle.device, message)
            if "peaks" in message:
                roll.peaks, handle.request = message["peaks"], None
