"""Data types that problems compute in, and what each does to the rules."""

from typing import Literal, NamedTuple

Dtype = Literal["float32", "bfloat16", "float16"]


class Lane(NamedTuple):
    """One data type: what grading forgives in it, and what fits it."""

    dtype: Dtype = "float32"
    item_bytes: int = 4
    leniency: float = 1.0
    """Tolerance of grading over that in float32, which is 1e-3."""
    peak: float = 1e12
    """Greatest element at all: in float32, sums of its square still fit."""

    lacks: frozenset[str] = frozenset()
    """Operators that PyTorch does not compute in it, on a processor at the least."""


FLOAT32 = Lane()
_WHOLE_ONLY = frozenset(
    ["torch.special.log_ndtr", "torch.cdist", "nn.LocalResponseNorm", "F.avg_pool3d",
     "nn.AvgPool3d"]
)  # fmt: skip
LANES: dict[Dtype, Lane] = {
    "float32": FLOAT32,
    "bfloat16": Lane("bfloat16", 2, 10.0, lacks=_WHOLE_ONLY),
    "float16": Lane("float16", 2, 10.0, 6e4, _WHOLE_ONLY),
}
"""Lanes by data type."""
