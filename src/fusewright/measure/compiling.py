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
    graphs: list[torch.fx.GraphModule] = []
    backend = _gated(lease, graphs)
    compiled = torch.compile(model, backend=backend, fullgraph=True, dynamic=False)
    breaks = 0
    try:
        compiled(*inputs)
    except torch._dynamo.exc.Unsupported:  # noqa: SLF001
        # A graph break is worth a count, not a rejection.
        torch._dynamo.reset()  # noqa: SLF001
        counters.clear()
        graphs.clear()
        # What lies between the graphs runs on the device before any of them is compiled.
        lease.acquire("timing")
        compiled = torch.compile(model, backend=backend, dynamic=False)
        compiled(*inputs)
        breaks = max(1, sum(counters["graph_break"].values()))
    if not graphs:
        raise RuntimeError("torch.compile finds no graph in forward, and would run it eagerly")
    lease.acquire("timing")
    return compiled, breaks


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


def _gated(lease: Lease, graphs: list[torch.fx.GraphModule]) -> Callable[..., Any]:
    def backend(graph: torch.fx.GraphModule, examples: Sequence[Any]) -> Any:
        graphs.append(graph)
        lease.leave("compile")
        compiled = compile_fx(graph, examples)
        lease.acquire("timing")
        return compiled

    return backend
