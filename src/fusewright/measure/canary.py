"""Work that never changes, timed again and again: it tells when the device itself has changed."""

import statistics

import torch

from fusewright.measure.device import Device

REPETITIONS = 15
MATRIX_SIZE = {"cpu": 512, "cuda": 4096}
COPY_BYTES = {"cpu": 2**25, "cuda": 2**30}


def sing(device: Device) -> dict[str, float]:
    """Median times in milliseconds of a bfloat16 matrix product and of a copy."""
    kind = device.torch_device.type
    size = MATRIX_SIZE[kind]
    matrix = torch.randn(size, size, device=device.torch_device).to(torch.bfloat16)
    source = torch.ones(COPY_BYTES[kind] // 4, device=device.torch_device)
    target = torch.empty_like(source)
    times = {}
    for name, call in (
        ("matmul_ms", lambda: matrix @ matrix),
        ("copy_ms", lambda: target.copy_(source)),
    ):
        device.time(call, REPETITIONS)
        times[name] = statistics.median(device.time(call, REPETITIONS))
    return times
