"""A size that remembers how it came about, so that generated code can name it.

`Size(64, "channels") * 2` is the int 128 and prints as `2 * channels` would in a constructor.
"""

import re
from typing import Self

_ATOM = re.compile(r"\w+")
_MULTIPLE = re.compile(r"(?:(\d+) \* )?([a-z_]\w*)")
_PRODUCT = re.compile(r"(?:\w+|\([^()]*\))(?: \* (?:\w+|\([^()]*\)))*")
_QUOTIENT = re.compile(r"(\w+) // (\d+)")


class Size(int):
    """An int with the expression that names it; sums, products and quotients keep both."""

    text: str

    def __new__(cls, value: int, text: str = "") -> Self:
        """Name *value* by *text*, by its digits where there is none."""
        size = super().__new__(cls, value)
        size.text = text or str(int(value))
        return size

    def __add__(self, other: int) -> "Size":
        text = _multiples(self.text, _text(other)) or f"{self.text} + {_text(other)}"
        return Size(int(self) + int(other), text)

    def __sub__(self, other: int) -> "Size":
        return Size(int(self) - int(other), f"{self.text} - {_factor(other)}")

    def __mul__(self, other: int) -> "Size":
        left = self.text if _PRODUCT.fullmatch(self.text) else _factor(self)
        return Size(int(self) * int(other), f"{left} * {_factor(other)}")

    def __rmul__(self, other: int) -> "Size":
        return Size(int(other) * int(self), f"{_text(other)} * {_factor(self)}")

    def __floordiv__(self, other: int) -> "Size":
        whole = _QUOTIENT.fullmatch(self.text)
        if whole:
            return Size(int(self) // int(other), f"{whole[1]} // {int(whole[2]) * int(other)}")
        return Size(int(self) // int(other), f"{_factor(self)} // {int(other)}")


ONE = Size(1)
"""A dimension that broadcasts."""


def _text(value: int) -> str:
    return value.text if isinstance(value, Size) else str(value)


def _multiples(text: str, other: str) -> str | None:
    """`3 * a` for `a` and `2 * a`, or for sums of such; None where they are made of others."""
    found = [_MULTIPLE.fullmatch(term) for term in (text, other)]
    left, right = found
    if left is None or right is None or left[2] != right[2]:
        return None
    return f"{int(left[1] or 1) + int(right[1] or 1)} * {left[2]}"


def _factor(value: int) -> str:
    text = _text(value)
    return text if _ATOM.fullmatch(text) else f"({text})"
