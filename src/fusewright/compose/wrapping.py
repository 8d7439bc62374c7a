"""Break long lines of Python as formatters do: after the bracket that reaches the line's end."""

from collections.abc import Iterator
from itertools import pairwise

WIDTH = 88
_OPENING, _CLOSING = "([{", ")]}"


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
    commas = [place for place, character, depth in _depths(text) if character == "," and not depth]
    edges = [-1, *commas, len(text)]
    parts = (text[a + 1 : b].strip() for a, b in pairwise(edges))
    return [part for part in parts if part]


def _depths(text: str) -> Iterator[tuple[int, str, int]]:
    """Each character with its place and the brackets that are open after it."""
    depth = 0
    for place, character in enumerate(text):
        depth += (character in _OPENING) - (character in _CLOSING)
        yield place, character, depth


def _product(line: str) -> int | None:
    """Place before the multiplication that holds an argument together."""
    signs = (place for place, _, depth in _depths(line) if not depth and line[place:][:3] == " * ")
    return next(signs, None) if line.endswith(",") else None


def _outermost(line: str) -> tuple[int, int] | None:
    """Places of the last pair of brackets that is inside no other."""
    start = end = None
    for place, character, depth in _depths(line):
        if character in _OPENING and depth == 1:
            start = place
        elif character in _CLOSING and depth == 0:
            end = place
    return None if start is None or end is None else (start, end)


def _is_list(head: str) -> bool:
    """Whether *head* opens a list, which formatters break at every comma."""
    return head.endswith((" [", "(["))
