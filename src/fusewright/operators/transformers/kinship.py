"""What a module computes, so that one computation is vendored once."""

import ast
import hashlib
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from fusewright.identity.text import canonical, text_hash
from fusewright.operators.expression import Runnable
from fusewright.operators.samples import draw
from fusewright.operators.trace import Trace
from fusewright.operators.transformers.unfit import AliasError
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


class Relatives:
    """What has been vendored so far, by every key that tells a computation."""

    def __init__(self) -> None:
        self._keepers: dict[str, str] = {}

    def claim(self, name: str, keys: Sequence[str]) -> None:
        """Note that *name* computes what *keys* tell.

        Raises:
            AliasError: Another name has one of the keys.
        """
        for key in keys:
            keeper = self._keepers.get(key)
            if keeper:
                raise AliasError(f"equal to {keeper} by its {key.partition(' ')[0]}")
        self._keepers |= dict.fromkeys(keys, name)


def text_key(source_code: str) -> str:
    """Key of a text that names, numbers, and defaults of constructors do not change."""
    tree = ast.parse(source_code)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            node.args.defaults = [ast.Constant(0) for _ in node.args.defaults]
            node.args.kw_defaults = [d and ast.Constant(0) for d in node.args.kw_defaults]
    return f"text {text_hash(canonical(ast.unparse(tree), numbers=False))}"


def value_key(operator: Operator) -> str:
    """Hash of what *operator*, a sound one, gives on a wide sample. Call it in a child."""
    runnable = Runnable(operator)
    module, tensors = runnable.build(), draw(operator.inputs, torch.float64)
    assert module
    _scatter(module.double())
    wide = [t * _WIDE if t.is_floating_point() else t for t in tensors]
    words = [_say(leaf) for leaf in tree_leaves(runnable.run(wide, module))]
    return hashlib.sha256("\n".join(words).encode()).hexdigest()[:16]


def family(operator: Operator) -> str:
    """Family of *operator* by the calls that it makes. Call it in a child."""
    runnable = Runnable(operator)
    module = runnable.build()
    with Trace([]) as trace:
        runnable.run(draw(operator.inputs), module)
    for name, marks in _FAMILIES:
        if any(all(any(word in call for call in trace.names) for word in mark) for mark in marks):
            return name
    return "elementwise"


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
