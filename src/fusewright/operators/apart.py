"""Do one thing in a process of its own that is confined for good, and take what it says of it.

The process is forked, so that it starts in milliseconds with PyTorch loaded. It shares nothing that
it could write to with whoever forked it, and whatever it leaves behind is ended with it.
"""

import json
import os
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fusewright.measure import sandbox
from fusewright.measure.isolation import gaps

MEMORY_BYTES = 8 * 10**9
"""What the process may allocate: as much as a measuring worker may."""
MOST_BYTES = 1 << 22
"""Longest answer that is taken."""


class Apart:
    """Runs work in confined processes that write to folders inside *scratch* alone."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        sandbox.adopt_orphans()
        self.gaps: str = ""
        """Which isolations do not hold on this machine, in one line."""
        answer = self.do(lambda isolation: isolation)
        self.gaps = gaps(answer) if isinstance(answer, dict) else answer

    def do(self, work: Callable[[dict[str, bool]], Any]) -> Any:
        """What *work* returns, which JSON must know; or a sentence on how its process ended."""
        source, sink = os.pipe()
        with tempfile.TemporaryDirectory(dir=self._scratch) as folder:
            pid = os.fork()
            if pid == 0:
                _work(work, Path(folder), sink)
            os.close(sink)
            said = _read(source)
            # It has said all that counts; a process that goes on has no business left.
            os.kill(pid, signal.SIGKILL)
            _, status = os.waitpid(pid, 0)
            sandbox.kill_children()
        try:
            return json.loads(said)["answer"]
        except (ValueError, LookupError, TypeError):
            return f"the process {_end(status)}"


def _work(work: Callable[[dict[str, bool]], Any], folder: Path, sink: int) -> None:
    """What the forked process does; it does not return."""
    try:
        sandbox.die_with_parent()
        sandbox.keep_open(sink)
        os.chdir(folder)
        os.environ.update(HOME=str(folder), TMPDIR=str(folder))
        tempfile.tempdir = None
        sandbox.limit(MEMORY_BYTES, address_space=True)
        answer = {"answer": work(sandbox.confine(folder))}
        with os.fdopen(sink, "w") as file:
            file.write(json.dumps(answer))
    finally:
        os._exit(1)


def _read(source: int) -> bytes:
    """All that comes out of *source*, up to a bound."""
    said = b""
    with os.fdopen(source, "rb", buffering=0) as file:
        while len(said) < MOST_BYTES and (more := file.read(1 << 16)):
            said += more
    return said


def _end(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    return f"died of {signal.Signals(-code).name}" if code < 0 else f"left with exit code {code}"
