"""What an operator does, as the aten calls that it makes: equal for two names of one thing."""

import hashlib
import itertools
from collections.abc import Iterable
from types import NoneType
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

_DATA_DEPENDENT = {torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape}
_LITERALS = (int, float, complex, str, NoneType, torch.dtype, torch.device, torch.layout)
_SILENT = ("aten.detach.", "aten.alias.", "aten.lift_fresh.")

UNORDERED = frozenset(
    f"aten.{call}"
    for call in (
        "bincount.default",
        "cumsum.default",
        "histc.default",
        "index_add.default",
        "index_copy.default",
        "index_put.default",
        "index_reduce.default",
        "max_unpool2d.default",
        "max_unpool3d.default",
        "median.dim",
        "nanmedian.dim",
        "nll_loss2d_forward.default",
        "put.default",
        "scatter.src",
        "scatter_add.default",
        "scatter_reduce.two",
    )
)
"""Calls whose result on CUDA may depend on the order of additions or writes; no CPU shows it.

Source: https://docs.pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html,
the entries that concern a forward call.
"""


class Trace(TorchDispatchMode):
    """Writes down each aten call: tensors by order of appearance and rank, the rest by value.

    A tensor that is neither *variable* nor computed is a constant, and counts by its values too.
    """

    def __init__(self, variable: Iterable[Tensor]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.lines: list[str] = []
        self.names: set[str] = set()
        self.data_dependent = False
        # Held, or a freed tensor's id could come back as another tensor's.
        self._held = list(variable)
        self._variable = {id(tensor) for tensor in self._held}
        self._index: dict[int, int] = {}
        self._fresh = itertools.count()

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Run *func* and note it."""
        given = f"{self._say(args)} {self._say(kwargs or {})}"
        out = func(*args, **(kwargs or {}))
        self.data_dependent |= not _DATA_DEPENDENT.isdisjoint(func.tags)
        self.names.add(str(func))
        if str(func).startswith(_SILENT):
            self._number(out, self._index[id(args[0])])
        else:
            self._variable |= {id(leaf) for leaf in tree_leaves(out) if isinstance(leaf, Tensor)}
            self.lines.append(f"{func} {given} -> {self._say(out)}")
        return out

    def _say(self, value: Any) -> str:
        if isinstance(value, Tensor):
            if id(value) not in self._index:
                self._number(value, next(self._fresh))
                if id(value) not in self._variable:
                    self.lines.append(f"constant {_digest(value)}")
            return f"t{self._index[id(value)]}:{value.dim()}:{value.dtype}"
        if isinstance(value, (list, tuple)):
            return f"[{' '.join(self._say(item) for item in value)}]"
        if isinstance(value, dict):
            return " ".join(f"{key}={self._say(value[key])}" for key in sorted(value))
        # Any other object would print its address.
        return repr(value) if isinstance(value, _LITERALS) else type(value).__name__

    def _number(self, tensor: Tensor, index: int) -> None:
        self._held.append(tensor)
        self._index[id(tensor)] = index


def _digest(tensor: Tensor) -> str:
    words = [f"{value:.6g}" for value in tensor.flatten().tolist()]
    return hashlib.sha256(" ".join(words).encode()).hexdigest()
