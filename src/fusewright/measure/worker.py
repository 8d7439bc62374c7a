"""The only file that executes problem code: one candidate after another, in a forked child.

A candidate goes through build, eager, compile and timing. Whatever touches the device happens
under the lease; `compile_fx` runs outside it, which the backend hook given to `torch.compile`
arranges. Every fault becomes a verdict; a death is left to the supervisor to tell.
"""

import contextlib
import dataclasses
import gc
import json
import socket
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

from fusewright.measure import sandbox
from fusewright.measure.bench import Bench, Message
from fusewright.measure.canary import sing
from fusewright.measure.candidate import Candidate, build, describe, outputs_of
from fusewright.measure.checks import Fault, Finding
from fusewright.measure.compiling import compile_model
from fusewright.measure.device import open_device
from fusewright.measure.examine import compare, examine_eager, look, require_window
from fusewright.measure.peaks import measure_peaks
from fusewright.measure.plan import Plan
from fusewright.measure.scratch import empty, made_for_all
from fusewright.measure.surroundings import Surroundings
from fusewright.measure.survey import survey
from fusewright.measure.timing import time_pair
from fusewright.roofline import Cost, Peaks

PHASE_REASONS = {
    "build": "init_error",
    "waiting": "forward_error",
    "eager": "forward_error",
    "survey": "forward_error",
    "compile": "compile_error",
    "timing": "compile_error",
}
"""What an exception in each phase means."""
OUT_OF_MEMORY = ("can't allocate memory", "out of memory", "not enough memory")
OUT_OF_DISK = ("No space left on device", "Disk quota exceeded")
POISONED = ("CUDA error", "device-side assert", "illegal memory access", "misaligned address")
"""Messages after which a CUDA context answers nothing but errors."""


def serve(channel: socket.socket, plan: Plan, scratch: Path) -> None:
    """Answer the requests of the supervisor until it hangs up."""
    # First of all: what has threads cannot be confined as a whole, and CUDA starts some.
    isolation = sandbox.confine(
        scratch, lent=made_for_all(Path(plan.scratch)), leases=Path(plan.leases)
    )
    try:
        device = open_device(plan)
    except (RuntimeError, AssertionError) as error:
        # Without this line the supervisor would know only that the worker ended.
        detail = f"{type(error).__name__}: {' '.join(str(error).split())}"
        channel.sendall(json.dumps({"unusable": detail}).encode() + b"\n")
        return
    gc.disable()
    bench = Bench(plan, device, channel, scratch)
    device.load()
    bench.send({"ready": device.describe(), "identity": device.identity, "isolation": isolation})
    tasks = {"measure": answer, "peaks": answer_peaks, "canary": answer_canary}
    for line in channel.makefile("rb"):
        request = json.loads(line)
        bench.follow(dataclasses.replace(plan, **request.get("plan", {})))
        reply = {**tasks[request["task"]](request, bench), "token": request["token"]}
        bench.send(reply)
        if reply.get("last"):
            return


def answer_peaks(_: Message, bench: Bench) -> Message:
    """Measure what the device reaches."""
    bench.lease.acquire("timing")
    peaks = measure_peaks(bench.device)
    bench.lease.leave("build")
    bench.device.trim()
    return {"peaks": dataclasses.asdict(peaks)}


def answer_canary(_: Message, bench: Bench) -> Message:
    """Time work that never changes."""
    bench.lease.acquire("timing")
    canary = sing(bench.device)
    bench.lease.leave("build")
    bench.device.trim()
    return {"canary": canary}


def answer(request: Message, bench: Bench) -> Message:
    """Measure one candidate, and clean up after it."""
    bench.watch.take()
    surroundings, shortages = Surroundings(), bench.device.shortages()
    verdict = examine(request, bench)
    detail = verdict.get("rejection", {}).get("detail", "")
    if any(text in detail for text in POISONED):
        # Nothing works in such a context, cleaning up least of all.
        bench.lease.release()
        return {**verdict, "spent_s": bench.watch.take(), "last": True}
    bench.lease.leave("clean_up")
    # What a candidate left running would disturb the next one's timing.
    sandbox.kill_children()
    clean_up(bench)
    # A library that found no room for its fastest algorithm took a slower one in silence, and no
    # reference was made where it found none.
    if bench.device.shortages() > shortages:
        verdict["doubtful"] = True
    if surroundings.changed():
        verdict["last"] = True
    return {**verdict, "spent_s": bench.watch.take()}


def examine(request: Message, bench: Bench) -> Message:
    """Measure one candidate, whatever it does; the verdict is data."""
    bench.report("build")
    try:
        with torch.no_grad():
            return {"measurement": measure(request, bench)}
    except Fault as fault:
        return {"rejection": dataclasses.asdict(fault.finding)}
    # The one broad catch of the child side, and a wide one: a candidate may raise SystemExit.
    except BaseException as error:
        finding = classify(error, bench.phase)
        # Another's files may have filled the disk; then it has room again by and by.
        return {
            "rejection": dataclasses.asdict(finding),
            "doubtful": any(text in str(error) for text in OUT_OF_DISK),
        }


