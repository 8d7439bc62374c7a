"""`torch.compile` with the processor's part outside the lease and the device's part inside it."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch._functorch.config
import torch._inductor.config
from torch import nn
from torch._dynamo.utils import counters
from torch._inductor.compile_fx import compile_fx
from torch._inductor.fx_passes import pad_mm
from torch._inductor.runtime.benchmarking import InductorBenchmarker
from torch._inductor.runtime.hints import HeuristicType
from torch._inductor.runtime.triton_heuristics import CachingAutotuner

from fusewright.measure.lease import Lease
from fusewright.measure.stopwatch import Stopwatch

SHORT_BENCHMARK = {
    "estimation_iters": 3,
    "memory_warmup_iters": 3,
    "benchmark_iters": 10,
    "max_benchmark_duration": 1,
}
"""Inductor takes 5, 100, 100 and 25 ms to choose between a few configurations. What is measured a
second time is compiled with its own settings, so that every release shows whether these chose
slower kernels."""


def set_up_compiler() -> None:
    """Keep nothing of one candidate for the next: it never comes again."""
    torch._inductor.config.fx_graph_cache = False  # noqa: SLF001
    torch._inductor.config.autotune_local_cache = False  # noqa: SLF001
    torch._functorch.config.enable_autograd_cache = False  # noqa: SLF001


def compile_model(
    model: nn.Module, inputs: Sequence[Any], lease: Lease, watch: Stopwatch
) -> tuple[Callable[..., Any], Any, int]:
    """Compile *model* in the default mode; the lease is held on return.

    Returns:
        The compiled model, what its first call returned, and its number of graph breaks.
    """
    graphs: list[torch.fx.GraphModule] = []
    backend = _gated(lease, watch, graphs)
    compiled = torch.compile(model, backend=backend, fullgraph=True, dynamic=False)
    breaks = 0
    try:
        result = compiled(*inputs)
    except torch._dynamo.exc.Unsupported:  # noqa: SLF001
        # A graph break is worth a count, not a rejection.
        torch._dynamo.reset()  # noqa: SLF001
        counters.clear()
        graphs.clear()
        # What lies between the graphs runs on the device before any of them is compiled.
        lease.acquire("timing")
        compiled = torch.compile(model, backend=backend, dynamic=False)
        result = compiled(*inputs)
        breaks = max(1, sum(counters["graph_break"].values()))
    if not graphs:
        raise RuntimeError("torch.compile finds no graph in forward, and would run it eagerly")
    lease.acquire("timing")
    return compiled, result, breaks


def gate_benchmarks(lease: Lease, watch: Stopwatch, settings: dict[str, int]) -> None:
    """Make Inductor's own benchmarking of kernels take the lease, in this process.

    Args:
        lease: The lease of this worker's device.
        watch: Told how long benchmarking took.
        settings: Keyword arguments for each benchmark; they may change between candidates.
    """
    stock = InductorBenchmarker.benchmark_gpu

    @functools.wraps(stock)
    def benchmark(*args: Any, **kwargs: Any) -> Any:
        return stock(*args, **{**kwargs, **settings})

    InductorBenchmarker.benchmark_gpu = _leased(benchmark, lease, watch)  # type: ignore[method-assign]
    # It makes and fills matrices on the device before it benchmarks them.
    pad_mm._should_pad = _leased(pad_mm._should_pad, lease, watch)  # noqa: SLF001


def load_under_lease(lease: Lease) -> None:
    """Make Inductor load a kernel when it first runs, in this process, and not when it is compiled.

    To load one takes a slice of 0.4 ms from whoever is timed at that moment, and a candidate has
    ten. Reductions that Inductor may compile once more, for the registers that the loaded kernel
    turns out to need, stay as they are: compiling takes longer than anybody should wait.
    """
    stock = CachingAutotuner.precompile

    @functools.wraps(stock)
    def precompile(kernel: CachingAutotuner, *args: Any, **kwargs: Any) -> None:
        looped = kernel.heuristic_type == HeuristicType.REDUCTION
        if lease.held or (looped and not kernel.inductor_meta.get("persistent_reduction")):
            stock(kernel, *args, **kwargs)
        else:
            stock(kernel, warm_cache_only=True)

    CachingAutotuner.precompile = precompile  # type: ignore[method-assign, assignment]


def _leased(function: Callable[..., Any], lease: Lease, watch: Stopwatch) -> Callable[..., Any]:
    @functools.wraps(function)
    def leased(*args: Any, **kwargs: Any) -> Any:
        held, step = lease.held, watch.step
        lease.acquire("timing" if held else "compile")
        watch.enter("benchmark")
        try:
            return function(*args, **kwargs)
        finally:
            if held:
                watch.enter(step)
            else:
                lease.leave("compile")

    return leased


def _gated(
    lease: Lease, watch: Stopwatch, graphs: list[torch.fx.GraphModule]
) -> Callable[..., Any]:
    def backend(graph: torch.fx.GraphModule, examples: Sequence[Any]) -> Any:
        graphs.append(graph)
        lease.leave("compile")
        compiled: Any = compile_fx(graph, examples)

        # Dynamo has guards to build yet, for which nobody has to wait.
        def run(*arguments: Any) -> Any:
            if not lease.held:
                lease.acquire("timing")
                watch.enter("first_call")
            return compiled(*arguments)

        return run

    return backend
