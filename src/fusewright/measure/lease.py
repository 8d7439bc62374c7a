"""Exclusive use of one device: a file lock, which the kernel frees when its holder dies."""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path


class Lease:
    """The lock of one device, as one process holds it or waits for it.

    Open it after a fork: processes that share an open file description share the lock.
    """

    def __init__(self, path: Path, report: Callable[[str], None]) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._report = report
        self.held = False

    def acquire(self, phase: str) -> None:
        """Wait for the device, then enter *phase*; holding it already is fine."""
        if not self.held:
            self._report("waiting")
            fcntl.flock(self._file, fcntl.LOCK_EX)
            self.held = True
        self._report(phase)

    def leave(self, phase: str) -> None:
        """Let others have the device and go on to *phase* without it."""
        self.release()
        self._report(phase)

    def release(self) -> None:
        """Let others have the device; not holding it is fine."""
        if self.held:
            fcntl.flock(self._file, fcntl.LOCK_UN)
            self.held = False
