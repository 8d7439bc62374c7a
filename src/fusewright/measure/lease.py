"""Exclusive use of one device: a file lock, which the kernel frees when its holder dies."""

import fcntl
import os
import struct
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from fusewright.errors import MeasureError
from fusewright.measure.stopwatch import LEASE, Stopwatch

_FLOCK = "hhqqi"
"""`struct flock` of 64-bit Linux: type, whence, start, length, pid."""


def lease_file(folder: str, device: str) -> Path:
    """File that stands for *device* to every process of this user on this machine."""
    return Path(folder) / f"fusewright-{os.getuid()}-{device}.lease"


def lease_folder() -> str:
    """Folder of all lease files of this user: workers may make files in it, so it is of its own.

    Raises:
        MeasureError: Somebody else has taken its name.
    """
    folder = Path(tempfile.gettempdir()) / f"fusewright-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        raise MeasureError(f"'{folder}' belongs to another user: set TMPDIR to a folder of yours")
    return str(folder)


def open_lease(path: Path) -> int:
    """Open the file of a lease, making it if need be; never through a link."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)


def holder(file: int) -> int | None:
    """Pid of the process that holds the lease behind *file*; None if nobody does."""
    asked = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
    kind, _, _, _, pid = struct.unpack(_FLOCK, fcntl.fcntl(file, fcntl.F_GETLK, asked))
    return None if kind == fcntl.F_UNLCK else int(pid)


class Lease:
    """The lock of one device, as one process holds it or waits for it.

    A POSIX record lock belongs to the process that took it: what that process forks has no part in
    it, and cannot keep the device when its parent is dead.

    Args:
        path: File of the lease.
        report: Told the phase that begins, so that the supervisor knows which deadline counts.
        settle: Called before the device is let go: what was launched has to have run.
        watch: Told the step that begins.
    """

    def __init__(
        self,
        path: Path,
        report: Callable[[str], None],
        settle: Callable[[], None],
        watch: Stopwatch,
    ) -> None:
        self._file = open_lease(path)
        self._report, self._settle, self._watch = report, settle, watch
        self._since = 0.0
        self.held = False

    def acquire(self, phase: str) -> None:
        """Wait for the device, then enter *phase*; holding it already is fine."""
        if not self.held:
            self._watch.enter("waiting")
            self._report("waiting")
            fcntl.lockf(self._file, fcntl.LOCK_EX)
            self.held, self._since = True, time.perf_counter()
        self._watch.enter(phase)
        self._report(phase)

    def leave(self, phase: str) -> None:
        """Let others have the device and go on to *phase* without it."""
        if self.held:
            self._settle()
        self.release()
        self._watch.enter(phase)
        self._report(phase)

    def release(self) -> None:
        """Let others have the device at once; not holding it is fine."""
        if self.held:
            fcntl.lockf(self._file, fcntl.LOCK_UN)
            self._watch.add(LEASE, time.perf_counter() - self._since)
            self.held = False
