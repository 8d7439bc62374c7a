"""Moves on a canvas: each takes the tensor that everything leads to, and gives the next such one.

A move closes every branch that it opens, so that no graph has a dead end. One that gives None may
leave unfinished work behind, which its caller takes back.
"""

from collections.abc import Callable

from fusewright.compose.canvas import TRIES, Canvas
from fusewright.operators.catalogue import Rule

Move = Callable[[Canvas, int], int | None]


def step(canvas: Canvas, x: int) -> int | None:
    """Apply an operator of one tensor."""
    return canvas.step(x, canvas.menus.steps)


def meet(canvas: Canvas, x: int) -> int | None:
    """Join with new inputs."""
    for _ in range(TRIES):
        rule, mark = canvas.menus.joins.draw(canvas.dice, canvas.value(x).layout), canvas.mark()
        if rule is None:
            return None
        operands = [x, *_new_inputs(canvas, rule, x)]
        if canvas.dice.chance(0.3):
            operands = [*operands[1::-1], *operands[2:]]
        made = canvas.place(rule, operands)
        if made is not None:
            return made
        canvas.back(mark)
    return None


def _new_inputs(canvas: Canvas, rule: Rule, x: int) -> list[int]:
    """As many inputs as *rule* takes beside *x*, or as there is room for."""
    added: list[int] = []
    while len(added) < rule.arity - 1:
        last = canvas.value(added[-1] if added else x)
        fit = rule.partner(canvas.dice, last) if rule.partner else (last.layout, last.shape)
        reference = canvas.add_input(*fit)
        if reference is None:
            break
        added.append(reference)
    return added


def recall(canvas: Canvas, x: int) -> int | None:
    """Join with a tensor from before: a skip, or a second use of an input."""
    for older in canvas.others(x):
        made = canvas.join(x, older, canvas.menus.joins)
        if made is not None:
            return made
    return None


def fork(canvas: Canvas, x: int) -> int | None:
    """Treat one tensor in two ways and join the results."""
    left, right = _branch(canvas, x), _branch(canvas, x)
    if left is None or right is None:
        return None
    return canvas.join(left, right, canvas.menus.joins)


def residual(canvas: Canvas, x: int) -> int | None:
    """Go one or two operators on and join with where it started."""
    y = _branch(canvas, x)
    if y is not None and canvas.dice.chance(0.5):
        y = _branch(canvas, y) or y
    return None if y is None else canvas.join(y, x, canvas.menus.joins)


def gate(canvas: Canvas, x: int) -> int | None:
    """Multiply by numbers between zero and one that come from the same tensor."""
    inner = _branch(canvas, x) if canvas.room > 2 and canvas.dice.chance(0.7) else x  # noqa: PLR2004
    squashed = None if inner is None else canvas.step(inner, canvas.menus.squashes)
    return None if squashed is None else canvas.join(x, squashed, canvas.menus.gates)


def attend(canvas: Canvas, x: int) -> int | None:
    """Weigh the positions of a sequence by how they match."""
    layout = canvas.value(x).layout
    rule = canvas.menus.attentions.draw(canvas.dice, layout)
    key = None if rule is None else _alike(canvas, x)
    value = None if key is None else _alike(canvas, x)
    if rule is None or key is None or value is None:
        return None
    return canvas.place(rule, [x, key, value])


def _alike(canvas: Canvas, x: int) -> int | None:
    """A projection of *x* with its shape, or a new input of that shape."""
    mark = canvas.mark()
    if canvas.room > 1 and canvas.dice.chance(0.6):
        made = canvas.step(x, canvas.menus.products)
        if made is not None and canvas.value(made).shape == canvas.value(x).shape:
            return made
        canvas.back(mark)
    return canvas.add_input(canvas.value(x).layout, canvas.value(x).shape)


def _branch(canvas: Canvas, x: int) -> int | None:
    return canvas.step(x, canvas.menus.steps) if canvas.room > 1 else None
