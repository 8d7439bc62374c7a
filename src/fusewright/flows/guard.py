"""See to it that a run and the server which Prefect starts for it end together, however they end.

Prefect stops its server when Python exits. SIGKILL is no such exit; and Ctrl-C reaches the server
first, after which Prefect would go on asking it. So a watcher outlives us for a moment, and SIGINT
and SIGTERM end a run at once: whatever was decided lies in the ledger.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from prefect.client.orchestration import get_client
from prefect.server.api.server import SubprocessASGIServer
from prefect.settings import PREFECT_API_URL

from fusewright.errors import ServerError

WATCHER = """
import os, signal, sys
sys.stdin.read()
os.kill(int(sys.argv[1]), signal.SIGTERM)
"""
"""Waits until whoever holds the other end of its standard input is gone."""
SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Guard:
    """Ends this process on a signal, once the work at hand has put away what it has."""

    def __init__(self, server_pid: int | None) -> None:
        self._server_pid = server_pid
        self._working = False

    @contextmanager
    def working(self) -> Iterator[None]:
        """Let a signal end the block as KeyboardInterrupt, and the process right after it."""
        self._working = True
        try:
            yield
        except KeyboardInterrupt:
            self._leave()
        finally:
            self._working = False

    def stop(self, _number: int, _frame: FrameType | None) -> None:
        """Handle a signal; further ones change nothing."""
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        if self._working:
            raise KeyboardInterrupt
        self._leave()

    def _leave(self) -> None:
        if self._server_pid is not None:
            with suppress(ProcessLookupError):
                os.kill(self._server_pid, signal.SIGTERM)
        sys.stderr.write("fusewright: interrupted: the same command goes on from here\n")
        sys.stderr.flush()
        os._exit(1)


def reach_server() -> None:
    """Reach the server that is named to Prefect, or start the one that it would start for a flow.

    Raises:
        ServerError: the one does not answer, or the other does not start.
    """
    if url := PREFECT_API_URL.value():
        with get_client(sync_client=True) as client:
            if failure := client.api_healthcheck():
                raise ServerError(
                    f"no Prefect server answers at PREFECT_API_URL '{url}' ({failure}): start it "
                    "with `prefect server start`, or unset PREFECT_API_URL to run without one"
                )
        return
    try:
        SubprocessASGIServer().start()
    except RuntimeError as error:
        raise ServerError(
            f"Prefect's own server did not start ({error}); run the same command again, with a "
            "larger PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS on a busy machine, or start "
            "`prefect server start` and set PREFECT_API_URL to the address that it prints"
        ) from error


@contextmanager
def guarded_server() -> Iterator[Guard]:
    """Tie the server of this process, if Prefect started one, to the life of this process."""
    server = SubprocessASGIServer().server_process
    guard = Guard(server.pid if server else None)
    before = {number: signal.signal(number, guard.stop) for number in SIGNALS}
    watcher = None
    if server:
        watcher = subprocess.Popen(  # noqa: S603 -- our own text
            [sys.executable, "-I", "-S", "-c", WATCHER, str(server.pid)],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )
    try:
        yield guard
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if watcher:
            watcher.kill()
            watcher.communicate()
