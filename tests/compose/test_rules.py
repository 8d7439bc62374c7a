"""Each rule of the catalogue alone, against what torch makes of real tensors."""

import pytest
import torch

from fusewright.compose.canvas import Canvas
from fusewright.compose.draw import shape_of
from fusewright.compose.plan import Graph
from fusewright.compose.render import render
from fusewright.operators.catalogue import CATALOGUE, Layout, Rule, Shape

from .problems import built, canvas, rule

BATCH = 16
PRELUDES = [rule(n) for n in ("torch.square", "torch.sigmoid", "F.softmax", "F.log_softmax")]
ANY: tuple[Layout, ...] = ("rows", "image")
"""Layouts that stand for all, where a rule takes any."""
CASES = [
    pytest.param(made, layout, id=f"{number}-{made.name}-{layout}")
    for number, made in enumerate(CATALOGUE)
    for layout in made.layouts or ANY
]


def operand(drawing: Canvas, fit: tuple[Layout, Shape], *, plain: bool) -> int | None:
    """A new input; unless *plain*, now and then something made of it that suits a domain."""
    x = drawing.add_input(*fit)
    prelude = None if plain else drawing.dice.one_of([None, *PRELUDES])
    return x if prelude is None or x is None else drawing.place(prelude, [x])


def operands(drawing: Canvas, made: Rule, layout: Layout, *, plain: bool) -> list[int]:
    """What *made* takes: something of *layout*, and partners that fit it."""
    fit, found = (layout, shape_of(drawing.dice, layout)), []
    while len(found) < made.arity:
        reference = operand(drawing, fit, plain=plain)
        if reference is None:
            return []
        found.append(reference)
        last = drawing.value(reference)
        fit = made.partner(drawing.dice, last) if made.partner else (last.layout, last.shape)
    return found


def alone(made: Rule, layout: Layout) -> tuple[Graph, str]:
    """The first graph of *made* that the dice allow: of plain inputs, if there is one."""
    for seed in range(600):
        drawing = canvas(seed)
        if drawing.place(made, operands(drawing, made, layout, plain=seed < 100)) is not None:
            return drawing.graph, render(drawing.graph, BATCH, drawing.dice)
    raise AssertionError(f"the dice never let {made.name} be placed on {layout}")


@pytest.mark.parametrize(("made", "layout"), CASES)
def test_shape_bounds_and_elements_are_as_the_rule_says(made, layout):
    graph, code = alone(made, layout)
    model, inputs = built(code)
    with torch.no_grad():
        output = model(*inputs)
    value = graph.nodes[-1].value
    mean, deviation = value.moments
    spread = float(output.std())
    assert tuple(output.shape) == (BATCH, *value.shape)
    assert value.low - 1e-4 <= float(output.min()), code
    assert float(output.max()) <= value.high + 1e-4, code
    assert abs(float(output.mean()) - mean) <= 0.4 * spread + 0.1 * abs(mean), code
    assert deviation / 2.5 <= spread <= 2.5 * deviation, code
