"""Exclusive use of one device: a file lock, which the kernel frees when its holder dies."""

import fcntl
import os
import tempfile
from collections.abc import Callable
from pathlib import Path


def lease_file(device: str) -> Path:
    """File that stands for *device* to every process of this user on this machine."""
    return Path(tempfile.gettempdir()) / f"fusewright-{os.getuid()}-{device}.lease"


class Lease:
    """The lock of one device, as one process holds it or waits for it.

    A POSIX record lock belongs to the process that took it: what that process forks has no part in
    it, and cannot keep the device when its parent is dead.
    """

    def __init__(self, path: Path, report: Callable[[str], None]) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        self._file = os.open(path, flags, 0o600)
        self._report = report
        self.held = False

    def acquire(self, phase: str) -> None:
        """Wait for the device, then enter *phase*; holding it already is fine."""
        if not self.held:
            self._report("waiting")
            fcntl.lockf(self._file, fcntl.LOCK_EX)
            self.held = True
        self._report(phase)

    def leave(self, phase: str) -> None:
        """Let others have the device and go on to *phase* without it."""
        self.release()
        self._report(phase)

    def release(self) -> None:
        """Let others have the device; not holding it is fine."""
        if self.held:
            fcntl.lockf(self._file, fcntl.LOCK_UN)
            self.held = False
