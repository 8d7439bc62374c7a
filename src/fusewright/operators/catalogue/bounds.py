"""Bounds of elementwise operators from the bounds of their operands."""

import math

Bounds = tuple[float, float]


def total(x: Bounds, y: Bounds) -> Bounds:
    """Bounds of a sum."""
    return x[0] + y[0], x[1] + y[1]


def difference(x: Bounds, y: Bounds) -> Bounds:
    """Bounds of a difference."""
    return x[0] - y[1], x[1] - y[0]


def product(x: Bounds, y: Bounds) -> Bounds:
    """Bounds of a product."""
    corners = [a * b for a in x for b in y]
    return min(corners), max(corners)


def fraction(x: Bounds, _: Bounds) -> Bounds:
    """Bounds of *x* times a number between zero and one."""
    return min(x[0], 0.0), max(x[1], 0.0)


def weighed(x: Bounds, y: Bounds) -> Bounds:
    """Bounds of a product whose second factor is not negative and at most 1 above *y*."""
    return product(x, (0.0, max(y[1], 0.0) + 1.0))


def hypotenuse(x: Bounds, y: Bounds) -> Bounds:
    """Bounds of the root of a sum of squares."""
    return 0.0, math.hypot(max(map(abs, x)), max(map(abs, y)))


def curved(x: Bounds, y: Bounds) -> Bounds:
    """Bounds of *y* times a curve that is between -1 and *x*."""
    return product((-1.0, max(x[1], 0.0)), y)


def swung(x: Bounds, _: Bounds) -> Bounds:
    """Bounds of *x* times a number between -1 and 1."""
    peak = max(map(abs, x))
    return -peak, peak


def logarithmic(x: Bounds, y: Bounds) -> Bounds:
    """Bounds of *x* times `log1p(y)`."""
    return product(x, (math.log1p(y[0]), math.log1p(y[1])))


def logarithmic_sum(x: Bounds, y: Bounds) -> Bounds:
    """Bounds of `log(exp(x) + exp(y))`."""
    return max(x[0], y[0]), max(x[1], y[1]) + 0.7


def between(x: Bounds, y: Bounds) -> Bounds:
    """Bounds of a weighted mean, which may round past its ends."""
    return min(x[0], y[0]) - 1e-3, max(x[1], y[1]) + 1e-3


def greater(x: Bounds, y: Bounds) -> Bounds:
    """Bounds of the greater."""
    return max(x[0], y[0]), max(x[1], y[1])


def lesser(x: Bounds, y: Bounds) -> Bounds:
    """Bounds of the lesser."""
    return min(x[0], y[0]), min(x[1], y[1])


def plus_product(x: Bounds, y: Bounds, z: Bounds) -> Bounds:
    """Bounds of `x + y * z`, and of the same with a smaller factor."""
    return total(x, product(y, z))


def plus_quotient(x: Bounds, y: Bounds, _: Bounds) -> Bounds:
    """Bounds of `x + y / d` where *d* is half or more."""
    return total(x, product(y, (0.0, 2.0)))
