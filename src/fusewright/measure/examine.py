"""Every check that a candidate undergoes in eager execution, in the order of the reasons."""

import contextlib
import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from fusewright.dispatch import size_bytes, tensors_in
from fusewright.measure import checks
from fusewright.measure.ablation import dead_operator
from fusewright.measure.candidate import (
    SEED_OTHER_INPUTS,
    Candidate,
    equal,
    fresh,
    mapped,
    outputs_of,
)
from fusewright.measure.checks import Fault, Finding, raise_if
from fusewright.measure.device import Device
from fusewright.measure.slicing import sliced

LARGEST_REFERENCE_BYTES = 2 * 2**30
"""No float64 reference is made of a problem whose inputs and parameters are larger than this."""
FAR = 0.25
"""How far outside the window, as a share of its limit, the first look has to lie to count."""


@dataclass(frozen=True)
class Look:
    """What the first calls of a candidate showed."""

    outputs: list[torch.Tensor]
    """What the first call returned."""
    again: list[torch.Tensor]
    """What a second one returned, on equal inputs."""
    given: list[Any]
    """The inputs that the second one had, as it left them."""
    state: list[torch.Tensor]
    """Parameters and buffers between the two."""
    coarse_ms: float
    """How long the second one took."""
    peak_bytes: int | None
    """Most memory held at once, where the device tells."""


def look(candidate: Candidate, device: Device) -> Look:
    """Run forward twice: for its memory, and for about how long it takes."""
    held = [*candidate.model.parameters(), *candidate.model.buffers()]
    inputs, given = fresh(candidate.inputs), fresh(candidate.inputs)
    results: list[Any] = []
    device.reset_peak()
    outputs = outputs_of(candidate.model(*inputs))
    grown_bytes = device.peak_bytes()
    state = [tensor.clone() for tensor in candidate.model.state_dict().values()]
    (coarse_ms,) = device.time(lambda: results.append(candidate.model(*given)), 1)
    held += list(tensors_in(inputs))
    peak_bytes = None if grown_bytes is None else grown_bytes + sum(map(size_bytes, held))
    return Look(outputs, outputs_of(results[0]), given, state, coarse_ms, peak_bytes)


def require_window(coarse_ms: float, window_ms: tuple[float, float]) -> None:
    """End the examination of what is so far outside the window that no timing could bring it in."""
    low, high = window_ms[0] * (1 - FAR), window_ms[1] * (1 + FAR)
    if coarse_ms < low:
        detail = f"a first look at eager took {coarse_ms:.3g} ms, under {low:g} ms"
        raise Fault(Finding("too_easy", detail, coarse_ms, low))
    if coarse_ms > high:
        detail = f"a first look at eager took {coarse_ms:.4g} ms, over {high:g} ms"
        raise Fault(Finding("too_slow", detail, coarse_ms, high))


def examine_eager(candidate: Candidate, seen: Look, *, thorough: bool) -> None:
    """Every check that needs eager execution alone, in the order of the reasons.

    Args:
        candidate: What is examined.
        seen: What its first calls showed.
        thorough: Whether to look for more than non-finite and nondeterministic outputs.
    """
    model, inputs, outputs = candidate.model, candidate.inputs, seen.outputs
    raise_if(checks.nonfinite(outputs))
    raise_if(checks.mutated(list(tensors_in(inputs)), list(tensors_in(seen.given)), "input"))
    raise_if(checks.mutated(seen.state, list(model.state_dict().values()), "state tensor"))
    raise_if(checks.nondeterministic(outputs, seen.again))
    if not thorough:
        return
    part = sliced(candidate, outputs) or candidate
    examine_effects(part, outputs if part is candidate else part.run(part.inputs))


def examine_effects(candidate: Candidate, outputs: list[torch.Tensor]) -> None:
    """Whether every input, parameter and operator shows in the output, whatever is drawn."""
    model, inputs, tolerance = candidate.model, candidate.inputs, candidate.tolerance
    raise_if(ill_conditioned(candidate))
    others = candidate.draw(SEED_OTHER_INPUTS)
    raise_if(checks.constant(outputs, candidate.run(others), tolerance))
    raise_if(checks.trivial(outputs, list(tensors_in(inputs)), tolerance))
    examine_sensitivity(candidate, outputs, others)
    raise_if(dead_operator(candidate, others))
    trained = copy.deepcopy(model).train()
    raise_if(checks.mode_dependent(outputs, outputs_of(trained(*fresh(inputs))), tolerance))


def ill_conditioned(candidate: Candidate) -> Finding | None:
    """Hold float32, without TF32, against float64, where that can be had."""
    if candidate.tolerance > checks.TOLERANCES[torch.float32]:
        return None
    reference = exact(candidate)
    if reference is None:
        return None
    with full_products():
        return checks.ill_conditioned(
            candidate.run(candidate.inputs), reference, candidate.tolerance
        )


@contextlib.contextmanager
def full_products() -> Iterator[None]:
    """Multiply float32 matrices without rounding their entries to TF32."""
    precision, convolutions = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32
    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.allow_tf32 = False
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(precision)
        torch.backends.cudnn.allow_tf32 = convolutions


def examine_sensitivity(
    candidate: Candidate, outputs: list[torch.Tensor], others: Sequence[Any]
) -> None:
    """Redraw each argument and each parameter alone."""
    for index, other in enumerate(others):
        # What every draw gives alike, a mask or a number, cannot be redrawn.
        if equal(other, candidate.inputs[index]):
            continue
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


def compare(
    candidate: Candidate,
    eager: list[torch.Tensor],
    compiled: list[torch.Tensor],
    *,
    rounding: bool,
) -> float | None:
    """Hold the compiled output against the eager one, and both against float64 where that matters.

    Args:
        candidate: What was compiled.
        eager: Its outputs before.
        compiled: Its outputs after.
        rounding: Whether it multiplies matrices and the device may round their entries to TF32.
            Which products it rounds is up to the libraries, eager and compiled apart.

    Returns:
        Error of compiled over error of eager; None where no reference had to be made, or could be.
    """
    # So near, compiled is no further from float64 than eager and a tenth of the tolerance.
    if checks.near(eager, compiled, candidate.tolerance):
        return None
    reference, tolerance = exact(candidate), candidate.tolerance
    finding, ratio = checks.mismatch(eager, compiled, reference, tolerance)
    if finding and rounding and reference is not None:
        rounded = candidate.run_rounded()
        finding, ratio = checks.mismatch(rounded, compiled, reference, tolerance)
    raise_if(finding)
    return ratio


def exact(candidate: Candidate) -> list[torch.Tensor] | None:
    """Outputs in float64; None where that is too large or the model does not allow it."""
    held = [*tensors_in(candidate.inputs), *candidate.model.parameters()]
    if sum(map(size_bytes, held)) > LARGEST_REFERENCE_BYTES:
        return None
    # A model that names its dtype cannot run in another: then eager and compiled are compared
    # with each other, which `mismatch` does.
    with contextlib.suppress(RuntimeError, TypeError, NotImplementedError):
        model = copy.deepcopy(candidate.model).double()
        return outputs_of(model(*mapped(_doubled, candidate.inputs)))
    return None


def _doubled(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.double() if tensor.is_floating_point() else tensor.clone()
