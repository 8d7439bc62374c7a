"""Keep workers busy, and turn their deaths, hangs and excesses into verdicts.

The supervisor never imports PyTorch and never touches a device. One candidate that kills, blocks or
bloats its worker costs that worker and itself; the worker is forked anew. A time-out or a lack of
memory is believed only when it comes again with nothing beside the candidate.
"""

import contextlib
import json
import os
import select
import selectors
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any, Self

from fusewright.errors import MeasureError
from fusewright.measure import sandbox
from fusewright.measure.handle import Handle, Message, describe_exit
from fusewright.measure.plan import Plan

TICK_S = 0.05
BOOT_S = 180.0
"""Longest time to import PyTorch and compile once; about 12 s on two cores."""
EXIT_NOTICE_S = 2.0
WAITING_S = 3600.0
"""Longest wait for the device. Other runs may hold it as well, each hold bounded by a deadline, so
that only a holder that escaped its supervisor makes this a limit."""
DOUBTFUL = ("timeout", "out_of_memory")
"""Reasons that a neighbour can bring about; they are believed when they come again alone."""
DEADLINES_S = {"build": 30.0, "eager": 60.0, "compile": 120.0, "timing": 60.0}


class Supervisor:
    """Worker processes for one device; use it as a context manager.

    Args:
        plan: What the workers are told; its scratch folder is made here.
        workers: How many candidates are in flight at once.
        recycle_after: Candidates after which a worker is replaced.
        deadlines_s: Longest time of each phase, seconds.
    """

    def __init__(
        self,
        plan: Plan,
        workers: int = 1,
        recycle_after: int = 100,
        deadlines_s: Mapping[str, float] = DEADLINES_S,
    ) -> None:
        self._workers = workers
        self._recycle_after = recycle_after
        self._deadlines_s = {**deadlines_s, "waiting": WAITING_S}
        self._plan = plan
        self._handles: dict[int, Handle] = {}
        self._exits: dict[int, int] = {}
        self._selector = selectors.DefaultSelector()
        self.device: dict[str, Any] = {}
        self.peaks: dict[str, float] = {}
        self.network_cut = False

    def __enter__(self) -> Self:
        self._plan = replace(self._plan, scratch=tempfile.mkdtemp(prefix="fusewright-"))
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, "-m", "fusewright.measure.zygote", str(theirs.fileno())]
        self._zygote = subprocess.Popen(  # noqa: S603 -- our own module
            [*command, json.dumps(asdict(self._plan))],
            pass_fds=[theirs.fileno()],
            env=sandbox.child_environment(self._plan.scratch),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        theirs.close()
        try:
            self.network_cut = bool(self._wait_for("ready", BOOT_S)["network_cut"])
            self._measure_peaks()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for handle in list(self._handles.values()):
            self._drop(handle)
        self._control.close()
        self._selector.close()
        # Its control socket closed, the zygote ends by itself.
        try:
            self._zygote.wait(timeout=EXIT_NOTICE_S)
        except subprocess.TimeoutExpired:
            self._zygote.kill()
            self._zygote.wait()
        if self._zygote.stderr:
            self._zygote.stderr.close()
        shutil.rmtree(self._plan.scratch, ignore_errors=True)

    def measure(self, candidates: Iterable[Message]) -> Iterator[Message]:
        """Yield one verdict for each of *candidates* (`key`, `code`), as they are decided.

        A verdict has `key` and either `measurement` or `rejection`.

        Raises:
            MeasureError: The process that forks workers has died.
        """
        retries: list[Message] = []
        for verdict in self._run(deque(candidates), self._workers):
            if verdict.get("rejection", {}).get("reason") in DOUBTFUL:
                retries.append(verdict["request"])
            else:
                yield _stripped(verdict)
        for request in retries:
            yield from map(_stripped, self._run(deque([request]), 1))

    def _run(self, queue: deque[Message], workers: int) -> Iterator[Message]:
        """Decide everything in *queue* with at most *workers* at work."""
        while queue or any(handle.request for handle in self._handles.values()):
            self._assign(queue, workers)
            for key, _ in self._selector.select(TICK_S):
                yield from self._read(key.data)
            for handle in list(self._handles.values()):
                yield from self._watch(handle)
            self._read_control()

    def _assign(self, queue: deque[Message], workers: int) -> None:
        idle = [handle for handle in self._handles.values() if not handle.request]
        for handle in idle:
            if handle.served >= self._recycle_after:
                self._drop(handle)
        busy = sum(1 for handle in self._handles.values() if handle.request)
        while queue and busy < workers:
            free = (handle for handle in self._handles.values() if not handle.request)
            handle = next(free, None) or self._fork()
            handle.send({"task": "measure", "peaks": self.peaks, **queue.popleft()})
            busy += 1

    def _read(self, handle: Handle) -> Iterator[Message]:
        try:
            messages = handle.receive()
        except ValueError as error:
            yield from self._fail(handle, "crash", f"the worker sent garbage: {error}")
            return
        if messages is None:
            yield from self._fail(handle, "crash", describe_exit(self._exit_status(handle.pid)))
            return
        for message in messages:
            if "phase" in message:
                handle.enter(str(message["phase"]))
            elif handle.request and message.get("token") == handle.token:
                yield {**message, "key": handle.request["key"], "request": handle.request}
                handle.request = None
                if message.get("last"):
                    self._drop(handle)
                    return

    def _watch(self, handle: Handle) -> Iterator[Message]:
        if not handle.request:
            return
        allowed_s = self._deadlines_s.get(handle.phase, 0.0)
        held_bytes, limit_bytes = sandbox.resident_bytes(handle.pid), self._plan.memory_bytes
        if handle.elapsed_s() > allowed_s:
            detail = f"{handle.phase} took over {allowed_s:g} s"
            yield from self._fail(handle, "timeout", detail, handle.elapsed_s(), allowed_s)
        elif held_bytes > limit_bytes:
            detail = f"the worker holds {held_bytes / 1e9:.1f} GB, over {limit_bytes / 1e9:g} GB"
            yield from self._fail(
                handle, "out_of_memory", detail, held_bytes / 1e9, limit_bytes / 1e9
            )

    def _fail(
        self,
        handle: Handle,
        reason: str,
        detail: str,
        value: float | None = None,
        limit: float | None = None,
    ) -> Iterator[Message]:
        """Give up on a worker, and reject what it was at."""
        request = handle.request
        self._drop(handle)
        if request:
            finding = {"reason": reason, "detail": detail, "value": value, "limit": limit}
            yield {"key": request["key"], "rejection": finding, "request": request}

    def _fork(self) -> Handle:
        ours, theirs = socket.socketpair()
        socket.send_fds(self._control, [json.dumps({"worker": 0}).encode()], [theirs.fileno()])
        theirs.close()
        handle = Handle(self._wait_for("forked", BOOT_S)["pid"], ours)
        self._handles[handle.pid] = handle
        self._selector.register(ours, selectors.EVENT_READ, handle)
        return handle

    def _drop(self, handle: Handle) -> None:
        self._handles.pop(handle.pid, None)
        with contextlib.suppress(KeyError, ValueError):
            self._selector.unregister(handle.channel)
        handle.kill()

    def _measure_peaks(self) -> None:
        handle = self._fork()
        handle.send({"task": "peaks", "key": "peaks"})
        begin = time.monotonic()
        while not self.peaks:
            if time.monotonic() - begin > BOOT_S:
                raise MeasureError(f"device '{self._plan.device}' gave no answer in {BOOT_S:g} s")
            if not select.select([handle.channel], [], [], TICK_S)[0]:
                continue
            messages = handle.receive()
            if messages is None:
                status = describe_exit(self._exit_status(handle.pid))
                raise MeasureError(f"device '{self._plan.device}' cannot be used: {status}")
            for message in messages:
                if "unusable" in message:
                    detail = message["unusable"]
                    raise MeasureError(f"device '{self._plan.device}' cannot be used: {detail}")
                if "peaks" in message:
                    self.peaks, self.device = message["peaks"], message["device"]
        handle.request = None

    def _exit_status(self, pid: int) -> int | None:
        begin = time.monotonic()
        while pid not in self._exits and time.monotonic() - begin < EXIT_NOTICE_S:
            self._read_control(TICK_S)
        return self._exits.pop(pid, None)

    def _wait_for(self, what: str, limit_s: float) -> Message:
        begin = time.monotonic()
        while time.monotonic() - begin < limit_s:
            message = self._read_control(TICK_S)
            if message and what in message:
                return message
        raise MeasureError(f"the process that forks workers did not answer within {limit_s:g} s")

    def _read_control(self, wait_s: float = 0.0) -> Message | None:
        readable, _, _ = select.select([self._control], [], [], wait_s)
        if not readable:
            return None
        received = self._control.recv(65536)
        if not received:
            raise MeasureError(f"the process that forks workers has died: {self._last_words()}")
        message: Message = json.loads(received)
        if "exited" in message:
            self._exits[message["exited"]] = message["status"]
        return message

    def _last_words(self) -> str:
        if not self._zygote.stderr:
            return "no message"
        os.set_blocking(self._zygote.stderr.fileno(), False)
        lines = (self._zygote.stderr.read() or b"").decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "no message"


def _stripped(verdict: Message) -> Message:
    return {name: verdict[name] for name in ("key", "measurement", "rejection") if name in verdict}
