"""What a worker may do: limits that hold for it and for everything it starts."""

import contextlib
import ctypes
import os
import resource
import signal
from collections.abc import Collection, Iterable
from pathlib import Path

from fusewright.measure import landlock, privileges, reach, seccomp

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
LARGEST_FILE_BYTES = 2**30
SPARE_TASKS = 4096
"""Processes and threads that the user may start on top of those that run: thousands for a compiler
and a few libraries, and none to bring a machine down with."""
KEPT_VARIABLES = (
    "PATH",
    "LANG",
    "LD_LIBRARY_PATH",
    "PYTHONPATH",
    "CUDA_VISIBLE_DEVICES",
    "CUDA_HOME",
)
"""All that a child sees of the environment: no token, no key, no home folder."""


def child_environment(scratch: str) -> dict[str, str]:
    """Environment of the measuring processes, with every cache in *scratch*."""
    kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    return kept | {
        **_search_path(),
        "HOME": scratch,
        "TMPDIR": scratch,
        "TORCHINDUCTOR_CACHE_DIR": f"{scratch}/inductor",
        "TRITON_CACHE_DIR": f"{scratch}/triton",
        "PYTORCH_KERNEL_CACHE_PATH": f"{scratch}/kernels",
        # One compile thread a worker: parallel workers are the parallelism, and the pool of
        # compile subprocesses would outlive a killed worker.
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        # Forked children inherit it: a check through NVML leaves CUDA uninitialised in the zygote.
        "PYTORCH_NVML_BASED_CUDA_CHECK": "1",
        "PYTHONHASHSEED": "0",
    }


def confine(
    scratch: Path, *, lent: Iterable[Path] = (), leases: Path | None = None
) -> dict[str, bool]:
    """Take from this process, for good, all that measuring does not need.

    Threads that run already may keep what they have, and native code can make them do its work:
    call it while there is only this one, which with CUDA means before its first use.

    Args:
        scratch: Folder that may be written to.
        lent: Files and folders that may be read besides programs and libraries.
        leases: Folder in which files may be made and locked, but not removed.

    Returns:
        Whether each of the isolations holds, by the names of `fusewright.measure.isolation`.
    """
    rules = [landlock.Rule(path, landlock.READ) for path in reach.readable()]
    rules += [landlock.Rule(path, landlock.USE) for path in reach.usable()]
    # CUDA does not start unless it may write the names of its threads.
    rules += [landlock.Rule(reach.own_process(), landlock.READ | landlock.USE)]
    rules += [landlock.Rule(path, landlock.READ) for path in lent]
    rules += [landlock.Rule(scratch, landlock.OWN)]
    rules += [landlock.Rule(leases, landlock.LOCK)] if leases else []
    unprivileged = privileges.drop()
    version = landlock.confine(rules)
    filtered = seccomp.install()
    return {
        "network": filtered,
        "services": filtered,
        # Landlock guards neither modes nor owners, and truncation only from its version 3 on.
        "files": version > 0 and filtered,
        "environment": version > 0,
        "signals": version >= landlock.SCOPES_SINCE,
        "syscalls": filtered,
        "privileges": unprivileged,
        "processes": _tasks_bounded(),
    }


def cut_network(*, new_user: bool) -> bool:
    """Leave this process and its children no network but a dead loopback; False if not allowed.

    Root may simply do so. Others may in a user namespace of their own (*new_user*), in which CUDA
    does not start.
    """
    unshare = ctypes.CDLL(None).unshare
    if unshare(CLONE_NEWNET) == 0:
        return True
    user, group = os.getuid(), os.getgid()
    if not new_user or unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0:
        return False
    # Without these lines our own files would belong to nobody.
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    return True


def adopt_orphans() -> None:
    """Become the parent of whatever a descendant leaves behind."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)


def keep_open(channel_fd: int) -> None:
    """Put standard input in place of every open file but *channel_fd* and devices."""
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            # The driver's own stay. A closed number would be given out again, while whoever
            # opened it here before would one day close it.
            if not str(link.readlink()).startswith("/dev/") and int(link.name) != channel_fd:
                os.dup2(0, int(link.name), inheritable=False)


def kill_children(spared: Collection[int] = ()) -> None:
    """End every child of this process but *spared*."""
    for pid in children() - set(spared):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def children() -> set[int]:
    """Pids of the children of this process; none where the kernel does not list them."""
    found: set[int] = set()
    for listed in Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found.update(int(pid) for pid in listed.read_text().split())
    return found


def die_with_parent() -> None:
    """Be killed when the process that forked this one ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def limit(memory_bytes: int, *, address_space: bool) -> None:
    """Bound core files, file sizes and, where nothing reserves memory for show, data.

    Args:
        memory_bytes: What the process may allocate on top of what it holds already.
        address_space: Whether to bound memory here. CUDA reserves far more than it uses, so that
            on a GPU only the supervisor's watch on resident memory bounds it.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE_BYTES, LARGEST_FILE_BYTES))
    _bound_tasks()
    if address_space:
        bound = _data_bytes() + memory_bytes
        resource.setrlimit(resource.RLIMIT_DATA, (bound, bound))


def resident_bytes(pid: int) -> int:
    """Memory that the process *pid* holds in RAM, 0 once it is gone."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_text().split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * resource.getpagesize()


def _search_path() -> dict[str, str]:
    """Keep `python -m` from looking in the working folder, which may hold anything."""
    entries = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    package_root = str(Path(__file__).resolve().parents[2])
    if package_root == os.path.realpath(os.curdir):
        entries.insert(0, package_root)
    return {"PYTHONSAFEPATH": "1", "PYTHONPATH": os.pathsep.join(entries)}


def _bound_tasks() -> None:
    """Let the user have so many tasks more than now, as far as this process is concerned."""
    _, most = resource.getrlimit(resource.RLIMIT_NPROC)
    bound = _user_tasks() + SPARE_TASKS
    if most == resource.RLIM_INFINITY or bound < most:
        resource.setrlimit(resource.RLIMIT_NPROC, (bound, bound))


def _tasks_bounded() -> bool:
    """Whether the kernel holds this user to a number of tasks: root it does not."""
    most, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    return os.getuid() != 0 and most != resource.RLIM_INFINITY


def _user_tasks() -> int:
    """Count the threads of all processes of this user."""
    found, user = 0, os.getuid()
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                task = Path(entry.path, "task").stat()
                # One link for each thread, beside the folder's own two.
                found += task.st_nlink - 2 if task.st_uid == user else 0
    return found


def _data_bytes() -> int:
    status = Path("/proc/self/status").read_text().splitlines()
    data_kb = next(line for line in status if line.startswith("VmData")).split()[1]
    return int(data_kb) * 1024
