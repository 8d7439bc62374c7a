import math
import types

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from fusewright.measure.candidate import Candidate, build, equal, floating_dtype, fresh, rounded
from fusewright.measure.checks import Fault
from fusewright.measure.device import Cpu

MANTISSA_BITS = 10
LARGEST = 2.0**127 * (2 - 2.0**-MANTISSA_BITS)
"""The largest number of ten bits."""


def nearest(value):
    """The number with ten bits after the leading one that is nearest to *value*, ties away."""
    if value == 0.0:
        return value
    _, exponent = math.frexp(abs(value))
    step = math.ldexp(1.0, exponent - 1 - MANTISSA_BITS)
    return math.copysign(math.floor(abs(value) / step + 0.5) * step, value)


# Below the least normal number the bits after the leading one grow fewer.
normal = st.floats(width=32, allow_nan=False, allow_infinity=False, allow_subnormal=False)


@given(normal.filter(lambda value: abs(value) <= LARGEST))
def test_float32_is_rounded_to_the_nearest_number_of_ten_bits(value):
    assert rounded(torch.tensor(value)).item() == nearest(value)


def test_ties_are_rounded_away_from_zero():
    half = 2.0**-11
    values = torch.tensor([1 + half, -1 - half, 1 + half - 2**-23, 1 + 2 * half])

    assert rounded(values).tolist() == [1 + 2 * half, -1 - 2 * half, 1.0, 1 + 2 * half]


def test_rounding_twice_changes_nothing_and_infinity_stays():
    values = torch.randn(1000)
    infinite = torch.tensor([math.inf, -math.inf])

    assert torch.equal(rounded(rounded(values)), rounded(values))
    assert torch.equal(rounded(infinite), infinite)


def test_rounding_leaves_what_it_was_given():
    values = torch.randn(6, 4)
    before = values.clone()
    for tensor in (values, values.t(), values[:, ::2], values[0, 0]):
        assert rounded(tensor).shape == tensor.shape
        assert torch.allclose(rounded(tensor), tensor, rtol=2**-11, atol=0)

    assert torch.equal(values, before)


@pytest.mark.parametrize(
    "tensor",
    [
        torch.randn(5, dtype=torch.float64),
        torch.randn(5).bfloat16(),
        torch.randn(5).half(),
        torch.arange(5),
        torch.tensor([True, False]),
        torch.randn(5, dtype=torch.complex64),
    ],
    ids=lambda tensor: str(tensor.dtype),
)
def test_what_is_no_float32_stays_as_it_is(tensor):
    copy = rounded(tensor)

    assert torch.equal(copy, tensor)
    assert copy.data_ptr() != tensor.data_ptr()


def test_a_rounded_run_rounds_inputs_and_parameters_and_leaves_them_alone():
    linear = nn.Linear(64, 8)
    with torch.no_grad():
        candidate = Candidate(linear, None, [torch.randn(4, 64)], 1e-3)
        held = [*linear.parameters(), *candidate.inputs]
        before = [tensor.clone() for tensor in held]
        (output,) = candidate.run_rounded()
        x, weight, bias = map(rounded, (*candidate.inputs, linear.weight, linear.bias))

    assert torch.equal(output, nn.functional.linear(x, weight, bias))
    assert all(map(torch.equal, held, before))


def module(**changes):
    """A problem as a module."""

    class Model(nn.Module):
        def __init__(self, size=3):
            super().__init__()
            self.linear = nn.Linear(size, size)
            self.drop = nn.Dropout()

        def forward(self, x):
            return self.drop(self.linear(x))

    made = types.ModuleType("problem")
    made.Model = Model
    made.get_inputs = lambda: [torch.randn(2, 3), 4]
    made.get_init_inputs = list
    vars(made).update(changes)
    return made


def test_a_problem_is_built_alike_every_time_and_in_eval_mode():
    first, second = build(module(), Cpu()), build(module(), Cpu())

    assert torch.equal(first.model.linear.weight, second.model.linear.weight)
    assert torch.equal(first.inputs[0], second.inputs[0])
    assert first.inputs[1] == 4
    assert not first.model.training


def test_other_seeds_draw_other_inputs():
    built = build(module(), Cpu())

    assert equal(built.draw(1), built.inputs)
    assert not equal(built.draw(2), built.inputs)


def test_fresh_copies_share_nothing_with_what_they_are_of():
    inputs = [torch.ones(2), {"a": (torch.ones(3), "word")}]
    copies = fresh(inputs)
    copies[0].zero_()
    copies[1]["a"][0].zero_()

    assert equal(inputs, [torch.ones(2), {"a": (torch.ones(3), "word")}])
    assert copies[1]["a"][1] == "word"


@pytest.mark.parametrize(
    ("model", "inputs", "dtype"),
    [
        (nn.Linear(2, 2), [torch.ones(2).bfloat16()], torch.bfloat16),
        (nn.Linear(2, 2).double(), [torch.arange(2)], torch.float64),
        (nn.Identity(), [torch.arange(2)], torch.float32),
    ],
    ids=["of the input", "of the parameters", "neither"],
)
def test_the_dtype_is_that_of_the_first_floating_tensor(model, inputs, dtype):
    assert floating_dtype(model, inputs) == dtype


@pytest.mark.parametrize("returned", [None, "text", [], torch.empty(0)], ids=repr)
def test_a_forward_that_returns_no_element_is_at_fault(returned):
    class Model(nn.Module):
        def forward(self, x):
            return returned

    with pytest.raises(Fault, match="expected a tensor"):
        Candidate(Model(), None, [torch.ones(2)], 1e-3).run([torch.ones(2)])
