"""The wide grid: which functions are elementwise, and where they are finite."""

import pytest
import torch
from torch import nn

from fusewright.operators.probing import fingerprint, finite_interval, is_elementwise


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (torch.relu, True),
        (torch.log, True),  # NaN in equal places counts as equal
        (nn.functional.gelu, True),
        (lambda x: torch.softmax(x, 0), False),
        (lambda x: torch.cumsum(x, 0), False),
        (torch.sum, False),
        (torch.flip, False),
        (lambda x: torch.flip(x, (0,)), False),
        (lambda x: x.repeat(2), False),
        (torch.rand_like, False),
        (torch.frexp, False),  # two outputs
        (lambda x: torch.softmax(x, 1), False),  # refuses the shape
    ],
)
def test_a_function_is_elementwise_if_places_do_not_mix(function, expected):
    assert is_elementwise(function) is expected


@pytest.mark.parametrize(
    ("function", "low", "high"),
    [
        (torch.relu, None, None),
        (torch.acos, -1.0, 1.0),
        (torch.sqrt, 0.0, None),
        (torch.rsqrt, pytest.approx(0, abs=1e-6), None),
        (torch.exp, None, pytest.approx(88.7228, abs=1e-3)),
        (lambda x: torch.exp(-x), pytest.approx(-88.7228, abs=1e-3), None),
        (torch.atanh, pytest.approx(-1, abs=1e-5), pytest.approx(1, abs=1e-5)),
        (torch.reciprocal, pytest.approx(0, abs=1e-6), None),
        (lambda x: torch.log(x - 29.9), pytest.approx(29.9, abs=1e-3), None),
    ],
)
def test_the_widest_finite_interval_is_found(function, low, high):
    assert finite_interval(function) == (low, high)


@pytest.mark.parametrize("function", [torch.atanh, torch.exp, torch.cosh, torch.logit])
def test_the_ends_of_the_interval_are_finite(function):
    ends = [end for end in finite_interval(function) if end is not None]
    assert torch.isfinite(function(torch.tensor(ends))).all()


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (torch.relu, lambda x: (x + x.abs()) / 2, False),  # apart at minus infinity
        (torch.relu, lambda x: torch.where(x > 0, x, 0.0), True),
        (nn.functional.silu, lambda x: x * torch.sigmoid(x), True),
        (nn.functional.relu6, torch.relu, False),
        (nn.functional.hardswish, nn.functional.silu, False),
        (nn.functional.gelu, lambda x: nn.functional.gelu(x, approximate="tanh"), False),
    ],
)
def test_a_fingerprint_tells_values_apart(one, other, equal):
    assert (fingerprint(one) == fingerprint(other)) is equal
