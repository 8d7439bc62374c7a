import types

import pytest
import torch

from fusewright.measure.candidate import build
from fusewright.measure.device import Cpu
from fusewright.measure.slicing import sliced

from .programs import program


def part_of(forward, **given):
    module = types.ModuleType("problem")
    exec(program(forward, **given), module.__dict__)
    candidate = build(module, Cpu())
    with torch.no_grad():
        return candidate, sliced(candidate, candidate.run(candidate.inputs))


@pytest.mark.parametrize(("batch", "samples"), [(16, 2), (64, 8), (100, 12)])
def test_a_batch_of_independent_samples_is_divided_by_eight(batch, samples):
    candidate, part = part_of(
        "return self.fc(x).softmax(-1)",
        init="self.fc = nn.Linear(16, 16)",
        inputs=f"torch.randn({batch}, 16)",
    )
    assert part.inputs[0].shape == (samples, 16)
    assert torch.equal(part.inputs[0], candidate.inputs[0][:samples])
    assert torch.equal(part.draw(5)[0], candidate.draw(5)[0][:samples])
    assert part.model is candidate.model


def test_what_has_no_batch_is_given_whole():
    _, part = part_of(
        "return (x @ w) * s",
        arguments="x, w, s",
        inputs="torch.randn(32, 16), torch.randn(16, 4), 2.0",
    )
    assert [getattr(value, "shape", value) for value in part.inputs] == [(4, 16), (16, 4), 2.0]


WHOLE = {
    "a small batch": ("return x.exp()", "torch.randn(15, 16)"),
    "samples that depend on one another": ("return x - x.mean(0)", "torch.randn(32, 16)"),
    "an output without the batch": ("return x.sum(0)", "torch.randn(32, 16)"),
    "a scalar": ("return x.sum()", "torch.randn(32, 16)"),
    "a batch that stands in the text": ("return x.reshape(32, 16)", "torch.randn(32, 16)"),
}


@pytest.mark.parametrize(("forward", "inputs"), WHOLE.values(), ids=WHOLE)
def test_anything_else_is_examined_whole(forward, inputs):
    assert part_of(forward, inputs=inputs)[1] is None