def classify(error: BaseException, phase: str) -> Finding:
    """Turn what a candidate raised into a finding."""
    detail = f"{type(error).__name__}: {' '.join(str(error).split())}"
    if isinstance(error, MemoryError | torch.OutOfMemoryError) or any(
        text in detail for text in OUT_OF_MEMORY
    ):
        return Finding("out_of_memory", detail[:500])
    if any(text in detail for text in (*POISONED, *OUT_OF_DISK)):
        return Finding("crash", detail[:500])
    return Finding(PHASE_REASONS[phase], detail[:500])


def measure(request: Message, bench: Bench) -> Message:
    """Take a candidate through every phase; returns the fields of a `Measurement`.

    Where it is done after eager execution, only those that describe it.
    """
    lease, watch = bench.lease, bench.watch
    with loaded(request, bench.scratch) as module:
        lease.acquire("build")
        candidate = build(module, bench.device)
        outputs, peak_bytes = run_eagerly(candidate, bench)
        if bench.plan.last == "eager":
            return describe(candidate, outputs)
        lease.leave("survey")
        bench.device.trim()
        graph, cost = survey(candidate, lease)
        lease.leave("compile")
        compiled, result, breaks = compile_model(candidate.model, candidate.inputs, lease, watch)
        bench.device.synchronize()
        watch.enter("compare")
        ratio = None
        if bench.plan.checks != "none":
            rounding = bench.device.torch_device.type == "cuda" and cost.flops > 0
            ratio = compare(candidate, outputs, outputs_of(result), rounding=rounding)
        del result
        timings = time_both(candidate, compiled, bench)
    return {
        **timings,
        **describe(candidate, outputs),
        **describe_cost(cost, Peaks(**request["peaks"])),
        "graph": [{"op": op, "inputs": inputs} for op, inputs in graph],
        "graph_breaks": breaks,
        "peak_memory_bytes": cost.live_bytes if peak_bytes is None else peak_bytes,
        "compile_error_ratio": ratio,
    }


def run_eagerly(candidate: Candidate, bench: Bench) -> tuple[list[torch.Tensor], int | None]:
    """Look at a candidate and check it; returns its outputs, and the most memory held if told."""
    bench.lease.acquire("eager")
    seen = look(candidate, bench.device)
    if bench.plan.window_ms:
        require_window(seen.coarse_ms, bench.plan.window_ms)
    if bench.plan.checks != "none":
        bench.watch.enter("checks")
        examine_eager(candidate, seen, thorough=bench.plan.checks == "all")
    return seen.outputs, seen.peak_bytes


def describe_cost(cost: Cost, peaks: Peaks) -> Message:
    """What one call must move and compute, and the least time that takes."""
    return {
        "flops": cost.flops,
        "io_bytes": cost.io_bytes,
        "sol_ms": cost.sol_ms(peaks),
        "bound": cost.bound(peaks),
    }


@contextlib.contextmanager
def loaded(request: Message, scratch: Path) -> Iterator[types.ModuleType]:
    """Run a candidate's text as a module of its own; Dynamo reads sources from real files."""
    name = f"problem_{request['key']}"
    path = scratch / f"{name}.py"
    path.write_text(request["code"])
    module = types.ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module
    try:
        exec(compile(request["code"], str(path), "exec"), module.__dict__)  # noqa: S102
        yield module
    finally:
        sys.modules.pop(name, None)


def time_both(candidate: Candidate, compiled: Callable[..., Any], bench: Bench) -> Message:
    """Time eager against compiled on the same inputs."""
    bench.watch.enter("timing")
    model, inputs = candidate.model, candidate.inputs
    eager, fused = time_pair(
        bench.device, lambda: model(*inputs), lambda: compiled(*inputs), bench.plan
    )
    spread, limit = max(eager.spread, fused.spread), bench.plan.max_spread
    if limit is not None and spread > limit:
        detail = f"interquartile range is {spread:.1%} of the median, over {limit:.1%}"
        raise Fault(Finding("noisy_timing", detail, spread, limit))
    told = {"eager": eager.report(), "compiled": fused.report(), **bench.device.clocks()}
    if bench.plan.keep_samples:
        told["samples_ms"] = {"eager": eager.blocks, "compiled": fused.blocks}
    return told


def clean_up(bench: Bench) -> None:
    """Drop what a candidate left, outside the lease."""
    torch._dynamo.reset()  # noqa: SLF001
    torch.set_default_dtype(torch.float32)
    torch.set_default_device(None)
    torch.use_deterministic_algorithms(mode=False)
    bench.device.configure()
    gc.collect()
    bench.device.trim()
    empty(bench.scratch)
