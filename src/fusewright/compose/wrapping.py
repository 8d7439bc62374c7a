"""Break long lines of Python as formatters do: after the bracket that reaches the line's end."""

WIDTH = 88
_PAIRS = {"(": ")", "[": "]", "{": "}"}


def wrapped(line: str) -> list[str]:
    """Break *line* until each part is at most `WIDTH` wide, as far as its brackets allow."""
    if len(line) <= WIDTH:
        return [line]
    start = _opening(line)
    if start is None:
        return [line]
    end = _closing(line, start)
    indent = " " * (len(line) - len(line.lstrip()))
    inner = f"{indent}    {line[start + 1 : end]}"
    if len(inner) <= WIDTH:
        return [line[: start + 1], inner, f"{indent}{line[end:]}"]
    parts = [f"{indent}    {part}," for part in split_arguments(line[start + 1 : end])]
    return [line[: start + 1], *(row for part in parts for row in wrapped(part)),
            f"{indent}{line[end:]}"]  # fmt: skip


def split_arguments(text: str) -> list[str]:
    """Split at the commas outside of brackets."""
    parts, depth, start = [], 0, 0
    for place, character in enumerate(text):
        depth += (character in _PAIRS) - (character in _PAIRS.values())
        if character == "," and depth == 0:
            parts.append(text[start:place].strip())
            start = place + 1
    return [part for part in (*parts, text[start:].strip()) if part]


def _opening(line: str) -> int | None:
    """Place of the outermost bracket that closes last."""
    depth, found = 0, None
    for place, character in enumerate(line):
        if character in _PAIRS:
            found = place if depth == 0 else found
            depth += 1
        elif character in _PAIRS.values():
            depth -= 1
    return found


def _closing(line: str, start: int) -> int:
    depth = 0
    for place in range(start, len(line)):
        depth += (line[place] in _PAIRS) - (line[place] in _PAIRS.values())
        if depth == 0:
            return place
    return len(line)
