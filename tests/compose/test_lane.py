"""Problems in half the bytes."""

import pytest
import torch

from fusewright.compose.graph import draw_sized
from fusewright.compose.preset import PRESETS, TINY
from fusewright.compose.render import render
from fusewright.compose.size import estimate_s, traffic_bytes
from fusewright.operators.catalogue.lane import LANES

from .problems import NAMES, built, drawn

HALVES = ("bfloat16", "float16")


def halved(dtype, seed, preset=TINY):
    graph, batch, dice = draw_sized(NAMES, seed, preset.in_lane(LANES[dtype]), (2, 8))
    return graph, batch, render(graph, batch, dice, dtype)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("seed", range(40))
def test_a_problem_in_half_the_bytes_runs_and_keeps_to_them(dtype, seed):
    graph, batch, code = halved(dtype, seed)
    model, inputs = built(code)
    with torch.no_grad():
        output = model(*inputs)
    assert output.dtype == getattr(torch, dtype), code
    assert {p.dtype for p in model.parameters()} <= {output.dtype}, code
    assert {x.dtype for x in inputs} == {output.dtype}
    assert tuple(output.shape) == (batch, *graph.nodes[-1].value.shape)
    assert torch.isfinite(output).all(), code


def test_float32_is_what_a_text_says_by_saying_nothing():
    assert not any("dtype" in drawn(seed)[2] for seed in range(20))


def test_half_the_bytes_move_half_as_much_and_no_slower():
    graph, batch, _ = drawn(0, PRESETS["cuda"])
    whole, half = PRESETS["cuda"], PRESETS["cuda"].in_lane(LANES["bfloat16"])
    assert traffic_bytes(graph, batch, half.lane) * 2 == traffic_bytes(graph, batch)
    assert estimate_s(graph, batch, half) < estimate_s(graph, batch, whole)


def test_grading_that_forgives_more_finds_more_that_does_nothing():
    def weak(dtype):
        return sum(halved(dtype, seed)[0] != halved("float32", seed)[0] for seed in range(40))

    assert weak("bfloat16") > 0
