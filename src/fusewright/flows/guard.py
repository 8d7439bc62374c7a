"""See to it that the server which Prefect starts for a run ends with the run, however that ends.

Prefect stops its server when Python exits. SIGKILL is no such exit: without a guard each killed run
would leave a server behind.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from prefect.server.api.server import SubprocessASGIServer

GUARD = """
import os, signal, sys
sys.stdin.read()
os.kill(int(sys.argv[1]), signal.SIGTERM)
"""
"""Waits until whoever holds the other end of its standard input is gone."""


@contextmanager
def guarded_server() -> Iterator[None]:
    """Tie the server of this process, if Prefect started one, to the life of this process."""
    server = SubprocessASGIServer().server_process
    if server is None:
        yield
        return
    guard = subprocess.Popen(  # noqa: S603 -- our own text
        [sys.executable, "-I", "-S", "-c", GUARD, str(server.pid)],
        stdin=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        yield
    finally:
        guard.kill()
        guard.communicate()
