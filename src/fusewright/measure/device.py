"""The two kinds of device behind one face: what to wait for, how to time, what memory it held.

CUDA times are those of events around each call, on a queue that was filled beforehand and with a
cold L2 cache; CPU times are wall times of one thread with warm caches.
"""

import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import torch

Call = Callable[[], object]

FLUSH_BYTES = 256 * 2**20
"""More than twice the L2 cache of any current GPU (H200: 60 MB as PyTorch reports it)."""
PREFILL_CYCLES = 3_000_000
"""About 1.5 ms of an idle kernel, behind which the timed launches queue up (as nvbench does)."""


class Device(Protocol):
    """A device that one worker uses."""

    torch_device: torch.device
    identity: str
    """What tells this device from the others of the machine."""

    def describe(self) -> dict[str, Any]:
        """Name, and the versions that its timings depend on."""
        ...

    def synchronize(self) -> None:
        """Wait until everything that was launched has run."""
        ...

    def time(self, call: Call, repetitions: int) -> list[float]:
        """Milliseconds of each of *repetitions* calls."""
        ...

    def trim(self) -> None:
        """Give back memory that is held but not in use: others wait for the device."""
        ...

    def reset_peak(self) -> None:
        """Start to watch the memory held."""
        ...

    def peak_bytes(self) -> int | None:
        """Most memory held since on top of what was held then, where the device can tell."""
        ...


class Cpu:
    """One thread of the processor."""

    torch_device = torch.device("cpu")
    identity = "cpu"

    def __init__(self) -> None:
        torch.set_num_threads(1)

    def describe(self) -> dict[str, Any]:
        """Name, and the versions that its timings depend on."""
        return {"name": processor_name(), "torch": torch.__version__, "threads": 1}

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

    def trim(self) -> None:
        """Nothing is held back."""

    def reset_peak(self) -> None:
        """The counting run watches the tensors instead."""

    def peak_bytes(self) -> int | None:
        """Unknown to the processor."""
        return None


class Cuda:
    """One GPU, with TF32 on: the realistic baseline (KernelBench-Verified)."""

    torch_device = torch.device("cuda")

    def __init__(self) -> None:
        torch.set_num_threads(1)
        torch.set_float32_matmul_precision("high")
        torch.backends.cudnn.allow_tf32 = True
        self._flush = torch.empty(FLUSH_BYTES // 8, dtype=torch.int64, device="cuda")
        self._held_bytes = 0
        self.identity = f"cuda-{torch.cuda.get_device_properties().uuid}"

    def describe(self) -> dict[str, Any]:
        """Name, and the versions that its timings depend on."""
        return {
            "name": torch.cuda.get_device_name(),
            "torch": torch.__version__,
            "cuda": torch.version.cuda,
            "cudnn": torch.backends.cudnn.version(),
        }

    def synchronize(self) -> None:
        """Wait for the default stream and all others."""
        torch.cuda.synchronize()

    def time(self, call: Call, repetitions: int) -> list[float]:
        """Milliseconds of each of *repetitions* calls, by events, L2 flushed before each."""
        events = [
            (torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True))
            for _ in range(repetitions)
        ]
        torch.cuda._sleep(PREFILL_CYCLES)  # noqa: SLF001
        for begin, end in events:
            self._flush.zero_()
            begin.record()
            call()
            end.record()
        torch.cuda.synchronize()
        return [begin.elapsed_time(end) for begin, end in events]

    def trim(self) -> None:
        """Empty the allocator's cache."""
        torch.cuda.empty_cache()

    def reset_peak(self) -> None:
        """Start to watch the allocator."""
        torch.cuda.reset_peak_memory_stats()
        self._held_bytes = torch.cuda.memory_allocated()

    def peak_bytes(self) -> int | None:
        """Most bytes allocated since, on top of what was allocated then."""
        return torch.cuda.max_memory_allocated() - self._held_bytes


def open_device(kind: str) -> Device:
    """Take `cpu` or `cuda` into use in this process."""
    return Cuda() if kind == "cuda" else Cpu()


def processor_name() -> str:
    """Model name of the processor, or its architecture where the system does not tell."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else f"{platform.machine()} CPU, {os.cpu_count()} cores"
