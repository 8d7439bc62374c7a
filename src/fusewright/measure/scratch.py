"""The folders of a run and of each worker: where caches lie, and what of them outlives whom."""

import contextlib
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

HEADERS = "precompiled_headers"
"""Part of Inductor's cache that the zygote makes for all, since it costs seconds."""
KERNELS = "kernels"
"""Folder of the kernels that PyTorch compiles when they are first called: made once, for all."""
CACHES = ("inductor", "triton")


def made_for_all(scratch: Path) -> list[Path]:
    """What workers may read of the folder of their run."""
    return [*scratch.glob(f"*/{HEADERS}"), *scratch.glob(KERNELS)]


def environment(scratch: Path, device: str, index: int) -> dict[str, str]:
    """Variables of a worker that writes to *scratch* alone, and sees one GPU."""
    changed = {
        "HOME": str(scratch),
        "TMPDIR": str(scratch),
        "TORCHINDUCTOR_CACHE_DIR": str(scratch / "inductor"),
        "TRITON_CACHE_DIR": str(scratch / "triton"),
    }
    if device == "cuda":
        visible = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
        # Past the last one nothing is visible, which PyTorch tells of better than we could.
        chosen = visible[index : index + 1] if any(visible) else [str(index)]
        changed["CUDA_VISIBLE_DEVICES"] = "".join(chosen)
    return changed


def enter(scratch: Path, device: str, index: int) -> None:
    """Make *scratch* the place where this process works and writes."""
    os.environ.update(environment(scratch, device, index))
    # Python has looked this up already, in the process that this one was forked from.
    tempfile.tempdir = None
    os.chdir(scratch)
    _move_headers(scratch / "inductor" / HEADERS)


def _move_headers(folder: Path) -> None:
    """Let Inductor, which has looked this up as well, write precompiled headers to *folder*."""
    codecache: Any = sys.modules.get("torch._inductor.codecache")
    if codecache:
        codecache._HEADER_DIR = str(folder)  # noqa: SLF001
        codecache._HEADER_LOCK_DIR = str(folder / "locks")  # noqa: SLF001


def empty(scratch: Path) -> None:
    """Remove what a candidate left in *scratch*, but for the caches, which go with the worker.

    The compilers keep in memory which kernels they have, and look for their files.
    """
    for path in scratch.iterdir():
        if path.name not in CACHES:
            with contextlib.suppress(OSError):
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink()
