"""What a fake Hub remembers: repos of commits, each with its whole tree, and their tags."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

Kind = Literal["model", "dataset", "space"]
BRANCH = "main"
FIRST_FILES = {".gitattributes": b"*.parquet filter=lfs diff=lfs merge=lfs -text\n"}
"""What the real Hub puts into a new repo."""


class Refused(Exception):  # noqa: N818 -- an answer, and no fault of the fake
    """A request that the Hub turns down: a status, and the code that its client goes by."""

    def __init__(self, status: int, code: str, message: str = "") -> None:
        super().__init__(message or code)
        self.status = status
        self.code = code


@dataclass(frozen=True)
class Blob:
    """The bytes of one file, and by which road they came."""

    data: bytes
    lfs: bool

    @cached_property
    def git(self) -> str:
        """Hash that git gives the bytes."""
        header = b"blob %d\0" % len(self.data)
        return hashlib.sha1(header + self.data, usedforsecurity=False).hexdigest()

    @cached_property
    def sha256(self) -> str:
        """Hash that large file storage gives the bytes."""
        return hashlib.sha256(self.data).hexdigest()

    @property
    def name(self) -> str:
        """Hash that the Hub tells a client, which compares it with its own file."""
        return self.sha256 if self.lfs else self.git


@dataclass(frozen=True)
class Commit:
    """One commit with its whole tree."""

    oid: str
    message: str
    files: Mapping[str, Blob]


class Repo:
    """Commits on one branch, oldest first, and the tags that point at them."""

    def __init__(self, *, private: bool = False) -> None:
        self.private = private
        self.commits: list[Commit] = []
        self.tags: dict[str, str] = {}
        self.commit({path: Blob(data, lfs=False) for path, data in FIRST_FILES.items()}, "init")

    @property
    def head(self) -> str:
        """Newest commit."""
        return self.commits[-1].oid

    @property
    def files(self) -> Mapping[str, Blob]:
        """Tree of the newest commit."""
        return self.commits[-1].files

    def at(self, revision: str) -> Commit:
        """Find the commit that a branch, a tag or a hash names.

        Raises:
            Refused: There is none.
        """
        oid = self.head if revision == BRANCH else self.tags.get(revision, revision)
        for commit in self.commits:
            if commit.oid == oid:
                return commit
        raise Refused(404, "RevisionNotFound")

    def commit(
        self, changes: Mapping[str, Blob | None], message: str, parent: str | None = None
    ) -> Commit:
        """Put *changes* (None deletes) on the head, which must be *parent* where that is given.

        Raises:
            Refused: The head is another.
        """
        if parent is not None and parent != self.head:
            raise Refused(412, "Conflict", f"expected {self.head}, got {parent}")
        tree = dict(self.files) if self.commits else {}
        merged = {**tree, **changes}
        files = {path: blob for path, blob in sorted(merged.items()) if blob is not None}
        listing = "".join(f"{path} {blob.name}\n" for path, blob in files.items())
        text = f"{len(self.commits)} {message}\n{listing}".encode()
        oid = hashlib.sha1(text, usedforsecurity=False).hexdigest()
        self.commits.append(Commit(oid, message, files))
        return self.commits[-1]

    def tag(self, name: str, revision: str) -> None:
        """Set a tag.

        Raises:
            Refused: It stands already, or there is no such revision.
        """
        if name in self.tags:
            raise Refused(409, "Conflict", f"tag {name} exists")
        self.tags[name] = self.at(revision).oid


class Store:
    """The repos of a fake Hub, and the large files that were uploaded and not yet committed."""

    def __init__(self) -> None:
        self.repos: dict[tuple[Kind, str], Repo] = {}
        self.large: dict[str, bytes] = {}

    def create(self, kind: Kind, name: str, *, private: bool = False) -> Repo:
        """Make the repo *name* (`OWNER/NAME`).

        Raises:
            Refused: There is one already.
        """
        if (kind, name) in self.repos:
            raise Refused(409, "Conflict", f"{kind} {name} exists")
        repo = self.repos[kind, name] = Repo(private=private)
        return repo

    def dataset(self, name: str) -> Repo:
        """Find a dataset by name, for a test to look at."""
        return self.repos["dataset", name]
