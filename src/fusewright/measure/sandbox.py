"""What a worker may do: limits that hold for it and for everything it starts."""

import contextlib
import ctypes
import os
import resource
import signal
from collections.abc import Collection
from pathlib import Path

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
LARGEST_FILE_BYTES = 2**30
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
        "HOME": scratch,
        "TMPDIR": scratch,
        "TORCHINDUCTOR_CACHE_DIR": f"{scratch}/inductor",
        "TRITON_CACHE_DIR": f"{scratch}/triton",
        # One compile thread a worker: parallel workers are the parallelism, and the pool of
        # compile subprocesses would outlive a killed worker.
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        # Forked children inherit it: a check through NVML leaves CUDA uninitialised in the zygote.
        "PYTORCH_NVML_BASED_CUDA_CHECK": "1",
        "PYTHONHASHSEED": "0",
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


def _data_bytes() -> int:
    status = Path("/proc/self/status").read_text().splitlines()
    data_kb = next(line for line in status if line.startswith("VmData")).split()[1]
    return int(data_kb) * 1024
