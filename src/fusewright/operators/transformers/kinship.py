"""What a module computes, so that one computation is vendored once."""

import hashlib
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from fusewright.operators.expression import Runnable
from fusewright.operators.samples import draw
from fusewright.operators.trace import Trace
from fusewright.records import Operator

_WIDE = 8.0
"""The samples reach this far: relu and relu6 are equal on a standard normal."""

_FAMILIES: tuple[tuple[str, tuple[tuple[str, ...], ...]], ...] = (
    ("attention", (("scaled_dot_product",), ("mm.", "_softmax."))),
    ("conv", (("aten.convolution",), ("aten.mkldnn_convolution",))),
    ("matmul", (("mm.",), ("einsum",))),
    ("embedding", (("aten.embedding",),)),
    ("pool", (("pool",),)),
    ("norm", (("_norm.",), ("rsqrt",), ("aten.var",))),
    ("softmax", (("_softmax.",),)),
    ("scan", (("aten.cum",),)),
    ("resample", (("upsample",), ("grid_sampler",))),
    ("reduction", (("aten.mean",), ("aten.sum",), ("aten.amax",))),
    ("indexing", (("aten.gather",), ("aten.index",))),
)
"""Families by the calls that mark them, the heaviest first."""


@dataclass(frozen=True)
class Kin:
    """What is equal for two spellings of one computation."""

    values: str
    """Hash of its outputs on a wide sample, parameters drawn anew."""
    family: str
    """Family by the calls that it makes."""


def kin(operator: Operator) -> Kin:
    """Run *operator*, a sound one, and say what it computes. Call it in a child."""
    runnable = Runnable(operator)
    module, tensors = runnable.build(), draw(operator.inputs, torch.float64)
    assert module
    with Trace([]) as trace:
        runnable.run(draw(operator.inputs), module)
    _scatter(module.double())
    wide = [t * _WIDE if t.is_floating_point() else t for t in tensors]
    words = [_say(leaf) for leaf in tree_leaves(runnable.run(wide, module))]
    return Kin(_hash(words), _family(trace.names))


def _scatter(module: nn.Module) -> None:
    """Move each parameter, so that no weight of one and no bias of zero hides what it does."""
    generator = torch.Generator().manual_seed(0)
    for parameter in module.parameters():
        noise = torch.randn(parameter.shape, generator=generator, dtype=parameter.dtype)
        parameter.data += 0.25 * noise


def _say(leaf: Any) -> str:
    if not isinstance(leaf, Tensor):
        return repr(leaf)
    numbers = " ".join(f"{value + 0.0:.6g}" for value in leaf.double().flatten().tolist())
    return f"{tuple(leaf.shape)} {numbers}"


def _hash(words: list[str]) -> str:
    return hashlib.sha256("\n".join(words).encode()).hexdigest()[:16]


def _family(calls: set[str]) -> str:
    for family, marks in _FAMILIES:
        if any(all(any(word in call for call in calls) for word in mark) for mark in marks):
            return family
    return "elementwise"
