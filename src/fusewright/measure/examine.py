"""Every check that a candidate undergoes in eager execution, in the order of the reasons."""

import contextlib
import copy
import functools
from collections.abc import Sequence
from typing import Any

import torch

from fusewright.dispatch import size_bytes, tensors_in
from fusewright.measure import checks
from fusewright.measure.candidate import (
    SEED_OTHER_INPUTS,
    Candidate,
    equal,
    fresh,
    mapped,
    outputs_of,
)
from fusewright.measure.checks import raise_if
from fusewright.measure.device import Device
from fusewright.roofline import Cost, count

LARGEST_REFERENCE_BYTES = 2 * 2**30
"""No float64 reference is made of a problem that moves more than this."""


def look(candidate: Candidate, device: Device) -> tuple[list[torch.Tensor], Cost, int]:
    """Run forward for the first time: outputs, cost and peak memory in bytes."""
    model, inputs = candidate.model, fresh(candidate.inputs)
    parameters = [*model.parameters(), *model.buffers()]
    result, cost = count(functools.partial(model, *inputs), inputs, parameters)
    outputs = outputs_of(result)
    del result, inputs
    device.reset_peak()
    candidate.run(candidate.inputs)
    grown_bytes = device.peak_bytes()
    if grown_bytes is None:
        return outputs, cost, cost.live_bytes
    # The run made copies of its inputs, so that they are in what was added; parameters are not.
    return outputs, cost, grown_bytes + sum(map(size_bytes, parameters))


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


def exact(candidate: Candidate, cost: Cost) -> list[torch.Tensor] | None:
    """Outputs in float64; None where that is too large or the model does not allow it."""
    if cost.io_bytes > LARGEST_REFERENCE_BYTES:
        return None
    # A model that names its dtype cannot run in another: then eager and compiled are compared
    # with each other, which `mismatch` does.
    with contextlib.suppress(RuntimeError, TypeError, NotImplementedError):
        model = copy.deepcopy(candidate.model).double()
        return outputs_of(model(*mapped(_doubled, candidate.inputs)))
    return None


def _doubled(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.double() if tensor.is_floating_point() else tensor.clone()
