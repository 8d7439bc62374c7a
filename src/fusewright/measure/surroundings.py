"""What a process shares with every candidate that it runs, and whether one has changed it.

A worker that was tampered with is let go; the next candidate finds another. Only what stays in
Python is seen: a candidate that wants to hide can, and no verdict rests on its honesty.
"""

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import torch
import torch._dynamo.config
import torch._inductor.config
from torch import nn
from torch.nn import functional

MODULES: tuple[Any, ...] = (torch, torch.cuda, nn, functional, time)
CLASSES: tuple[Any, ...] = (torch.Tensor, nn.Module)
"""Of these a candidate has no reason to bind a name anew, in classes nor one that is inherited."""
OF_DYNAMO = ("Module.__init__", "Module.__setstate__", "Module.___needs_generation_tag_patch")
OF_TQDM = "tqdm_monitor"
"""What the first compilation of a process brings with it: wrappers, and a thread."""


class Surroundings:
    """What there was when this was made."""

    def __init__(self) -> None:
        self._names = {space: dict(vars(space)) for space in (*MODULES, *CLASSES)}
        self._state = _state()

    def changed(self) -> str | None:
        """Name something that is other than it was; None if all is the same."""
        for space, names in self._names.items():
            now = vars(space)
            # What PyTorch imports late is new in a module, and changes nothing that there was.
            for name in {**names, **now} if space in CLASSES else names:
                bound = f"{space.__name__}.{name}"
                if now.get(name) is not names.get(name) and bound not in OF_DYNAMO:
                    return bound
        state = _state()
        return next((what for what in state if state[what] != self._state[what]), None)


def _state() -> dict[str, Any]:
    return {
        "environment": dict(os.environ),
        "folder": Path("/proc/self/cwd").readlink(),
        "signals": [signal.getsignal(number) for number in signal.valid_signals()],
        "threads": [t for t in threading.enumerate() if t.name != OF_TQDM],
        "torch._dynamo.config": torch._dynamo.config.get_config_copy(),  # noqa: SLF001
        "torch._inductor.config": torch._inductor.config.get_config_copy(),  # noqa: SLF001
    }
