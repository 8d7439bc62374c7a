"""`torch.compile` with the processor's part outside the lease and the device's part inside it."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn
from torch._dynamo.utils import counters
from torch._inductor.compile_fx import compile_fx
from torch._inductor.runtime.benchmarking import InductorBenchmarker

from fusewright.measure.lease import Lease


def compile_model(
    model: nn.Module, inputs: Sequence[Any], lease: Lease
) -> tuple[Callable[..., Any], int]:
    """Compile *model* in the default mode; the lease is held on return.

    Returns:
        The compiled model, already called once, and its number of graph breaks.
    """
    counters.clear()
    compiled = torch.compile(model, backend=_gated(lease), fullgraph=True, dynamic=False)
    try:
        compiled(*inputs)
    except torch._dynamo.exc.Unsupported:  # noqa: SLF001
        # A graph break is worth a count, not a rejection.
        torch._dynamo.reset()  # noqa: SLF001
        counters.clear()
        compiled = torch.compile(model, backend=_gated(lease), dynamic=False)
        compiled(*inputs)
    lease.acquire("timing")
    return compiled, sum(counters["graph_break"].values())


def gate_benchmarks(lease: Lease) -> None:
    """Make Inductor's own benchmarking of kernels take the lease, in this process."""
    stock = InductorBenchmarker.benchmark_gpu

    @functools.wraps(stock)
    def leased(*args: Any, **kwargs: Any) -> Any:
        held = lease.held
        lease.acquire("timing" if held else "compile")
        try:
            return stock(*args, **kwargs)
        finally:
            if not held:
                lease.release()

    InductorBenchmarker.benchmark_gpu = leased  # type: ignore[method-assign]


def _gated(lease: Lease) -> Callable[..., Any]:
    def backend(graph: torch.fx.GraphModule, examples: Sequence[Any]) -> Any:
        lease.leave("compile")
        compiled = compile_fx(graph, examples)
        lease.acquire("timing")
        return compiled

    return backend
