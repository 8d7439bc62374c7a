"""What has to change on the Hub for a dataset there to equal a release folder; sends nothing."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

KEPT = frozenset({".gitattributes"})
"""Files that the Hub itself puts into every dataset: no release has them, and none deletes them."""

KILO = 1000


@dataclass(frozen=True)
class File:
    """One file of a release folder, with the two names that the Hub may know its bytes by."""

    path: str
    """Path inside the folder, with forward slashes."""
    size_bytes: int
    sha256: str
    """What the Hub calls a large file."""
    blob: str
    """What git, and so the Hub, calls a small file."""


@dataclass(frozen=True)
class Remote:
    """What a dataset on the Hub holds."""

    head: str | None
    """Newest commit; None before the first."""
    private: bool
    names: Mapping[str, str]
    """Path to SHA-256 or git hash."""
    tags: Mapping[str, str]
    """Tag to commit."""


@dataclass(frozen=True)
class Plan:
    """What publishing does."""

    repo: str
    tag: str | None
    head: str | None
    """Commit that the changes are made on; None where there is none yet."""
    added: tuple[File, ...]
    changed: tuple[File, ...]
    deleted: tuple[str, ...]
    unchanged: int
    note: str = ""
    """What a reader should know of how the plan was made."""

    @property
    def sends(self) -> tuple[File, ...]:
        """Files that travel."""
        return self.added + self.changed

    @property
    def size_bytes(self) -> int:
        """Bytes that travel at most."""
        return sum(file.size_bytes for file in self.sends)

    @property
    def empty(self) -> bool:
        """Whether the dataset holds the release already."""
        return not self.sends and not self.deleted

    def counts(self) -> str:
        """Say in one line how much changes."""
        return (
            f"{len(self.added)} added, {len(self.changed)} changed, {len(self.deleted)} deleted, "
            f"{self.unchanged} unchanged, {in_words(self.size_bytes)} to send"
        )

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"{self.repo}, on {self.head[:7]}" if self.head else f"{self.repo}, as a first commit"
        for verb, files in (("add", self.added), ("change", self.changed)):
            for file in files:
                yield f"  {verb:<7} {file.path}  {in_words(file.size_bytes)}"
        for path in self.deleted:
            yield f"  delete  {path}"
        if self.tag:
            yield f"  tag     {self.tag}"
        yield self.counts()
        if self.note:
            yield self.note


@dataclass(frozen=True)
class Receipt:
    """What publishing did."""

    plan: Plan
    revision: str | None
    """Commit that holds the release; None after a dry run."""
    url: str = ""
    """Where to look at it."""

    def __str__(self) -> str:
        if self.revision is None:
            return f"{self.plan}\ndry run: nothing was sent"
        tagged = f", tagged {self.plan.tag}" if self.plan.tag else ""
        at = f"{self.plan.repo} at {self.revision[:7]}{tagged}"
        if self.plan.empty:
            return f"{at} holds this release already: no commit was made\n{self.url}"
        return f"published {at}: {self.plan.counts()}\n{self.url}"


def read_folder(folder: Path) -> list[File]:
    """Hash every file of *folder* but the hidden ones, sorted by path."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    parts = [(path, path.relative_to(folder)) for path in paths]
    return [
        _read(path, name.as_posix())
        for path, name in parts
        if not any(part.startswith(".") for part in name.parts)
    ]


def compare(repo: str, tag: str | None, files: Sequence[File], remote: Remote | None) -> Plan:
    """Plan to make *remote* (None: not created yet) equal *files*."""
    names = remote.names if remote else {}
    new = [file for file in files if file.path not in names]
    known = [file for file in files if file.path in names]
    changed = [file for file in known if names[file.path] not in (file.sha256, file.blob)]
    present = {file.path for file in files}
    return Plan(
        repo=repo,
        tag=tag,
        head=remote.head if remote else None,
        added=tuple(new),
        changed=tuple(changed),
        deleted=tuple(sorted(names.keys() - present - KEPT)),
        unchanged=len(known) - len(changed),
    )


def in_words(size_bytes: int) -> str:
    """Write a size with the unit that fits."""
    size, units = float(size_bytes), iter(("B", "kB", "MB", "GB"))
    unit = next(units)
    while size >= KILO and unit != "GB":
        size, unit = size / KILO, next(units)
    return f"{size:.0f} B" if unit == "B" else f"{size:.1f} {unit}"


def _read(path: Path, name: str) -> File:
    content = path.read_bytes()
    # Git's own naming, which is no matter of security.
    blob = hashlib.sha1(b"blob %d\0" % len(content), usedforsecurity=False)
    blob.update(content)
    return File(name, len(content), hashlib.sha256(content).hexdigest(), blob.hexdigest())
