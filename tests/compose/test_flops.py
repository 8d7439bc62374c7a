"""Operations that the rules of the catalogue count, against those of tensors without data."""

import functools

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from fusewright.compose.preset import PRESETS
from fusewright.roofline import count

from .problems import built, drawn


def counted(code):
    """Operations of products that dispatching *code* on fake tensors counts."""
    with FakeTensorMode(), torch.no_grad():
        model, inputs = built(code)
        _, cost = count(functools.partial(model, *inputs), inputs, list(model.parameters()))
    return cost.flops


def test_operations_are_counted_as_pytorch_counts_them_at_full_size():
    ratios = []
    for seed in range(60):
        graph, batch, code = drawn(seed, PRESETS["cuda"])
        expected, found = sum(n.applied.cost.flops for n in graph.nodes) * batch, counted(code)
        if max(expected, found) > 0:
            ratios.append(min(expected, found) / max(expected, found))
    assert len(ratios) >= 20
    # A convolution's rule counts the taps that hang over a border, and causal masks halve nothing.
    assert sum(ratio >= 0.9 for ratio in ratios) >= 0.9 * len(ratios), sorted(ratios)
