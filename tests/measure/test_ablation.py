"""Operators that do nothing, next to ones that do."""

import types

import pytest
import torch

from fusewright.measure.ablation import dead
from fusewright.measure.candidate import build
from fusewright.measure.device import open_device
from fusewright.measure.plan import Plan

from .programs import program


def found(forward, **rest):
    module = types.ModuleType("problem")
    exec(program(forward, inputs="torch.randn(32, 64)", **rest), module.__dict__)
    with torch.no_grad():
        return dead(build(module, open_device(Plan())))


@pytest.mark.parametrize(
    ("forward", "name"),
    [
        ("return torch.relu(torch.square(x)) * 2", "torch.relu"),
        ("return torch.softmax(torch.softmax(x, 1) * 1e-4, 1)", "torch.softmax"),
        ("y = torch.clamp(torch.sigmoid(x), -1, 2)\nreturn y + x", "torch.clamp"),
        ("return torch.amax(torch.relu(x), 1)", "torch.relu"),
        ("return torch.sin(x) * 1e-6 + x.sum(1, keepdim=True)", "torch.sin"),
    ],
)
def test_a_dead_operator_is_named(forward, name):
    finding = found(forward)
    assert finding.reason == "dead_operator"
    assert name in finding.detail
    assert finding.value < finding.limit


@pytest.mark.parametrize(
    "forward",
    [
        "return torch.relu(x) * 2",
        "return torch.sigmoid(x).transpose(0, 1).contiguous() + 1",
        "return torch.amax(torch.sin(x), 1)",
        "if x.sum() > 0:\n    return x * 1.0\nreturn x * 1.0",
    ],
)
def test_what_shows_is_alive_and_what_cannot_be_traced_is_not_judged(forward):
    assert found(forward) is None
