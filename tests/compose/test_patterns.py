"""Patterns of layers: what each move writes, and that it is told for what it is."""

import pytest

from fusewright.compose import patterns
from fusewright.compose.draw import shape_of
from fusewright.compose.motifs import motifs_of

from .problems import canvas

WRITTEN = [
    (patterns.block, "image", "norm-act-conv"),
    (patterns.block, "signal", "norm-act-conv"),
    (patterns.gated_mlp, "tokens", "gated MLP"),
    (patterns.gated_mlp, "rows", "gated MLP"),
    (patterns.attention, "tokens", "attention block"),
    (patterns.scan_gate, "tokens", "scan-gate"),
    (patterns.mixture, "tokens", "mixture gating"),
    (patterns.head, "image", "pooling head"),
    (patterns.head, "tokens", "pooling head"),
    (patterns.tail, "rows", "loss tail"),
]


@pytest.mark.parametrize(("move", "layout", "motif"), WRITTEN)
def test_a_pattern_is_told_for_what_it_is(move, layout, motif):
    written = 0
    for seed in range(60):
        drawing = canvas(seed)
        x = drawing.add_input(layout, shape_of(drawing.dice, layout))
        made = move(drawing, x)
        if made is not None:
            assert made == len(drawing.nodes) - 1
            assert motif in motifs_of(drawing.graph), drawing.graph.ops
            written += 1
    assert written >= 5


@pytest.mark.parametrize("move", [patterns.block, patterns.head, patterns.gated_mlp])
def test_a_pattern_without_room_is_not_begun(move):
    drawing = canvas(0, limit=2)
    assert move(drawing, drawing.add_input("image", shape_of(drawing.dice, "image"))) is None
    assert drawing.nodes == []


def test_a_pinned_width_is_chosen_by_all_and_let_go_in_the_end():
    drawing = canvas()
    x = drawing.value(drawing.add_input("rows", shape_of(drawing.dice, "rows")))
    width = drawing.dice.name("features", 40)
    with drawing.dice.pinned(width):
        assert {drawing.dice.features(x) for _ in range(20)} == {width}
    assert width not in {drawing.dice.features(x) for _ in range(20)}
