"""Moves that write patterns of real layers: several operators that belong together.

As with every move, None may leave unfinished work behind, which the caller takes back.
"""

from fusewright.compose.canvas import Canvas
from fusewright.compose.menu import Menu
from fusewright.compose.moves import branch, meet_by
from fusewright.operators.catalogue import Layout, Shape
from fusewright.operators.catalogue.value import PLACES

LONGEST_PATTERN = 3
"""Operators of the longest pattern without a branch."""


def block(canvas: Canvas, x: int) -> int | None:
    """Convolve, normalize and activate, in one of the orders that people do."""
    menus, dice = canvas.menus, canvas.dice
    if canvas.value(x).layout not in PLACES or canvas.room < LONGEST_PATTERN:
        return None
    conv, norm, act = menus.of("conv"), menus.of("norm"), menus.activations
    return _chain(canvas, x, *dice.one_of(((conv, norm, act), (conv, norm, act),
                                           (norm, act, conv), (conv, act, norm))))  # fmt: skip


def gated_mlp(canvas: Canvas, x: int) -> int | None:
    """Project twice and multiply, or once and gate one half by the other."""
    menus, dice = canvas.menus, canvas.dice
    up = canvas.step(x, menus.of("matmul")) if canvas.room > LONGEST_PATTERN else None
    if up is None or dice.chance(0.55):
        return None if up is None else canvas.step(up, menus.glus)
    with dice.pinned(canvas.value(up).feature):
        gate = canvas.step(x, menus.of("matmul"))
    if gate is None or not canvas.fits(up, gate):
        return None
    if dice.chance(0.5) and canvas.room > 1:
        gate = canvas.step(gate, menus.activations)
    joined = None if gate is None else canvas.join(gate, up, menus.gates)
    if joined is None or canvas.room == 0 or dice.chance(0.4):
        return joined
    return canvas.step(joined, menus.of("matmul")) or joined


def attention(canvas: Canvas, x: int) -> int | None:
    """Weigh the positions of a sequence by how they match."""
    layout = canvas.value(x).layout
    rule = canvas.menus.attentions.draw(canvas.dice, layout)
    key = None if rule is None else _alike(canvas, x)
    value = None if key is None else _alike(canvas, x)
    if rule is None or key is None or value is None:
        return None
    return canvas.place(rule, [x, key, value])


def scan_gate(canvas: Canvas, x: int) -> int | None:
    """Gate a tensor, or something made of it, and scan the result."""
    menus = canvas.menus
    squashed = canvas.step(x, menus.squashes) if canvas.room > LONGEST_PATTERN - 1 else None
    gated = None if squashed is None else canvas.join(x, squashed, menus.gates)
    return None if gated is None else canvas.step(gated, menus.of("scan"))


def mixture(canvas: Canvas, x: int) -> int | None:
    """Weigh a tensor by a softmax of it, or of a new input, and sum."""
    menus, dice = canvas.menus, canvas.dice
    if canvas.room < LONGEST_PATTERN:
        return None
    fresh = canvas.add_input(*_fit(canvas, x)) if dice.chance(0.5) else None
    treated = branch(canvas, x) if fresh is None else x
    weights = canvas.step(x if fresh is None else fresh, menus.of("softmax"))
    if treated is None or weights is None or not canvas.fits(treated, weights):
        return None
    joined = canvas.join(treated, weights, menus.gates)
    if joined is None or canvas.room == 0:
        return joined
    return canvas.step(joined, menus.of("reduction")) or joined


def head(canvas: Canvas, x: int) -> int | None:
    """Pool the positions and project what is left."""
    menus, layout = canvas.menus, canvas.value(x).layout
    if layout == "rows" or canvas.room < LONGEST_PATTERN:
        return None
    pooled = canvas.step(x, menus.heads)
    if pooled is None:
        return None
    if canvas.value(pooled).layout in PLACES:
        pooled = canvas.step(pooled, menus.flattens)
    return None if pooled is None else canvas.step(pooled, menus.of("matmul"))


def tail(canvas: Canvas, x: int) -> int | None:
    """Compare with a target; most often nothing comes after, but for a reduction."""
    made = meet_by(canvas, x, canvas.menus.losses) if canvas.room else None
    if made is None or canvas.room == 0 or canvas.dice.chance(0.5):
        return made
    return canvas.step(made, canvas.menus.of("reduction")) or made


def _chain(canvas: Canvas, x: int, *menus: Menu) -> int | None:
    made: int | None = x
    for menu in menus:
        made = None if made is None else canvas.step(made, menu)
    return made


def _fit(canvas: Canvas, x: int) -> tuple[Layout, Shape]:
    return canvas.value(x).layout, canvas.value(x).shape


def _alike(canvas: Canvas, x: int) -> int | None:
    """A projection of *x* with its shape, or a new input of that shape."""
    mark = canvas.mark()
    if canvas.room > 1 and canvas.dice.chance(0.6):
        with canvas.dice.pinned(canvas.value(x).feature):
            made = canvas.step(x, canvas.menus.of("matmul"))
        if made is not None and canvas.value(made).shape == canvas.value(x).shape:
            return made
        canvas.back(mark)
    return canvas.add_input(*_fit(canvas, x))
