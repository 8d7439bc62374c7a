"""What a device reaches here and now: the peaks that rooflines are drawn with."""

import torch

from fusewright.measure.device import Call, Device
from fusewright.roofline import Peaks

REPETITIONS = 7
COPY_BYTES = {"cpu": 2**27, "cuda": 2**30}
MATRIX_SIZE = {"cpu": 1024, "cuda": 8192}
"""Large enough to leave the caches of each kind of device, small enough for 0.2 s in all."""


def measure_peaks(device: Device) -> Peaks:
    """Copy bandwidth and float32 matrix throughput, each the best of seven runs."""
    kind = device.torch_device.type
    source = torch.ones(COPY_BYTES[kind] // 4, device=device.torch_device)
    target = torch.empty_like(source)
    copy_ms = _best_ms(device, lambda: target.copy_(source))
    size = MATRIX_SIZE[kind]
    matrix = torch.randn(size, size, device=device.torch_device)
    matmul_ms = _best_ms(device, lambda: matrix @ matrix)
    return Peaks(
        bytes_per_s=2 * COPY_BYTES[kind] / copy_ms * 1e3,
        flops_per_s=2 * size**3 / matmul_ms * 1e3,
    )


def _best_ms(device: Device, call: Call) -> float:
    device.time(call, 2)
    # A peak is what the device can reach: whatever slowed the other runs is no property of it.
    return min(device.time(call, REPETITIONS))
