"""The supervisor's view of the zygote: ask it for workers, and learn how they ended."""

import json
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, replace

from fusewright.errors import MeasureError
from fusewright.measure import sandbox
from fusewright.measure.handle import Handle, Message
from fusewright.measure.lease import lease_folder
from fusewright.measure.plan import Plan

BOOT_S = 180.0
"""Longest time to import PyTorch and compile once; about 12 s on two cores."""
EXIT_NOTICE_S = 2.0
SEND_S = 10.0
"""Longest time to hand over a request: a long text waits for the worker to read."""
TICK_S = 0.05


class ForkerDiedError(MeasureError):
    """The process that forks workers is gone, and every worker with it."""


class Forker:
    """One zygote and its scratch folder; close it in the end.

    Raises:
        MeasureError: It does not get ready.
    """

    def __init__(self, plan: Plan) -> None:
        leases = plan.leases or lease_folder()
        scratch = tempfile.mkdtemp(prefix="fusewright-")
        self.plan = replace(plan, scratch=scratch, leases=leases)
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._exits: dict[int, int] = {}
        self._forked = 0
        command = [sys.executable, "-m", "fusewright.measure.zygote", str(theirs.fileno())]
        self._zygote = subprocess.Popen(  # noqa: S603 -- our own module
            [*command, json.dumps(asdict(self.plan))],
            pass_fds=[theirs.fileno()],
            env=sandbox.child_environment(self.plan.scratch),
            # A signal to our process group must not keep it from cleaning up.
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        theirs.close()
        try:
            self.network_cut = bool(self._wait_for("ready", 1)["network_cut"])
        except BaseException:
            self.close()
            raise

    def fork(self, device: int) -> Handle:
        """Start a worker for the device of that number."""
        ours, theirs = socket.socketpair()
        ours.settimeout(SEND_S)
        self._forked += 1
        message = {"worker": self._forked, "device": device}
        try:
            socket.send_fds(self._control, [json.dumps(message).encode()], [theirs.fileno()])
        except OSError as error:
            raise self._death() from error
        finally:
            theirs.close()
        pid = self._wait_for("forked", self._forked)["pid"]
        # Numbers come again: what is known of this one is of a worker before.
        self._exits.pop(pid, None)
        return Handle(pid, ours, device)

    def exit_status(self, pid: int) -> int | None:
        """Wait status of a worker that has hung up; None if it is not told soon."""
        begin = time.monotonic()
        while pid not in self._exits and time.monotonic() - begin < EXIT_NOTICE_S:
            self.listen(TICK_S)
        return self._exits.pop(pid, None)

    def listen(self, wait_s: float = 0.0) -> Message | None:
        """Take one message of the zygote, if there is one.

        Raises:
            ForkerDiedError: It has hung up.
        """
        readable, _, _ = select.select([self._control], [], [], wait_s)
        if not readable:
            return None
        received = self._control.recv(65536)
        if not received:
            raise self._death()
        message: Message = json.loads(received)
        if "exited" in message:
            self._exits[message["exited"]] = message["status"]
        return message

    def close(self) -> None:
        """End the zygote and all of its workers, and remove what they wrote."""
        # Its control socket closed, the zygote ends by itself.
        self._control.close()
        try:
            self._zygote.wait(timeout=EXIT_NOTICE_S)
        except subprocess.TimeoutExpired:
            self._zygote.kill()
            self._zygote.wait()
        if self._zygote.stderr:
            self._zygote.stderr.close()
        shutil.rmtree(self.plan.scratch, ignore_errors=True)

    def _wait_for(self, name: str, value: int) -> Message:
        begin = time.monotonic()
        while time.monotonic() - begin < BOOT_S:
            message = self.listen(TICK_S)
            if message and message.get(name) == value:
                return message
        raise MeasureError(f"the process that forks workers did not answer within {BOOT_S:g} s")

    def _death(self) -> ForkerDiedError:
        return ForkerDiedError(f"the process that forks workers has died: {self._last_words()}")

    def _last_words(self) -> str:
        if not self._zygote.stderr:
            return "no message"
        os.set_blocking(self._zygote.stderr.fileno(), False)
        lines = (self._zygote.stderr.read() or b"").decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "no message"
