"""The parent side of mining one source: start its child, hear it, survive its death, go on."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from fusewright.config import Plugin
from fusewright.errors import UsageError
from fusewright.operators.strangers import lay_out
from fusewright.operators.verdict import Verdict, read_verdict, refuse, turn_away
from fusewright.texts import is_place

PATIENCE_S = 120.0
"""Longest wait for a source to start or to yield its next operator, seconds."""

MOST_OPERATORS = 10_000
"""Operators after which a source that goes on yielding is cut off; torch itself has some 450."""

_PASSED = ("PATH", "HOME", "LANG", "PYTHONPATH", "LD_LIBRARY_PATH")
_CHUNK_BYTES = 1 << 16

_LAST_WORDS = 300
"""Most characters of what a process wrote last that go into a message."""

_GRACE_S = 5.0
"""A process whose events have ended leaves within this time, a core dump included."""


class Child:
    """One source being asked, by one process after another: each death costs one operator."""

    def __init__(self, plugin: Plugin, timeout_s: float) -> None:
        self.verdicts: list[Verdict] = []
        self.done = False
        self.whole = False
        """Whether the source has come to its own end."""
        self.deadline = 0.0
        self.source = ""
        self.refused = False
        """Whether it cannot be asked at all."""
        self.gaps = ""
        """Which isolations do not hold for the process, where it was to be confined."""
        self._plugin = plugin
        self._process: subprocess.Popen[bytes] | None = None
        self._timeout_s = timeout_s
        self._next = 0
        self._begun: str | None = None
        self._unread = b""
        self._scratch = tempfile.TemporaryDirectory(prefix="fusewright-mine-")
        self._request: dict[str, Any] = plugin.model_dump()
        if is_place(plugin.name):
            try:
                self._request = lay_out(plugin, Path(self._scratch.name))
            except UsageError as error:
                self._refuse(str(error))
                return
        self._start()

    def fileno(self) -> int:
        """Where the events of the running process come from."""
        return self._events.fileno()

    def hear(self) -> None:
        """Take in what the process has said, or that it is gone."""
        said = os.read(self.fileno(), _CHUNK_BYTES)
        *lines, self._unread = (self._unread + said).split(b"\n")
        process = self._process
        for line in lines:
            # What is left of a process that was given up speaks for nothing.
            if not self.done and self._process is process:
                self._read(line)
        if not said and not self.done:
            self._lose("crash", self._epitaph())

    def overrun(self) -> None:
        """Give up on what the process is doing: its deadline has passed."""
        limit_s = self._timeout_s if self._begun else PATIENCE_S
        self._lose("timeout", f"it took over {limit_s:g} s")

    def stop(self) -> None:
        """End the process and everything it started."""
        if self._process:
            if self._process.poll() is None:
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._commands.close()
            self._events.close()
            self._errors.close()
        if self.done:
            self._scratch.cleanup()

    def _read(self, line: bytes) -> None:
        # A plug-in has the run of its own process, and may write where events are expected.
        try:
            self._note(json.loads(line))
        except (ValueError, LookupError, TypeError, ValidationError):
            self._lose("crash", "the process wrote what is no event")

    def _note(self, event: dict[str, Any]) -> None:
        limit_s = PATIENCE_S
        match event["event"]:
            case "refused":
                self._refuse(event["detail"])
            case "ready":
                self.source, self.gaps = event["name"], event["gaps"]
            case "begin":
                self._begun, self._next = event["name"], event["index"] + 1
                limit_s = self._timeout_s
            case "verdict":
                self._add(read_verdict(event))
                self._begun = None
            case "strange":
                self._add(
                    turn_away(self.source, str(event["index"]), "invalid_operator", event["detail"])
                )
                self._next = event["index"] + 1
            case "failed":
                self._end(event["detail"])
            case "end":
                self.done = self.whole = True
        self.deadline = time.monotonic() + limit_s

    def _lose(self, reason: str, detail: str) -> None:
        last_words = self._last_words()
        self.stop()
        if not self.source:
            self._refuse(
                f"operator source '{self._plugin.name}' cannot be asked: {detail}{last_words}"
            )
            return
        if self._begun is None:
            self._end(f"the source does not yield its next operator: {detail}")
            return
        self._add(turn_away(self.source, self._begun, reason, detail))
        self._begun = None
        self._start()

    def _refuse(self, detail: str) -> None:
        self.source = self._plugin.name
        self._add(refuse(self.source, detail))
        self.done = self.refused = True

    def _end(self, detail: str) -> None:
        self._add(turn_away(self.source, str(self._next), "invalid_operator", detail))
        self.done = True

    def _add(self, verdict: Verdict) -> None:
        self.verdicts.append(verdict)
        if len(self.verdicts) == MOST_OPERATORS and not self.done:
            self._next = MOST_OPERATORS
            self._end(f"the source yields {MOST_OPERATORS:,} operators and more: cut off there")

    def _epitaph(self) -> str:
        assert self._process
        try:
            code = self._process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            return "the process closed its output"
        if code < 0:
            return f"the process died of {signal.Signals(-code).name}"
        return f"the process left with exit code {code}"

    def _last_words(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return f" ({lines[-1][:_LAST_WORDS]})" if lines else ""

    def _environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in _PASSED if name in os.environ}
        if "texts" in self._request:
            kept |= dict.fromkeys(("HOME", "TMPDIR"), self._scratch.name)
        return kept | {"OMP_NUM_THREADS": "1"}

    def _start(self) -> None:
        self._unread = b""
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 -- stop closes it
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-W", "ignore", "-m", "fusewright.operators.probe"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=self._environment(),
            start_new_session=True,
        )
        assert self._process.stdin
        assert self._process.stdout
        self._commands, self._events = self._process.stdin, self._process.stdout
        request = json.dumps(self._request | {"skip": self._next})
        # A process that dies at once is heard of by the end of its events.
        with contextlib.suppress(BrokenPipeError):
            self._commands.write(f"{request}\n".encode())
            self._commands.flush()
        self.deadline = time.monotonic() + PATIENCE_S
