"""One NVIDIA GPU: its times are those of events, on a filled queue and with a cold L2 cache."""

import time
from collections import deque
from typing import Any

import torch

from fusewright.measure.clocks import Clocks
from fusewright.measure.device import Call
from fusewright.measure.kernels import load_kernels

FLUSH_BYTES = 128 * 2**20
"""More than twice the L2 cache of any current GPU (H200: 60 MB as PyTorch reports it)."""
LEAST_PREFILL_MS, MOST_PREFILL_MS = 0.2, 1.5
"""Length of an idle kernel behind which the timed launches queue up (as nvbench does): twice what
the slowest of the last launches took, within these. The device must not wait for the processor."""
REMEMBERED = 4
"""Launches that count: eager and compiled take turns, and differ."""
CYCLES_PER_MS = 2_000_000
"""Of a multiprocessor, at the clock that the fastest current card reaches."""


class Cuda:
    """The first visible GPU, with TF32 on: the realistic baseline (KernelBench-Verified).

    Args:
        share: Share of its memory that this process may hold.
    """

    torch_device = torch.device("cuda")

    def __init__(self, share: float) -> None:
        self.configure()
        self.allow(share)
        self._flush = torch.empty(FLUSH_BYTES // 8, dtype=torch.int64, device="cuda")
        self._launches_ms = deque([MOST_PREFILL_MS], REMEMBERED)
        self._held_bytes = 0
        uuid = str(torch.cuda.get_device_properties().uuid)
        self._clocks = Clocks(uuid)
        self.identity = f"cuda-{uuid}"

    def describe(self) -> dict[str, Any]:
        """Name, and the versions that its timings depend on."""
        return {
            "name": torch.cuda.get_device_name(),
            "torch": torch.__version__,
            "cuda": torch.version.cuda,
            "cudnn": torch.backends.cudnn.version(),
            **self._clocks.describe(),
        }

    def configure(self) -> None:
        """TF32 on, algorithms by cuDNN's heuristics alone, one thread."""
        torch.set_num_threads(1)
        torch.set_float32_matmul_precision("high")
        torch.backends.cudnn.allow_tf32 = True
        torch.backends.cudnn.benchmark = False
        torch.backends.cudnn.deterministic = False

    def load(self) -> None:
        """Load libraries and kernels.

        It takes no lease: of what is timed meanwhile one call in some 300 takes 0.4 ms longer,
        which moves no median, and it would hold the device for seconds.
        """
        load_kernels(self.torch_device)
        torch.cuda.synchronize()
        torch.cuda.empty_cache()

    def synchronize(self) -> None:
        """Wait for the default stream and all others."""
        torch.cuda.synchronize()

    def time(self, call: Call, repetitions: int) -> list[float]:
        """Milliseconds of each of *repetitions* calls, by events, L2 flushed before each."""
        events = [
            (torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True))
            for _ in range(repetitions)
        ]
        prefill_ms = min(MOST_PREFILL_MS, max(LEAST_PREFILL_MS, 2 * max(self._launches_ms)))
        torch.cuda._sleep(int(prefill_ms * CYCLES_PER_MS))  # noqa: SLF001
        launches_ms = []
        for begin, end in events:
            self._flush.zero_()
            begin.record()
            since = time.perf_counter()
            call()
            launches_ms.append((time.perf_counter() - since) * 1e3)
            end.record()
        torch.cuda.synchronize()
        # Once the queue is full a launch waits for the device: the first tells what it takes.
        self._launches_ms.append(launches_ms[0])
        return [begin.elapsed_time(end) for begin, end in events]

    def allow(self, share: float) -> None:
        """Let this process hold *share* of the card's memory from now on."""
        torch.cuda.set_per_process_memory_fraction(share)

    def trim(self) -> None:
        """Empty the allocator's cache: filling it again takes 0.2 ms a block."""
        torch.cuda.empty_cache()

    def shortages(self) -> int:
        """How often memory was asked for in vain.

        cuDNN does so too: where the workspace of its fastest algorithm finds no room it takes a
        slower one, and says nothing.
        """
        return int(torch.cuda.memory_stats()["num_ooms"])

    def clocks(self) -> dict[str, Any]:
        """`sm_mhz` and `throttles` at this moment, where NVML tells."""
        return self._clocks.read()

    def reset_peak(self) -> None:
        """Start to watch the allocator."""
        torch.cuda.reset_peak_memory_stats()
        self._held_bytes = torch.cuda.memory_allocated()

    def peak_bytes(self) -> int | None:
        """Most bytes allocated since, on top of what was allocated then."""
        return torch.cuda.max_memory_allocated() - self._held_bytes
