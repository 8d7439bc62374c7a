"""Watch what PyTorch dispatches: the counting behind `roofline.count`."""

import math
import weakref
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry, sdpa_flop_count

CREATION = frozenset({"empty", "empty_like", "new_empty", "empty_strided", "lift_fresh", "detach"})
"""Operators that move nothing."""


class CountingMode(TorchDispatchMode):
    """Count FLOPs, kernels and live bytes of everything dispatched while it is on."""

    def __init__(self, held_bytes: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.flops = 0
        self.kernels = 0
        self.peak_bytes = self._live_bytes = held_bytes
        self._seen: set[int] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        if not _is_kernel(func):
            return result
        self.kernels += 1
        self.flops += _flops(func._overloadpacket, args, kwargs, result)  # noqa: SLF001
        given = {id(t.untyped_storage()) for t in tensors_in((args, kwargs))}
        for tensor in tensors_in(result):
            self._watch(tensor.untyped_storage(), given)
        return result

    def _watch(self, storage: Any, given: set[int]) -> None:
        if id(storage) in given or id(storage) in self._seen:
            return
        self._seen.add(id(storage))
        self._live_bytes += storage.nbytes()
        self.peak_bytes = max(self.peak_bytes, self._live_bytes)
        weakref.finalize(storage, self._drop, id(storage), storage.nbytes())

    def _drop(self, identity: int, size_bytes: int) -> None:
        self._seen.discard(identity)
        self._live_bytes -= size_bytes


def _is_kernel(func: Any) -> bool:
    # Tensors without data are asked by way of operators for what others hold in a field: `prim`.
    silent = func.is_view or func.namespace == "prim"
    return not silent and func._overloadpacket.__name__ not in CREATION  # noqa: SLF001


def _flops(packet: Any, args: Any, kwargs: Any, result: Any) -> int:
    if packet is torch.ops.aten._scaled_dot_product_flash_attention_for_cpu:  # noqa: SLF001
        # PyTorch's registry knows the kernels of attention on a GPU alone.
        return int(sdpa_flop_count(*(operand.shape for operand in args[:3])))
    formula = flop_registry.get(packet)
    return int(formula(*args, **kwargs, out_val=result)) if formula else 0


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """Tensors in nested tuples, lists and dicts, depth first."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        yield from (tensor for item in value.values() for tensor in tensors_in(item))
    elif isinstance(value, list | tuple):
        yield from (tensor for item in value for tensor in tensors_in(item))


def size_bytes(tensor: torch.Tensor) -> int:
    """Bytes that a tensor holds, dimensions that are merely expanded counted once."""
    sizes = (n for n, stride in zip(tensor.shape, tensor.stride(), strict=True) if stride)
    return math.prod(sizes) * tensor.element_size()
