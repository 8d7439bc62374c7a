"""What a confined worker may open: programs and what describes the machine, and no one's data.

The home folder, `/tmp`, `/run` and `/var` are not among it, nor are the command lines of other
processes in `/proc`. A Python environment or a checkout inside the home folder is, and what lies
beside it is not.
"""

import contextlib
import os
import pwd
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

PROGRAMS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/nix/store", "/gnu/store")
"""Installed software, which holds no user's data."""
SETTINGS = (
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld.so.preload"),
    *("/etc/localtime", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/nvidia"),
)
"""What the loader and the C library read; the rest of `/etc` may hold keys, and root reads them."""
MACHINE = (
    *("/proc/cpuinfo", "/proc/devices", "/proc/driver", "/proc/filesystems", "/proc/loadavg"),
    *("/proc/meminfo", "/proc/modules", "/proc/stat", "/proc/sys", "/proc/uptime", "/proc/version"),
    *("/sys/bus", "/sys/class", "/sys/dev", "/sys/devices", "/sys/fs/cgroup", "/sys/module"),
    *("/sys/kernel/mm", "/dev/random", "/dev/urandom"),
)
DEVICES = ("null", "zero", "full", "dxg", "nvidia*", "nvidia*/*")
"""Patterns in `/dev` of what is written to as well; `dxg` is a GPU for Linux inside Windows."""
SEARCH_VARIABLES = ("PATH", "LD_LIBRARY_PATH", "CUDA_HOME")
OVERBROAD = ("/", "/dev", "/etc", "/home", "/proc", "/run", "/tmp", "/var/tmp")  # noqa: S108
"""Folders that no search path opens as a whole, nor any that holds one of them."""


def readable() -> Iterator[Path]:
    """Yield what may be read and run."""
    home = home_folder()
    for folder in PROGRAMS:
        yield from around(Path(folder), home)
    yield from map(Path, SETTINGS + MACHINE)
    yield from searched(home)
    yield Path(__file__).resolve().parents[1]


def usable() -> Iterator[Path]:
    """Yield the devices that may be read, written and controlled."""
    for pattern in DEVICES:
        yield from Path("/dev").glob(pattern)


def own_process() -> Path:
    """Folder of this process in `/proc`, which keeps its identity until the process ends."""
    # The kernel may forget the folder and make another one of that name, unless someone holds it.
    held = os.open("/proc/self", os.O_PATH | os.O_DIRECTORY)
    return Path(f"/proc/self/fd/{held}")


def searched(home: Path | None) -> Iterator[Path]:
    """Yield the folders in which Python, the loader and the shell look, but none that is broad."""
    entries = [*sys.path, sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix]
    for variable in SEARCH_VARIABLES:
        entries += os.environ.get(variable, "").split(os.pathsep)
    closed = {Path(folder) for folder in OVERBROAD} | ({home} if home else set())
    for entry in dict.fromkeys(entries):
        folder = Path(entry)
        # An empty entry stands for the working folder, whatever that is.
        if entry and folder.is_absolute() and not _opens(folder.resolve(), closed):
            yield folder


def around(folder: Path, hole: Path | None) -> Iterator[Path]:
    """Yield *folder*, or what lies beside the way to *hole* if the hole is inside it."""
    if hole is None or not _opens(folder.resolve(), {hole}):
        yield folder
    elif folder.resolve() != hole:
        with contextlib.suppress(OSError):
            for entry in folder.iterdir():
                yield from around(entry, hole)


def home_folder() -> Path | None:
    """Home folder of the user, whatever the environment says; None where there is none to guard."""
    try:
        home = Path(pwd.getpwuid(os.getuid()).pw_dir).resolve()
        # The accounts of services name folders of the system, which belong to root.
        own = home.stat().st_uid == os.getuid()
    except (KeyError, OSError, RuntimeError):
        return None
    return home if own and home != Path("/") else None


def _opens(folder: Path, closed: Iterable[Path]) -> bool:
    """Whether *folder* is or holds one of *closed*, or is a home folder by its place."""
    return folder.parent == Path("/home") or any(
        folder == place or folder in place.parents for place in closed
    )
