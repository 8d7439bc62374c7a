"""What this machine has, found out by trying."""

import importlib.metadata
import platform
import shutil
from dataclasses import dataclass
from typing import Literal

from fusewright.errors import MeasureError
from fusewright.measure.isolation import PROMISES, Isolation
from fusewright.measure.plan import Plan
from fusewright.measure.supervisor import Supervisor

PACKAGES = ("torch", "prefect", "datasets", "huggingface-hub", "polars")


@dataclass(frozen=True)
class Diagnosis:
    """One thing that a run needs or could use."""

    what: str
    state: Literal["ok", "missing", "absent"]
    """`missing` stops a run on the CPU; `absent` narrows what can be done."""
    detail: str


def examine() -> list[Diagnosis]:
    """Look for packages, a compiler and devices; takes some ten seconds."""
    found = [Diagnosis("python", "ok", platform.python_version())]
    found += [_package(name) for name in PACKAGES]
    compiler = shutil.which("g++") or shutil.which("clang++")
    found.append(
        Diagnosis("C++ compiler", "ok", compiler)
        if compiler
        else Diagnosis("C++ compiler", "missing", "torch.compile on a CPU needs g++: install it")
    )
    found += _device("cpu", "missing")
    if shutil.which("nvidia-smi"):
        return found + _device("cuda", "absent")
    return [*found, Diagnosis("cuda", "absent", "no NVIDIA driver: measure on the CPU")]


def _package(name: str) -> Diagnosis:
    try:
        return Diagnosis(name, "ok", importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        return Diagnosis(name, "missing", f"install it: `pip install {name}`")


def _device(kind: str, failed: Literal["missing", "absent"]) -> list[Diagnosis]:
    try:
        with Supervisor(Plan(device=kind)) as supervisor:
            peaks, name = supervisor.peaks, supervisor.device["name"]
            isolation = supervisor.isolation
    except MeasureError as error:
        return [Diagnosis(kind, failed, str(error))]
    reached = f"{peaks['bytes_per_s'] / 1e9:.0f} GB/s, {peaks['flops_per_s'] / 1e9:.0f} GFLOP/s"
    return [Diagnosis(kind, "ok", f"{name}: {reached}"), *_isolation(kind, isolation)]


def _isolation(kind: str, isolation: Isolation) -> list[Diagnosis]:
    """Say of each isolation on the device of that *kind* whether it holds."""
    return [
        Diagnosis(f"{kind}: {name}", "ok", promise.holds)
        if isolation.get(name)
        else Diagnosis(f"{kind}: {name}", "absent", f"it takes {promise.takes}")
        for name, promise in PROMISES.items()
    ]
