"""Which aten calls Inductor leaves to PyTorch's own kernels: it can fuse nothing into those."""

from typing import Any

from torch._C import DispatchKey
from torch._inductor.decomposition import select_decomp_table
from torch._inductor.lowering import lowerings
from torch.utils._python_dispatch import TorchDispatchMode


class Lowering(TorchDispatchMode):
    """Runs each call as Inductor would write it, and notes the calls that it only passes on.

    Read from Inductor's tables, and so true of a GPU on a machine that has none: some kernels that
    it writes for CUDA, scans and Bessel functions among them, it leaves to PyTorch on a CPU.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.fallbacks: set[str] = set()
        self._decompositions = select_decomp_table()

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Run *func*, by its parts where Inductor takes it apart."""
        given = kwargs or {}
        decompose = self._decompositions.get(func)
        if decompose is None and _is_composite(func):
            decompose = func.decompose
        if decompose:
            with self:
                out = decompose(*args, **given)
            if out is not NotImplemented:
                return out
        if _passed_on(func):
            self.fallbacks.add(str(func))
        return func(*args, **given)


def _is_composite(func: Any) -> bool:
    return bool(func.has_kernel_for_dispatch_key(DispatchKey.CompositeImplicitAutograd))


def _passed_on(func: Any) -> bool:
    lowering = lowerings.get(func)
    if lowering:
        return getattr(lowering, "_is_fallback_handler", False)
    # What writes in place becomes a call that does not; what is composed in Python is taken apart
    # later. A Python kernel that only tells shapes says nothing.
    composed = set(func.py_kernels) - {DispatchKey.Meta}
    return not (func._schema.is_mutable or composed)  # noqa: SLF001
