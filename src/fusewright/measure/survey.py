"""What a forward computes, found out on tensors without data, which takes no device."""

import copy
import functools
from collections.abc import Sequence
from typing import Any

from torch import nn
from torch._subclasses.fake_tensor import FakeCopyMode, FakeTensorMode

from fusewright.measure.candidate import Candidate, fresh, mapped
from fusewright.measure.lease import Lease
from fusewright.measure.trace import Graph, trace
from fusewright.roofline import Cost, count

DATALESS = (RuntimeError, TypeError, ValueError, AttributeError, AssertionError, LookupError)
"""What a forward raises that asks a tensor without data for a value; the real one decides then."""


def survey(candidate: Candidate, lease: Lease) -> tuple[Graph, Cost]:
    """Trace and count one forward; the device is taken only if values of tensors matter."""
    try:
        # Attributes that are tensors but no parameters stay real, and are taken as they are.
        with FakeTensorMode(allow_non_fake_inputs=True) as mode:
            with FakeCopyMode(mode):
                model = copy.deepcopy(candidate.model)
            # One tensor given twice would be one producer twice.
            inputs = fresh(mapped(mode.from_tensor, candidate.inputs))
            return _survey(candidate, model, inputs)
    except DATALESS:
        lease.acquire("eager")
        return _survey(candidate, candidate.model, fresh(candidate.inputs))


def _survey(candidate: Candidate, model: nn.Module, inputs: Sequence[Any]) -> tuple[Graph, Cost]:
    graph = trace(model, inputs)
    held = [*model.parameters(), *model.buffers()]
    # Copies hold in full what the inputs themselves merely expand.
    _, cost = count(functools.partial(model, *inputs), candidate.inputs, held)
    return graph, cost
