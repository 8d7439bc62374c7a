"""Clocks, throttling and driver of an NVIDIA GPU, as NVML tells them, if it is there."""

import ctypes
from typing import Any

UUID_PREFIX = "GPU-"
SM_CLOCK, MEMORY_CLOCK = 1, 2
THROTTLES = {
    0x4: "power_cap",
    0x8: "hardware_slowdown",
    0x20: "thermal",
    0x40: "hardware_thermal",
    0x80: "power_brake",
}
"""Bits of `nvmlDeviceGetCurrentClocksThrottleReasons` that tell of a clock held down."""


class Clocks:
    """NVML's view of one GPU.

    Args:
        uuid: As PyTorch gives it, with or without `GPU-`.
    """

    def __init__(self, uuid: str) -> None:
        self._device = ctypes.c_void_p()
        try:
            self._nvml: Any = ctypes.CDLL("libnvidia-ml.so.1")
        except OSError:
            self._nvml = None
            return
        name = f"{UUID_PREFIX}{uuid.removeprefix(UUID_PREFIX)}".encode()
        if self._nvml.nvmlInit_v2() or self._nvml.nvmlDeviceGetHandleByUUID(
            name, ctypes.byref(self._device)
        ):
            self._nvml = None

    def describe(self) -> dict[str, Any]:
        """Version of the driver, and the highest clocks of the card in MHz."""
        if self._nvml is None:
            return {}
        version = ctypes.create_string_buffer(96)
        self._nvml.nvmlSystemGetDriverVersion(version, len(version))
        return {
            "driver": version.value.decode(),
            "max_sm_mhz": self._number("nvmlDeviceGetMaxClockInfo", SM_CLOCK),
            "max_memory_mhz": self._number("nvmlDeviceGetMaxClockInfo", MEMORY_CLOCK),
        }

    def read(self) -> dict[str, Any]:
        """Present clock of the multiprocessors in MHz, and what holds it down."""
        if self._nvml is None:
            return {}
        bits = ctypes.c_ulonglong()
        self._nvml.nvmlDeviceGetCurrentClocksThrottleReasons(self._device, ctypes.byref(bits))
        return {
            "sm_mhz": self._number("nvmlDeviceGetClockInfo", SM_CLOCK),
            "throttles": [name for bit, name in THROTTLES.items() if bits.value & bit],
        }

    def _number(self, function: str, *arguments: int) -> int | None:
        value = ctypes.c_uint()
        failed = getattr(self._nvml, function)(self._device, *arguments, ctypes.byref(value))
        return None if failed else int(value.value)
