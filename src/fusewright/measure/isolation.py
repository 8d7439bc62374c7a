"""The isolations that a worker may have: what each keeps from a candidate, and what it takes."""

from collections.abc import Mapping
from typing import NamedTuple

Isolation = Mapping[str, bool]
"""Which isolations hold, by name."""


class Promise(NamedTuple):
    """One isolation in words."""

    holds: str
    """What is true of a candidate where it holds."""
    takes: str
    """What a machine without it lacks."""


_LANDLOCK = "a kernel with Landlock (Linux 5.13)"
_SECCOMP = "system call filters (seccomp) on x86_64 or aarch64"

PROMISES = {
    "network": Promise("candidates have no network, loopback included", _SECCOMP),
    "services": Promise("candidates reach no socket of another program", _SECCOMP),
    "files": Promise(
        "candidates cannot read the home folder, and write to their scratch folder alone",
        f"{_LANDLOCK} and {_SECCOMP}",
    ),
    "environment": Promise(
        "candidates cannot read the environment or the memory of another process", _LANDLOCK
    ),
    "signals": Promise(
        "candidates cannot signal a process outside", "Landlock's version 6 (Linux 6.12)"
    ),
    "syscalls": Promise(
        "candidates cannot trace, mount, load into the kernel or make namespaces", _SECCOMP
    ),
    "privileges": Promise(
        "candidates hold no privilege but root's to files, and gain none",
        "a kernel that lets a process give up its capabilities",
    ),
    "processes": Promise(
        "candidates cannot start processes without end",
        "another user than root, whom no limit on processes binds",
    ),
}


def gaps(isolation: Isolation) -> str:
    """Name in one line what does not hold; empty where all does."""
    lacking = [name for name in PROMISES if not isolation.get(name)]
    return f"candidates are not isolated in: {', '.join(lacking)}" if lacking else ""
