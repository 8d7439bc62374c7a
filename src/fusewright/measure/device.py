"""What a worker asks of a device; and the processor as one: wall times of a thread, caches warm."""

import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import torch

from fusewright.measure.plan import Plan

Call = Callable[[], object]


class Device(Protocol):
    """A device that one worker uses."""

    torch_device: torch.device
    identity: str
    """What tells this device from the others of the machine."""

    def describe(self) -> dict[str, Any]:
        """Name, and the versions that its timings depend on."""
        ...

    def configure(self) -> None:
        """Set what timings depend on, whatever a candidate has made of it."""
        ...

    def load(self) -> None:
        """Load what the first candidate would else wait for, and with it everybody."""
        ...

    def synchronize(self) -> None:
        """Wait until everything that was launched has run."""
        ...

    def time(self, call: Call, repetitions: int) -> list[float]:
        """Milliseconds of each of *repetitions* calls."""
        ...

    def allow(self, share: float) -> None:
        """Let this process hold *share* of the device's memory from now on."""
        ...

    def trim(self) -> None:
        """Give back memory that is held but not in use: others wait for the device."""
        ...

    def shortages(self) -> int:
        """How often memory was asked for in vain, by whom one would not hear of it too."""
        ...

    def clocks(self) -> dict[str, Any]:
        """`sm_mhz` and `throttles` at this moment, where the device tells."""
        ...

    def reset_peak(self) -> None:
        """Start to watch the memory held."""
        ...

    def peak_bytes(self) -> int | None:
        """Most memory held since on top of what was held then, where the device can tell."""
        ...


class Cpu:
    """One thread of the processor.

    Args:
        index: Tells one set of workers from another, as the number of a card does.
    """

    torch_device = torch.device("cpu")

    def __init__(self, index: int = 0) -> None:
        self.configure()
        self.identity = f"cpu-{index}"

    def describe(self) -> dict[str, Any]:
        """Name, and the versions that its timings depend on."""
        return {"name": processor_name(), "torch": torch.__version__, "threads": 1}

    def configure(self) -> None:
        """Keep to one thread."""
        torch.set_num_threads(1)

    def load(self) -> None:
        """The process that forks the workers has done so."""

    def synchronize(self) -> None:
        """Nothing runs on behind a call."""

    def time(self, call: Call, repetitions: int) -> list[float]:
        """Milliseconds of each of *repetitions* calls, by the wall clock."""
        times_ms = []
        for _ in range(repetitions):
            begin = time.perf_counter()
            call()
            times_ms.append((time.perf_counter() - begin) * 1e3)
        return times_ms

    def allow(self, share: float) -> None:
        """The limit of the process bounds its memory already."""

    def trim(self) -> None:
        """Nothing is held back."""

    def shortages(self) -> int:
        """None but those that raise."""
        return 0

    def clocks(self) -> dict[str, Any]:
        """Unknown to the processor."""
        return {}

    def reset_peak(self) -> None:
        """The counting run watches the tensors instead."""

    def peak_bytes(self) -> int | None:
        """Unknown to the processor."""
        return None


def open_device(plan: Plan) -> Device:
    """Take the device of *plan* into use in this process."""
    if plan.device == "cpu":
        return Cpu(plan.index)
    # Its imports and its context are of no use to a CPU.
    from fusewright.measure.cuda import Cuda

    return Cuda(plan.device_share)


def processor_name() -> str:
    """Model name of the processor, or its architecture where the system does not tell."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else f"{platform.machine()} CPU, {os.cpu_count()} cores"
