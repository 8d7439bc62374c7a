"""Draw one graph: an input, then moves until it has the operators that were asked for."""

from itertools import accumulate

from fusewright.compose import moves, patterns
from fusewright.compose.canvas import Canvas
from fusewright.compose.menu import Menus
from fusewright.compose.plan import Graph
from fusewright.compose.preset import Preset
from fusewright.compose.probe import is_weak
from fusewright.compose.size import LEAST_BATCH
from fusewright.operators.catalogue import VIEWS, Dice, Layout, Shape
from fusewright.operators.catalogue.lane import Lane

LAYOUT_WEIGHTS: dict[Layout, float] = {
    "rows": 2.0, "tokens": 3.0, "image": 3.0, "signal": 1.6, "volume": 1.4, "heads": 0.7,
}  # fmt: skip
MOVE_WEIGHTS: dict[moves.Move, float] = {
    moves.step: 9.0, moves.meet: 1.4, moves.recall: 1.4, moves.fork: 1.6, moves.residual: 2.8,
    moves.gate: 0.1, patterns.block: 3.0, patterns.gated_mlp: 1.1, patterns.attention: 1.2,
    patterns.scan_gate: 0.9, patterns.mixture: 0.4, patterns.head: 1.4,
}  # fmt: skip
_MOVES = tuple(MOVE_WEIGHTS)
_COMPLETE, _HURRIED = (
    tuple(accumulate(w * boost if move is moves.meet else w for move, w in MOVE_WEIGHTS.items()))
    for boost in (0.0, 6.0)
)
"""Running sums of the weights, once all inputs are there and while some are missing."""
INPUT_WEIGHTS = (0.52, 0.35, 0.13)
"""How often a graph is meant to have one, two and three inputs."""
COUNT_WEIGHTS = (10, 18, 24, 21, 14, 8, 5)
"""How often a graph is meant to have two, three ... eight operators; more count as eight."""
TAIL, TAILED = 2, 0.06
"""Operators of a loss and what follows it, and the share of graphs that are to end so."""
ANCHORED = 0.92
"""Share of graphs that must compute more than elementwise operators do."""
TRIES = 24


def draw(menus: Menus, dice: Dice, preset: Preset, counts: tuple[int, int]) -> Graph | None:
    """Draw a graph of *counts* operators, fewest and most; None where the draw came to nothing."""
    goal = _goal(dice, *counts)
    canvas = Canvas(dice, menus, goal, preset.tensor_elements // LEAST_BATCH, preset.lane)
    x: int | None = canvas.add_input(*_input(dice))
    wanted = dice.weighted((1, 2, 3), INPUT_WEIGHTS)
    kept_free = TAIL if dice.chance(TAILED) else 0
    for _ in range(TRIES):
        if x is None or canvas.room <= kept_free or canvas.value(x).layout == "scalars":
            break
        x = _moved(canvas, x, _move(dice, missing=wanted - len(canvas.inputs)))
    if kept_free and x is not None and canvas.value(x).layout != "scalars":
        _moved(canvas, x, patterns.tail)
    return _accepted(canvas, dice, counts[0], preset.lane)


def _moved(canvas: Canvas, x: int, move: moves.Move) -> int:
    """Where everything leads to after *move*; *x* again where that came to nothing."""
    mark = canvas.mark()
    made = move(canvas, x)
    if made is None:
        canvas.back(mark)
        return x
    return made


def _accepted(canvas: Canvas, dice: Dice, least: int, lane: Lane) -> Graph | None:
    graph = canvas.graph
    if sum(op not in VIEWS for op in graph.ops) < max(least, 1):
        return None
    flat = all(node.rule.family == "elementwise" for node in graph.nodes)
    if flat and canvas.menus.anchored and dice.chance(ANCHORED):
        return None
    return None if is_weak(graph, lane) else graph


def _goal(dice: Dice, least: int, most: int) -> int:
    counts = range(least, most + 1)
    weights = [COUNT_WEIGHTS[min(max(count - 2, 0), len(COUNT_WEIGHTS) - 1)] for count in counts]
    return dice.weighted(counts, weights)


def _move(dice: Dice, missing: int) -> moves.Move:
    """Choose a move; one that brings an input while some are *missing*, and not otherwise."""
    return dice.cumulated(_MOVES, _HURRIED if missing > 0 else _COMPLETE)


def _input(dice: Dice) -> tuple[Layout, Shape]:
    """Choose what the first input is."""
    layout = dice.weighted(list(LAYOUT_WEIGHTS), list(LAYOUT_WEIGHTS.values()))
    return layout, shape_of(dice, layout)


def shape_of(dice: Dice, layout: Layout) -> Shape:
    """Choose sizes for a tensor of *layout*."""
    if layout == "rows":
        return (dice.size("features"),)
    if layout == "tokens":
        return dice.size("seq_len"), dice.size("dims")
    if layout == "heads":
        return dice.size("num_heads"), dice.size("seq_len"), dice.size("head_dims")
    if layout == "signal":
        return dice.size("channels"), dice.size("length")
    channels, depth = dice.size("channels"), dice.size("depth")
    height = dice.size("height" if layout == "image" else "depth")
    square = dice.name("height", int(height)), dice.name("width", int(height))
    return (channels, *square) if layout == "image" else (channels, depth, *square)
