"""A problem built on a device, and what its forward takes and gives."""

import copy
import dataclasses
import types
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_map_only

from fusewright.dispatch import tensors_in
from fusewright.measure import checks
from fusewright.measure.checks import Fault, Finding
from fusewright.measure.device import Device

LOST_BITS, LOST_HALF = 0x1FFF, 0x1000
"""Of the 23 bits of a float32 mantissa TF32 drops the last 13."""
SEED_PARAMETERS, SEED_INPUTS, SEED_OTHER_INPUTS = 0, 1, 2


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

    def run_rounded(self) -> list[torch.Tensor]:
        """Tensors that forward returns when its inputs and parameters are those TF32 can hold."""
        model = copy.deepcopy(self.model)
        for parameter in model.parameters():
            parameter.copy_(rounded(parameter))
        return outputs_of(model(*mapped(rounded, self.inputs)))


def build(module: types.ModuleType, device: Device) -> Candidate:
    """Make the model and its inputs on the device."""

    def draw(seed: int) -> list[Any]:
        torch.manual_seed(seed)
        with device.torch_device:
            values = list(module.get_inputs())
        return mapped(lambda tensor: tensor.to(device.torch_device), values)

    torch.manual_seed(SEED_PARAMETERS)
    with device.torch_device:
        model = module.Model(*module.get_init_inputs()).to(device.torch_device).eval()
    inputs = draw(SEED_INPUTS)
    return Candidate(model, draw, inputs, checks.TOLERANCES[floating_dtype(model, inputs)])


def floating_dtype(model: nn.Module, inputs: Sequence[Any]) -> torch.dtype:
    """Dtype of the first floating input, or of the parameters, or float32."""
    held = [*tensors_in(list(inputs)), *model.parameters()]
    return next((t.dtype for t in held if t.dtype in checks.TOLERANCES), torch.float32)


def describe(candidate: Candidate, outputs: list[torch.Tensor]) -> dict[str, Any]:
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
    return mapped(torch.clone, inputs)


def rounded(tensor: torch.Tensor) -> torch.Tensor:
    """A copy of *tensor* with float32 values rounded to the ten bits that TF32 keeps of them."""
    if tensor.dtype != torch.float32:
        return tensor.clone()
    bits = tensor.contiguous().view(torch.int32)
    return ((bits + LOST_HALF) & ~LOST_BITS).view(torch.float32)


def mapped(change: Callable[[torch.Tensor], torch.Tensor], inputs: Sequence[Any]) -> list[Any]:
    """Apply *change* to every tensor in *inputs*, at any depth of lists, tuples and dicts."""
    changed: list[Any] = tree_map_only(torch.Tensor, change, list(inputs))
    return changed


def equal(one: Any, other: Any) -> bool:
    """Whether two draws of one input are the same: tensor for tensor, or value for value."""
    pairs = [list(tensors_in(value)) for value in (one, other)]
    if not any(pairs):
        return bool(one == other)
    return len(pairs[0]) == len(pairs[1]) and all(map(checks.same, *pairs))


def outputs_of(result: Any) -> list[torch.Tensor]:
    """Tensors in what forward returned, at least one of them."""
    outputs = list(tensors_in(result))
    if not any(t.numel() for t in outputs):
        returned = type(result).__name__
        raise Fault(Finding("forward_error", f"forward returns {returned}, expected a tensor"))
    return outputs
