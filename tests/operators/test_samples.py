"""Specs and the tensors drawn from them."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from fusewright.operators.samples import DTYPES, describe, draw, value_range
from fusewright.records import TensorSpec

SHAPES = st.lists(st.integers(0, 4), max_size=4).map(tuple)
BOUNDS = st.tuples(st.integers(0, 100), st.integers(0, 100)).map(sorted)
ROUNDING = 1.01
"""Half precision rounds up to a percent past a bound near it."""


@given(SHAPES, st.sampled_from(DTYPES), BOUNDS)
def test_a_drawn_tensor_keeps_to_its_spec(shape, dtype, bounds):
    low, high = bounds
    (tensor,) = draw([TensorSpec(shape=shape, dtype=dtype, low=low, high=high)])
    assert (tuple(tensor.shape), str(tensor.dtype)) == (shape, f"torch.{dtype}")
    if dtype != "bool" and tensor.numel():
        assert low / ROUNDING <= tensor.min() <= tensor.max() <= high * ROUNDING


@given(SHAPES, st.sampled_from(DTYPES))
def test_a_spec_describes_what_is_drawn_from_it(shape, dtype):
    (tensor,) = draw([TensorSpec(shape=shape, dtype=dtype)])
    spec = describe(tensor)
    assert (spec.shape, spec.dtype) == (shape, dtype)


def test_drawing_twice_gives_the_same_tensors():
    specs = [TensorSpec(shape=(3, 4)), TensorSpec(shape=(3,), dtype="int64", high=9)]
    assert all(map(torch.equal, draw(specs), draw(specs)))


def test_two_equal_specs_are_drawn_apart():
    one, other = draw([TensorSpec(shape=(3, 4))] * 2)
    assert not torch.equal(one, other)


def test_one_bound_alone_is_kept():
    above, below = draw([TensorSpec(shape=(99,), low=2.0), TensorSpec(shape=(99,), high=-2.0)])
    assert above.min() >= 2
    assert below.max() <= -2


def test_another_precision_leaves_whole_numbers_alone():
    specs = [TensorSpec(shape=(2,)), TensorSpec(shape=(2,), dtype="int64")]
    assert [t.dtype for t in draw(specs, torch.float16)] == [torch.float16, torch.int64]


def test_a_value_range_is_rounded_inwards():
    assert value_range(torch.tensor([-0.12345, 0.98765])) == (-0.123, 0.987)
    assert value_range(torch.empty(0)) == (0.0, 0.0)
