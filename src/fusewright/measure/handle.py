"""The supervisor's view of one worker: its socket, its work, and its deadline."""

import contextlib
import json
import math
import os
import secrets
import signal
import socket
import time
from dataclasses import dataclass, field
from typing import Any

Message = dict[str, Any]

READ_BYTES = 65536
LARGEST_MESSAGE_BYTES = 4 * 2**20
"""A verdict is a few kilobytes; a worker that sends more has lost its mind."""


@dataclass
class Handle:
    """One worker, and the request it is at."""

    pid: int
    channel: socket.socket
    device: int = 0
    ready: bool = False
    served: int = 0
    request: Message | None = None
    token: str = ""
    phase: str = "build"
    begun: bool = False
    """Whether the worker has said that it is at its request."""
    idle_waits: int = 0
    """How often in a row it was seen waiting for a device that nobody else held."""
    looked_at: float = -math.inf
    since: float = field(default_factory=time.monotonic)
    _spent_s: dict[str, float] = field(default_factory=dict)
    _buffer: bytes = b""

    def send(self, request: Message) -> None:
        """Give the worker its next request, with a token that its verdict has to bring back."""
        self.request = request
        self.token = secrets.token_hex(8)
        self.served += 1
        self._spent_s, self.idle_waits, self.begun = {}, 0, False
        self.phase, self.since = "build", time.monotonic()
        # A worker that died unasked is noticed when its socket is read.
        with contextlib.suppress(OSError):
            line = json.dumps({**request, "token": self.token})
            self.channel.sendall(line.encode() + b"\n")

    def enter(self, phase: str) -> None:
        """Let the clock of *phase* run; one that is entered again goes on where it stood."""
        now = time.monotonic()
        self._spent_s[self.phase] = self._spent_s.get(self.phase, 0.0) + now - self.since
        self.phase, self.since, self.begun = phase, now, True
        if phase != "waiting":
            self.idle_waits = 0

    def receive(self) -> list[Message] | None:
        """Messages that have arrived; None when the worker has hung up.

        Raises:
            ValueError: What arrived is no message.
        """
        try:
            received = self.channel.recv(READ_BYTES)
        except ConnectionResetError:
            received = b""
        if not received:
            return None
        *lines, self._buffer = (self._buffer + received).split(b"\n")
        if len(self._buffer) > LARGEST_MESSAGE_BYTES:
            raise ValueError(f"a message of over {LARGEST_MESSAGE_BYTES} bytes, expected a verdict")
        return [_parse(line) for line in lines]

    def elapsed_s(self) -> float:
        """Seconds that the request has spent in its phase, all visits together."""
        return self._spent_s.get(self.phase, 0.0) + time.monotonic() - self.since

    def kill(self) -> None:
        """End the worker and whatever it started."""
        for end in (os.killpg, os.kill):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                end(self.pid, signal.SIGKILL)
        self.channel.close()


def _parse(line: bytes) -> Message:
    try:
        message = json.loads(line)
    except RecursionError as error:
        raise ValueError("a message nested beyond reading") from error
    if not isinstance(message, dict):
        raise ValueError(f"a message of type {type(message).__name__}, expected an object")  # noqa: TRY004
    return message


def describe_exit(status: int | None) -> str:
    """Say how a process ended, from its wait status."""
    if status is None:
        return "the worker hung up"
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        # Real-time signals, but for the first and the last one, have no name.
        named = -code in set(signal.Signals)
        name = signal.Signals(-code).name if named else f"signal {-code}"
        return f"the worker was killed by {name}"
    return f"the worker exited with status {code}"
