"""The only file that executes problem code: one candidate after another, in a forked child.

A candidate goes through build, eager, compile and timing. Whatever touches the device happens
under the lease; `compile_fx` runs outside it, which the backend hook given to `torch.compile`
arranges. Every fault becomes a verdict; a death is left to the supervisor to tell.
"""

import contextlib
import copy
import dataclasses
import gc
import json
import os
import socket
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from fusewright.dispatch import tensors_in
from fusewright.measure import checks
from fusewright.measure.checks import Fault, Finding, raise_if
from fusewright.measure.compiling import compile_model, gate_benchmarks
from fusewright.measure.device import Device, open_device
from fusewright.measure.lease import Lease
from fusewright.measure.peaks import measure_peaks
from fusewright.measure.plan import Plan
from fusewright.measure.timing import time_pair
from fusewright.measure.trace import trace
from fusewright.roofline import Cost, Peaks, count

SEED_PARAMETERS, SEED_INPUTS, SEED_OTHER_INPUTS = 0, 1, 2
LARGEST_REFERENCE_BYTES = 2 * 2**30
"""No float64 reference is made of a problem that moves more than this."""
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

    def __post_init__(self) -> None:
        self.lease = Lease(Path(self.plan.scratch) / "lease", self.report)

    def report(self, phase: str) -> None:
        """Tell the supervisor which deadline counts from now on."""
        self.phase = phase
        self.send({"phase": phase})

    def send(self, message: Message) -> None:
        """Send one line to the supervisor."""
        self.channel.sendall(json.dumps(message).encode() + b"\n")


@dataclasses.dataclass
class Candidate:
    """A built problem on the device."""

    model: nn.Module
    draw: Callable[[int], list[Any]]
    inputs: list[Any]
    tolerance: float

    def run(self, inputs: Sequence[Any]) -> list[torch.Tensor]:
        """Tensors that forward returns for fresh copies of *inputs*."""
        return outputs_of(self.model(*fresh(inputs)))


def serve(channel: socket.socket, plan: Plan) -> None:
    """Answer the requests of the supervisor until it hangs up."""
    device = open_device(plan.device)
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
        verdict = examine(request, bench)
        bench.lease.release()
        clean_up()
        bench.send(verdict)
        if any(text in verdict.get("rejection", {}).get("detail", "") for text in POISONED):
            os._exit(1)


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


def build(module: types.ModuleType, device: Device) -> Candidate:
    """Make the model and its inputs on the device."""

    def draw(seed: int) -> list[Any]:
        torch.manual_seed(seed)
        with device.torch_device:
            values = list(module.get_inputs())
        return [v.to(device.torch_device) if isinstance(v, torch.Tensor) else v for v in values]

    torch.manual_seed(SEED_PARAMETERS)
    with device.torch_device:
        model = module.Model(*module.get_init_inputs()).to(device.torch_device).eval()
    inputs = draw(SEED_INPUTS)
    return Candidate(model, draw, inputs, checks.TOLERANCES[floating_dtype(model, inputs)])


def floating_dtype(model: nn.Module, inputs: Sequence[Any]) -> torch.dtype:
    """Dtype of the first floating input, or of the parameters, or float32."""
    held = [*tensors_in(list(inputs)), *model.parameters()]
    return next((t.dtype for t in held if t.dtype in checks.TOLERANCES), torch.float32)


def look(candidate: Candidate, device: Device) -> tuple[list[torch.Tensor], Cost, int]:
    """Run forward for the first time: outputs, cost and peak memory in bytes."""
    model, inputs = candidate.model, fresh(candidate.inputs)
    parameters = [*model.parameters(), *model.buffers()]
    result, cost = count(lambda: model(*inputs), inputs, parameters)
    outputs = outputs_of(result)
    device.reset_peak()
    candidate.run(candidate.inputs)
    peak_bytes = device.peak_bytes()
    return outputs, cost, cost.live_bytes if peak_bytes is None else peak_bytes


