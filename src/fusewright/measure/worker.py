"""The only file that executes problem code: one candidate after another, in a forked child.

A candidate goes through build, eager, compile and timing. Whatever touches the device happens
under the lease; `compile_fx` runs outside it, which the backend hook given to `torch.compile`
arranges. Every fault becomes a verdict; a death is left to the supervisor to tell.
"""

import contextlib
import dataclasses
import gc
import json
import os
import socket
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

from fusewright.measure import checks, sandbox
from fusewright.measure.candidate import Candidate, build, describe, fresh, outputs_of
from fusewright.measure.checks import Fault, Finding, raise_if
from fusewright.measure.compiling import compile_model, gate_benchmarks
from fusewright.measure.device import Device, open_device
from fusewright.measure.examine import exact, examine_eager, look
from fusewright.measure.lease import Lease, lease_file
from fusewright.measure.peaks import measure_peaks
from fusewright.measure.plan import Plan
from fusewright.measure.timing import time_pair
from fusewright.measure.trace import trace
from fusewright.roofline import Peaks

PHASE_REASONS = {
    "build": "init_error",
    "waiting": "forward_error",
    "eager": "forward_error",
    "compile": "compile_error",
    "timing": "compile_error",
}
"""What an exception in each phase means."""
OUT_OF_MEMORY = ("can't allocate memory", "out of memory", "not enough memory")
POISONED = ("CUDA error", "device-side assert", "illegal memory access", "misaligned address")
"""Messages after which a CUDA context answers nothing but errors."""

Message = dict[str, Any]


@dataclasses.dataclass
class Bench:
    """What one worker measures with."""

    plan: Plan
    device: Device
    channel: socket.socket
    phase: str = "build"
    lease: Lease = dataclasses.field(init=False)
    _pid: int = dataclasses.field(default_factory=os.getpid)

    def __post_init__(self) -> None:
        self.lease = Lease(lease_file(self.device.identity), self.report)

    def report(self, phase: str) -> None:
        """Tell the supervisor which deadline counts from now on."""
        self.phase = phase
        self.send({"phase": phase})

    def send(self, message: Message) -> None:
        """Send one line to the supervisor."""
        # A candidate that forks leaves a second process in the middle of this code.
        if os.getpid() != self._pid:
            os._exit(1)
        self.channel.sendall(json.dumps(message).encode() + b"\n")


def serve(channel: socket.socket, plan: Plan) -> None:
    """Answer the requests of the supervisor until it hangs up."""
    try:
        device = open_device(plan.device)
    except (RuntimeError, AssertionError) as error:
        # Without this line the supervisor would know only that the worker ended.
        detail = f"{type(error).__name__}: {' '.join(str(error).split())}"
        channel.sendall(json.dumps({"unusable": detail}).encode() + b"\n")
        return
    bench = Bench(plan, device, channel)
    gate_benchmarks(bench.lease)
    for line in channel.makefile("rb"):
        request = json.loads(line)
        if request["task"] == "peaks":
            bench.lease.acquire("timing")
            peaks = measure_peaks(device)
            bench.lease.release()
            bench.send({"peaks": dataclasses.asdict(peaks), "device": device.describe()})
            continue
        verdict = {**examine(request, bench), "token": request["token"]}
        bench.lease.release()
        # What a candidate left running would disturb the next one's timing.
        sandbox.kill_children()
        if any(text in verdict.get("rejection", {}).get("detail", "") for text in POISONED):
            # Nothing works in such a context, cleaning up least of all.
            bench.send({**verdict, "last": True})
            return
        clean_up(bench.device)
        bench.send(verdict)


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
        return {"rejection": dataclasses.asdict(classify(error, bench.phase))}


def classify(error: BaseException, phase: str) -> Finding:
    """Turn what a candidate raised into a finding."""
    detail = f"{type(error).__name__}: {' '.join(str(error).split())}"[:500]
    if isinstance(error, MemoryError | torch.OutOfMemoryError) or any(
        text in detail for text in OUT_OF_MEMORY
    ):
        return Finding("out_of_memory", detail)
    if any(text in detail for text in POISONED):
        return Finding("crash", detail)
    return Finding(PHASE_REASONS[phase], detail)


def measure(request: Message, bench: Bench) -> Message:
    """Take a candidate through every phase; returns the fields of a `Measurement`."""
    with loaded(request, Path(bench.plan.scratch)) as module:
        bench.lease.acquire("build")
        candidate = build(module, bench.device)
        bench.lease.acquire("eager")
        outputs, cost, peak_bytes = look(candidate, bench.device)
        graph = trace(candidate.model, fresh(candidate.inputs))
        examine_eager(candidate, outputs)
        reference = exact(candidate, cost)
        bench.device.trim()
        bench.lease.leave("compile")
        compiled, breaks = compile_model(candidate.model, candidate.inputs, bench.lease)
        output = outputs_of(compiled(*fresh(candidate.inputs)))
        finding, ratio = checks.mismatch(outputs, output, reference, candidate.tolerance)
        raise_if(finding)
        del reference, output
        timings = time_both(candidate, compiled, bench)
    peaks = Peaks(**request["peaks"])
    return {
        **timings,
        **describe(candidate, outputs),
        "graph": [{"op": op, "inputs": inputs} for op, inputs in graph],
        "graph_breaks": breaks,
        "peak_memory_bytes": peak_bytes,
        "flops": cost.flops,
        "io_bytes": cost.io_bytes,
        "sol_ms": cost.sol_ms(peaks),
        "bound": cost.bound(peaks),
        "compile_error_ratio": ratio,
    }


@contextlib.contextmanager
def loaded(request: Message, scratch: Path) -> Iterator[types.ModuleType]:
    """Run a candidate's text as a module of its own; Dynamo reads sources from real files."""
    name = f"problem_{request['key']}"
    path = scratch / f"{name}_{os.getpid()}.py"
    path.write_text(request["code"])
    module = types.ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module
    try:
        exec(compile(request["code"], str(path), "exec"), module.__dict__)  # noqa: S102
        yield module
    finally:
        sys.modules.pop(name, None)
        path.unlink(missing_ok=True)


def time_both(candidate: Candidate, compiled: Callable[..., Any], bench: Bench) -> Message:
    """Time eager against compiled on the same inputs."""
    model, inputs = candidate.model, candidate.inputs
    eager, fused = time_pair(
        bench.device, lambda: model(*inputs), lambda: compiled(*inputs), bench.plan
    )
    spread, limit = max(eager.spread, fused.spread), bench.plan.max_spread
    if limit is not None and spread > limit:
        detail = f"interquartile range is {spread:.1%} of the median, over {limit:.1%}"
        raise Fault(Finding("noisy_timing", detail, spread, limit))
    return {"eager": eager.report(), "compiled": fused.report()}


def clean_up(device: Device) -> None:
    """Drop what a candidate left, outside the lease."""
    torch._dynamo.reset()  # noqa: SLF001
    torch.set_default_dtype(torch.float32)
    gc.collect()
    device.trim()
