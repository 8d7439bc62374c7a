"""The parts of a benchmark: what each measures, by which command, and whether it is done.

A part leaves files in the raw folder: what it was asked (`.in.jsonl`), what came out (`.jsonl`),
what it was run with (`.about.json`) and what it said (`.log`).
"""

import hashlib
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import fusewright.measure
from fusewright.measure.__main__ import read_lines
from outcome import Line, Outcome, parse

END_S = 20.0
"""Time that a part which is cut short has to go."""
ENGINE = tuple(sorted(Path(fusewright.measure.__file__).parent.glob("*.py")))


@dataclass(frozen=True)
class Part:
    """One process that measures some problems in one way."""

    name: str
    problems: Sequence[Line]
    options: tuple[str, ...]
    """Of the command, besides where it reads and writes."""
    script: tuple[str, ...] = ("-m", "fusewright.measure")
    code: tuple[Path, ...] = ENGINE
    """Files whose text decides what comes out: with other ones it is measured anew."""
    goes_on: bool = False
    """Whether what an earlier sitting measured may stay: not where it is asked how long all take.
    """


@dataclass(frozen=True)
class Folder:
    """The raw folder, in which several sittings leave what they measured."""

    path: Path

    def outcome(self, name: str) -> Outcome | None:
        """What the part of that name has left so far."""
        return parse(read_lines(self._file(name, "jsonl")))

    def about(self, name: str) -> Line:
        """What the part of that name was run with; empty if it was not."""
        file = self._file(name, "about.json")
        noted: Line = json.loads(file.read_text()) if file.exists() else {}
        return noted

    def missing(self, part: Part) -> list[str]:
        """Keys of the problems that have no verdict yet by the present code and options."""
        present = {"code": digest(part.code), "options": list(part.options)}
        outcome, about = self.outcome(part.name), self.about(part.name)
        same = present.items() <= about.items()
        decided = {v["key"] for v in outcome.verdicts} if outcome and same else set()
        return [problem["key"] for problem in part.problems if problem["key"] not in decided]

    def run(self, part: Part, limit_s: float | None) -> str | None:
        """Measure what is missing; returns how the process failed, None if it did not."""
        self.path.mkdir(parents=True, exist_ok=True)
        if not part.goes_on or len(self.missing(part)) == len(part.problems):
            self._file(part.name, "jsonl").unlink(missing_ok=True)
        source, target = self._file(part.name, "in.jsonl"), self._file(part.name, "jsonl")
        write_lines(source, part.problems)
        self._file(part.name, "about.json").write_text(json.dumps(circumstances(part), indent=1))
        files = ["--in", str(source), "--out", str(target)]
        with self._file(part.name, "log").open("w") as log:
            process = subprocess.Popen(
                [sys.executable, *part.script, *files, *part.options], stdout=log, stderr=log
            )
            return _wait(process, limit_s)

    def _file(self, name: str, kind: str) -> Path:
        return self.path / f"{name}.{kind}"


def circumstances(part: Part) -> Line:
    """What a part is run with, here and now."""
    return {
        "code": digest(part.code),
        "options": list(part.options),
        "asked": len(part.problems),
        "date": datetime.now(UTC).date().isoformat(),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
    }


def digest(files: Iterable[Path]) -> str:
    """Twelve hex digits of the hash of what *files* hold, one after the other."""
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


def write_lines(path: Path, lines: Iterable[Line]) -> None:
    """Write one line of JSON for each of *lines*."""
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def shuffled(problems: Iterable[Line], salt: str) -> list[Line]:
    """Bring *problems* into an order that depends on their keys and on *salt* alone."""

    def place(problem: Line) -> str:
        return hashlib.sha256(f"{salt} {problem['key']}".encode()).hexdigest()

    return sorted(problems, key=place)


def _wait(process: subprocess.Popen[bytes], limit_s: float | None) -> str | None:
    try:
        status = process.wait(limit_s)
    except subprocess.TimeoutExpired:
        process.terminate()
        process.wait(END_S)
        return f"was cut short after {limit_s:g} s"
    except BaseException:
        process.terminate()
        process.wait(END_S)
        raise
    return f"ended with status {status}" if status else None