def examine_eager(candidate: Candidate, outputs: list[torch.Tensor]) -> None:
    """Every check that needs eager execution alone, in the order of the reasons."""
    raise_if(checks.nonfinite(outputs))
    model, inputs, tolerance = candidate.model, candidate.inputs, candidate.tolerance
    given, state = fresh(inputs), [t.clone() for t in model.state_dict().values()]
    again = outputs_of(model(*given))
    raise_if(checks.mutated(list(tensors_in(inputs)), list(tensors_in(given)), "input"))
    raise_if(checks.mutated(state, list(model.state_dict().values()), "state tensor"))
    raise_if(checks.nondeterministic(outputs, again))
    others = candidate.draw(SEED_OTHER_INPUTS)
    raise_if(checks.constant(outputs, candidate.run(others), tolerance))
    raise_if(checks.trivial(outputs, list(tensors_in(inputs)), tolerance))
    examine_sensitivity(candidate, outputs, others)
    trained = copy.deepcopy(model).train()
    raise_if(checks.mode_dependent(outputs, outputs_of(trained(*fresh(inputs))), tolerance))


def examine_sensitivity(
    candidate: Candidate, outputs: list[torch.Tensor], others: Sequence[Any]
) -> None:
    """Redraw each argument and each parameter alone."""
    for index, other in enumerate(others):
        inputs = list(candidate.inputs)
        inputs[index] = other
        changed = candidate.run(inputs)
        what = f"argument {index}"
        raise_if(
            checks.insensitive("insensitive_argument", what, outputs, changed, candidate.tolerance)
        )
    for name, parameter in candidate.model.named_parameters():
        original = parameter.clone()
        parameter.copy_(redrawn(original))
        changed = candidate.run(candidate.inputs)
        parameter.copy_(original)
        what = f"parameter {name}"
        raise_if(
            checks.insensitive("insensitive_parameter", what, outputs, changed, candidate.tolerance)
        )


def redrawn(parameter: torch.Tensor) -> torch.Tensor:
    """Other values of the same mean and spread; a constant gets the spread of its size."""
    values = parameter.float()
    spread = values.std(correction=0)
    spread = torch.where(spread > 0, spread, values.mean().abs().clamp_min(1.0) / 2)
    return (values.mean() + spread * torch.randn_like(values)).to(parameter.dtype)


def exact(candidate: Candidate, cost: Cost) -> list[torch.Tensor] | None:
    """Outputs in float64; None where that is too large or the model does not allow it."""
    if cost.io_bytes > LARGEST_REFERENCE_BYTES:
        return None
    # A model that names its dtype cannot run in another: then eager and compiled are compared
    # with each other, which `mismatch` does.
    with contextlib.suppress(RuntimeError, TypeError, NotImplementedError):
        model = copy.deepcopy(candidate.model).double()
        inputs = [
            v.double() if isinstance(v, torch.Tensor) and v.is_floating_point() else v
            for v in fresh(candidate.inputs)
        ]
        return outputs_of(model(*inputs))
    return None


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


def describe(candidate: Candidate, outputs: list[torch.Tensor]) -> Message:
    """Shapes, dtype and size of a candidate."""
    dtype = floating_dtype(candidate.model, candidate.inputs)
    return {
        "dtype": str(dtype).removeprefix("torch."),
        "input_shapes": [list(t.shape) for t in tensors_in(candidate.inputs)],
        "output_shapes": [list(t.shape) for t in outputs],
        "params": sum(p.numel() for p in candidate.model.parameters()),
        "tolerance": candidate.tolerance,
    }


def fresh(inputs: Sequence[Any]) -> list[Any]:
    """Copies, so that a call that writes into its inputs spoils no other."""
    return [v.clone() if isinstance(v, torch.Tensor) else v for v in inputs]


def outputs_of(result: Any) -> list[torch.Tensor]:
    """Tensors in what forward returned, at least one of them."""
    outputs = list(tensors_in(result))
    if not any(t.numel() for t in outputs):
        returned = type(result).__name__
        raise Fault(Finding("forward_error", f"forward returns {returned}, expected a tensor"))
    return outputs


def clean_up() -> None:
    """Drop what a candidate left, outside the lease."""
    torch._dynamo.reset()  # noqa: SLF001
    torch.set_default_dtype(torch.float32)
    gc.collect()
    if torch.cuda.is_initialized():
        torch.cuda.empty_cache()
