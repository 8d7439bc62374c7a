"""The aten calls that an operator makes, as lines to compare."""

import pytest
import torch

from fusewright.operators.trace import UNORDERED, Trace

MATRIX = torch.ones(4, 6)


def _trace(function, *tensors):
    trace = Trace(tensors)
    with trace:
        function(*tensors)
    return trace


def test_a_call_is_noted_with_ranks_and_values():
    assert _trace(lambda x: torch.sum(x, 1), MATRIX).lines == [
        "aten.sum.dim_IntList [t0:2:torch.float32 [1]]  -> t1:1:torch.float32",
    ]


def test_sizes_do_not_tell_calls_apart_but_ranks_do():
    assert _trace(torch.relu, MATRIX).lines == _trace(torch.relu, torch.ones(9, 9)).lines
    assert _trace(torch.relu, MATRIX).lines != _trace(torch.relu, torch.ones(9)).lines


def test_a_constant_counts_by_its_values():
    def traced(value):
        return _trace(lambda x: x * torch.tensor(value), MATRIX).lines

    assert traced(2.0) == traced(2.0)
    assert traced(2.0) != traced(3.0)


def test_detaching_leaves_no_line():
    assert _trace(lambda x: x.detach().relu(), MATRIX).lines == _trace(torch.relu, MATRIX).lines


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (torch.relu, False),
        (torch.nonzero, True),
        (lambda x: x.sum().item(), True),
        (lambda x: x[x > 0], True),
    ],
)
def test_dependence_on_values_is_seen(function, expected):
    assert _trace(function, MATRIX).data_dependent is expected


def test_every_unordered_call_exists():
    for name in UNORDERED:
        _, packet, overload = name.split(".")
        assert str(getattr(getattr(torch.ops.aten, packet), overload)) == name
