"""From a sample tensor to its spec, and back to a tensor drawn from a fixed seed."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from fusewright.records import TensorSpec

FLOATS = ("float32", "float64", "bfloat16", "float16")
DTYPES = (*FLOATS, "int64", "int32", "uint8", "bool")
"""Dtypes that an operator's inputs may have."""


def describe(tensor: Tensor, low: float | None = None, high: float | None = None) -> TensorSpec:
    """Spec of *tensor*; whole numbers keep the range of the sample, indices above all."""
    dtype = str(tensor.dtype).removeprefix("torch.")
    if dtype == "bool":
        low, high = None, None
    elif dtype not in FLOATS:
        low, high = value_range(tensor)
    return TensorSpec(shape=tuple(tensor.shape), dtype=dtype, low=low, high=high)


def value_range(tensor: Tensor) -> tuple[float, float]:
    """Least and greatest value of *tensor*, rounded inwards to three decimals; (0, 0) if empty."""
    if tensor.numel() == 0:
        return 0.0, 0.0
    low, high = float(tensor.min()), float(tensor.max())
    return math.ceil(low * 1e3) / 1e3, math.floor(high * 1e3) / 1e3


def draw(specs: Sequence[TensorSpec], floating: torch.dtype | None = None) -> list[Tensor]:
    """Make a tensor for each of *specs*, the same ones in every process.

    With *floating* the floating ones have that dtype instead of their own.
    """
    generator = torch.Generator().manual_seed(0)
    return [_draw(spec, generator, floating) for spec in specs]


def _draw(spec: TensorSpec, generator: torch.Generator, floating: torch.dtype | None) -> Tensor:
    dtype: torch.dtype = getattr(torch, spec.dtype)
    if dtype == torch.bool:
        return torch.rand(spec.shape, generator=generator) < 0.5  # noqa: PLR2004 -- a fair coin
    if dtype.is_floating_point:
        return _draw_floats(spec, generator).to(floating or dtype)
    low = int(spec.low or 0)
    high = low + 1 if spec.high is None else int(spec.high)
    return torch.randint(low, high + 1, spec.shape, generator=generator, dtype=dtype)


def _draw_floats(spec: TensorSpec, generator: torch.Generator) -> Tensor:
    if spec.low is not None and spec.high is not None:
        unit = torch.rand(spec.shape, generator=generator)
        return spec.low + (spec.high - spec.low) * unit
    normal = torch.randn(spec.shape, generator=generator)
    if spec.low is not None:
        return spec.low + normal.abs()
    return normal if spec.high is None else spec.high - normal.abs()
