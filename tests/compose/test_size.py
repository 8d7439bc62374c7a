"""Estimates, and the batches that follow from them."""

import dataclasses

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from fusewright.compose.preset import PRESETS, TINY
from fusewright.compose.size import (
    LEAST_BATCH,
    LEAST_ROWS,
    choose_batch,
    estimate_s,
    largest_batch,
    traffic_bytes,
)
from fusewright.dispatch import CREATION, size_bytes, tensors_in

from .problems import built, canvas, drawn, rule


class Traffic(TorchDispatchMode):
    """Counts the bytes that dispatched operators read and write."""

    def __init__(self):
        super().__init__()
        self.count_bytes = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if not func.is_view and func._overloadpacket.__name__ not in CREATION:
            tensors = [*tensors_in((args, kwargs)), *tensors_in(result)]
            self.count_bytes += sum(map(size_bytes, tensors))
        return result


def test_predicted_traffic_is_within_a_factor_of_two_of_what_is_dispatched():
    ratios = []
    for seed in range(80):
        graph, batch, code = drawn(seed)
        model, inputs = built(code)
        with torch.no_grad(), Traffic() as traffic:
            model(*inputs)
        ratios.append(traffic_bytes(graph, batch) / traffic.count_bytes)
    within = [0.5 <= ratio <= 2 for ratio in ratios]
    # What PyTorch composes of several kernels on a CPU has one of its own on a GPU.
    assert sum(within) >= 0.95 * len(within), sorted(ratios)


@pytest.mark.parametrize("device", sorted(PRESETS))
def test_batches_keep_every_limit_and_most_estimates_lie_in_the_window(device):
    preset = PRESETS[device]
    found = [drawn(seed, preset)[:2] for seed in range(100)]
    assert all(batch <= largest_batch(graph, preset) for graph, batch in found)
    times_s = [estimate_s(graph, batch, preset) for graph, batch in found]
    assert all(time_s >= preset.floor_s for time_s in times_s)
    assert all(time_s <= 1.5 * preset.window_s[1] for time_s in times_s)


def test_about_a_third_of_the_batches_are_no_powers_of_two():
    batches = [drawn(seed, PRESETS["cuda"])[1] for seed in range(150)]
    odd = sum(batch & (batch - 1) != 0 for batch in batches)
    assert 0.2 <= odd / len(batches) <= 0.45


def sized(names, layout="rows", **limits):
    """Batch of a chain of *names*, under a preset with other *limits*."""
    drawing = canvas()
    x = drawing.add_input(layout, (drawing.dice.size("features"),))
    for name in names:
        x = drawing.place(rule(name), [x])
        assert x is not None
    return choose_batch(drawing.graph, drawing.dice, dataclasses.replace(TINY, **limits))


def test_a_graph_too_small_for_the_floor_gets_no_batch():
    assert sized(["F.gelu"], input_elements=64 * 4, floor_s=1e-5) is None
    assert sized(["F.gelu"], input_elements=64 * 4, floor_s=0.0) is not None


def test_a_graph_too_large_for_the_window_gets_no_batch():
    assert sized(["nn.Linear"], bytes_per_s=1e5) is None
    assert sized(["nn.Linear"], bytes_per_s=1e9) >= LEAST_BATCH


def test_a_norm_over_rows_gets_enough_of_them():
    few, many = {"input_elements": 64 * 32}, {"input_elements": 64 * 256}
    assert sized(["F.gelu", "nn.BatchNorm1d"], window_s=(1e-3, 2e-3), **few) is None
    assert sized(["F.gelu", "nn.BatchNorm1d"], window_s=(1e-3, 2e-3), **many) >= LEAST_ROWS
