"""Break long lines of Python as formatters do: after the bracket that reaches the line's end."""

import re
from collections.abc import Iterator
from itertools import pairwise

WIDTH = 88
_OPENING, _CLOSING = "([{", ")]}"
_MARK = re.compile(r"[()\[\]{},]| \* ")


def wrapped(line: str) -> list[str]:
    """Break *line* until each part is at most `WIDTH` wide, as far as its brackets allow."""
    if len(line) <= WIDTH:
        return [line]
    indent = " " * (len(line) - len(line.lstrip()))
    product = _product(line)
    if product is not None:
        return [line[:product], f"{indent}{line[product + 1 :]}"]
    brackets = _outermost(line)
    if brackets is None:
        return [line]
    start, end = brackets
    inner = line[start + 1 : end]
    parts = split_arguments(inner)
    head, tail = line[: start + 1], f"{indent}{line[end:]}"
    if len(indent) + 4 + len(inner) <= WIDTH and not (_is_list(head) and len(parts) > 1):
        return [head, f"{indent}    {inner}", tail]
    rows = [row for part in parts for row in wrapped(f"{indent}    {part},")]
    return [head, *rows, tail]


def split_arguments(text: str) -> list[str]:
    """Split at the commas outside of brackets."""
    commas = [place for place, mark, depth in _marks(text) if mark == "," and not depth]
    edges = [-1, *commas, len(text)]
    parts = (text[a + 1 : b].strip() for a, b in pairwise(edges))
    return [part for part in parts if part]


def _marks(text: str) -> Iterator[tuple[int, str, int]]:
    """Each bracket, comma and product with its place, and the brackets that are open after it."""
    depth = 0
    for found in _MARK.finditer(text):
        mark = found[0]
        if mark in _OPENING:
            depth += 1
        elif mark in _CLOSING:
            depth -= 1
        yield found.start(), mark, depth


def _product(line: str) -> int | None:
    """Place before the multiplication that holds an argument together."""
    if not line.endswith(","):
        return None
    return next((place for place, mark, depth in _marks(line) if mark == " * " and not depth), None)


def _outermost(line: str) -> tuple[int, int] | None:
    """Places of the last pair of brackets that is inside no other."""
    start = end = None
    for place, mark, depth in _marks(line):
        if mark in _OPENING and depth == 1:
            start = place
        elif mark in _CLOSING and depth == 0:
            end = place
    return None if start is None or end is None else (start, end)


def _is_list(head: str) -> bool:
    """Whether *head* opens a list, which formatters break at every comma."""
    return head.endswith((" [", "(["))
