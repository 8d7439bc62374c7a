"""Verdicts that the same edition of a source came to before, kept in the user's cache."""

import contextlib
import hashlib
import importlib.metadata
import importlib.util
import json
import os
import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fusewright.config import Plugin
from fusewright.operators.verdict import Verdict, read_verdict, write_verdict
from fusewright.records import Rejection
from fusewright.registry import OWN, entries
from fusewright.usercache import user_cache

LIBRARIES = ("torch", "transformers", "fusewright")
"""What every verdict depends on, where it is installed."""


@dataclass(frozen=True)
class Heard:
    """What one source yielded, and what became of it."""

    source: str
    verdicts: list[Verdict]


def find(plugin: Plugin) -> Heard | None:
    """What the present edition of *plugin* yielded before; None if that is not known for sure."""
    file = _file(plugin)
    if not file or not file.exists():
        return None
    try:
        named, *lines = map(json.loads, file.read_text().splitlines())
        return Heard(named["source"], [read_verdict(line) for line in lines])
    except (ValueError, LookupError, TypeError):
        # Whatever has become of the file, to ask the source again mends it.
        return None


def keep(plugin: Plugin, heard: Heard) -> None:
    """Put on the shelf what *plugin* yielded, in place of other editions of it.

    What took too long may be quicker next time: then nothing is kept.
    """
    file = _file(plugin)
    if not file or any(isinstance(v, Rejection) and v.reason == "timeout" for v in heard.verdicts):
        return
    lines = [{"source": heard.source}, *map(write_verdict, heard.verdicts)]
    # A home that cannot be written to costs time next time, and no run.
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        for other in file.parent.glob(f"{plugin.name}@*"):
            other.unlink()
        temporary = file.with_suffix(f".{os.getpid()}")
        temporary.write_text("".join(json.dumps(line) + "\n" for line in lines))
        temporary.replace(file)


def _file(plugin: Plugin) -> Path | None:
    name = edition(plugin)
    return user_cache() / "mine" / f"{plugin.name}@{name}.jsonl" if name else None


def edition(plugin: Plugin) -> str | None:
    """Hash of all that decides what *plugin* yields; None where that is more than its package.

    A file named in the config is read anew each time, and so is what a setting points to.
    """
    entry = entries("operators").get(plugin.name)
    package = entry.value.partition(":")[0].partition(".")[0].strip() if entry else ""
    if plugin.settings or not entry or not package.isidentifier():
        return None
    digest = hashlib.sha256(f"{entry.value} {platform.python_version()}".encode())
    for library in LIBRARIES:
        digest.update(f"{library} {_version(library)}\n".encode())
    for owner in sorted({OWN, package}):
        for file in _texts(owner):
            digest.update(f"{file} {file.stat().st_size}\n".encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def _version(library: str) -> str:
    try:
        return importlib.metadata.version(library)
    except importlib.metadata.PackageNotFoundError:
        return "none"


def _texts(package: str) -> Sequence[Path]:
    """Files of *package*, which is found without running it."""
    spec = importlib.util.find_spec(package)
    folders = spec.submodule_search_locations if spec else None
    if folders is None:
        return [Path(spec.origin)] if spec and spec.origin else []
    return sorted(file for folder in folders for file in _files(Path(folder)))


def _files(folder: Path) -> Iterator[Path]:
    return (f for f in folder.rglob("*") if f.is_file() and "__pycache__" not in f.parts)
