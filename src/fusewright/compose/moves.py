"""Moves on a canvas: each takes the tensor that everything leads to, and gives the next such one.

A move closes every branch that it opens, so that no graph has a dead end. One that gives None may
leave unfinished work behind, which its caller takes back.
"""

from collections.abc import Callable

from fusewright.compose.canvas import TRIES, Canvas
from fusewright.compose.menu import Menu
from fusewright.operators.catalogue import Rule

Move = Callable[[Canvas, int], int | None]

MOST_RECALLED = 3
"""Tensors from before that are tried before a move is given up."""


def step(canvas: Canvas, x: int) -> int | None:
    """Apply an operator of one tensor."""
    return canvas.step(x, canvas.menus.steps)


def meet(canvas: Canvas, x: int) -> int | None:
    """Join with new inputs."""
    return meet_by(canvas, x, canvas.menus.joins)


def meet_by(canvas: Canvas, x: int, menu: Menu) -> int | None:
    """Join with new inputs by an operator of *menu*."""
    for _ in range(TRIES):
        rule, mark = menu.draw(canvas.dice, canvas.value(x).layout), canvas.mark()
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
    for older in canvas.others(x)[:MOST_RECALLED]:
        made = meet_again(canvas, x, older)
        if made is not None:
            return made
    return None


def fork(canvas: Canvas, x: int) -> int | None:
    """Treat one tensor in two ways and join the results."""
    left, right = branch(canvas, x), branch(canvas, x)
    if left is None or right is None:
        return None
    return meet_again(canvas, left, right)


def residual(canvas: Canvas, x: int) -> int | None:
    """Go one or two operators on and come back to where it started."""
    y = branch(canvas, x)
    if y is not None and (not canvas.fits(x, y) or canvas.dice.chance(0.5)):
        y = branch(canvas, y) or y
    if y is None:
        return None
    if canvas.fits(x, y):
        return canvas.join(y, x, canvas.menus.sums)
    return meet_again(canvas, y, x)


def gate(canvas: Canvas, x: int) -> int | None:
    """Multiply by numbers between zero and one that come from the same tensor."""
    inner = branch(canvas, x) if canvas.room > 2 and canvas.dice.chance(0.7) else x  # noqa: PLR2004
    squashed = None if inner is None else canvas.step(inner, canvas.menus.squashes)
    if squashed is None or not canvas.fits(x, squashed):
        return None
    return canvas.join(x, squashed, canvas.menus.gates)


def meet_again(canvas: Canvas, x: int, y: int) -> int | None:
    """Join two tensors by whatever takes their shapes."""
    menus = canvas.menus
    return canvas.join(x, y, menus.joins if canvas.fits(x, y) else menus.odd_joins)


def branch(canvas: Canvas, x: int) -> int | None:
    """Apply an operator of one tensor, where there is room to join it with something."""
    return canvas.step(x, canvas.menus.steps) if canvas.room > 1 else None
