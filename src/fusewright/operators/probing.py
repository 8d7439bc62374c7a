"""Feed an elementwise operator a wide grid: where it is finite, and what tells it from others."""

import hashlib
import math
from collections.abc import Callable

import torch
from torch import Tensor

from fusewright.operators.expression import attempt

Elementwise = Callable[[Tensor], Tensor]

_FAR = [sign * far for sign in (-1.0, 1.0) for far in (1e2, 1e3, 1e4)]
# relu6 equals relu on a standard normal: only a wide grid, infinities included, tells them apart.
# Its step is no binary fraction, lest powers end in a 5 that rounding decides.
_WIDE = torch.tensor([*torch.linspace(-30.007, 30.013, 480), *_FAR, math.inf, -math.inf])
# Eighths hold the whole numbers, where most domains end.
_GRID = torch.tensor(sorted([*torch.linspace(-30, 30, 481).tolist(), *_FAR]))
_BISECTIONS = 40


def is_elementwise(function: Elementwise) -> bool:
    """Whether each output depends on the input of its own place alone."""
    # Any other function may refuse these shapes, or return what it likes.
    return attempt(lambda: _keeps_places(function)) is True


def _keeps_places(function: Elementwise) -> bool:
    wide = _WIDE.double()
    order = torch.randperm(len(wide), generator=torch.Generator().manual_seed(0))
    whole = function(wide)
    pairs = [(function(wide[order]), whole[order]), (function(wide[:7]), whole[:7])]
    return whole.shape == wide.shape and all(
        one.shape == other.shape and torch.allclose(one, other, equal_nan=True)
        for one, other in pairs
    )


def fingerprint(function: Elementwise) -> str:
    """Hash of the values on the wide grid, to six digits of double precision."""
    words = [f"{value + 0.0:.6g}" for value in function(_WIDE.double()).tolist()]
    return hashlib.sha256(" ".join(words).encode()).hexdigest()


def finite_interval(function: Elementwise) -> tuple[float | None, float | None]:
    """Widest interval on which *function* is finite in single precision; None is unbounded.

    A singular point between two eighths goes unseen.
    """
    grid = _GRID.tolist()
    first, last = _longest_run(torch.isfinite(function(_GRID)).tolist())
    low = None if first == 0 else _edge(function, grid[first], grid[first - 1])
    high = None if last == len(grid) - 1 else _edge(function, grid[last], grid[last + 1])
    return low, high


def _longest_run(flags: list[bool]) -> tuple[int, int]:
    """First and last index of the longest run of True; some index where there is none."""
    best, start = (0, 0), 0
    for index, flag in enumerate(flags):
        if not flag:
            start = index + 1
        elif index - start >= best[1] - best[0]:
            best = (start, index)
    return best


def _edge(function: Elementwise, inside: float, outside: float) -> float:
    for _ in range(_BISECTIONS):
        middle = (inside + outside) / 2
        if bool(torch.isfinite(function(torch.tensor([middle]))).all()):
            inside = middle
        else:
            outside = middle
    return _towards_inside(inside, outside)


def _towards_inside(inside: float, outside: float) -> float:
    """*inside* to six digits, rounded away from *outside*."""
    if inside == 0:
        return inside
    scale = 10.0 ** (5 - math.floor(math.log10(abs(inside))))
    rounding = math.floor if outside > inside else math.ceil
    return float(f"{rounding(inside * scale) / scale:.6g}")
