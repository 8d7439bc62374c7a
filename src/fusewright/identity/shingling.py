"""Overlapping five-token pieces of the classes of a problem, for measuring likeness."""

import ast
import re
from collections.abc import Iterator
from functools import lru_cache

import xxhash

from fusewright.identity.program import parse, syntax_guard
from fusewright.identity.renaming import normalised
from fusewright.identity.stripping import typed

WIDTH = 5
_TOKEN = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*|\*\*|//|[<>=!]=|\S")
_NUMBERED = re.compile(r"\b([gv])\d+\b")


def class_shingles(code: str) -> dict[str, frozenset[int]]:
    """Shingles of each class of *code*, as 32-bit hashes, by the name of the class.

    Literals count as their types, and dead statements of `forward` not at all.

    Raises:
        SyntaxError: *code* cannot be read.
    """
    return dict(_class_shingles(code))


def shingles(code: str) -> frozenset[int]:
    """Shingles of all classes of *code* together.

    Raises:
        SyntaxError: *code* cannot be read.
    """
    return frozenset().union(*class_shingles(code).values())


def jaccard(a: frozenset[int], b: frozenset[int]) -> float:
    """Share of the pieces of *a* and *b* that both hold; two empty sets are alike."""
    together = len(a | b)
    return len(a & b) / together if together else 1.0


@lru_cache(maxsize=8)
def _class_shingles(code: str) -> tuple[tuple[str, frozenset[int]], ...]:
    names = [node.name for node in _classes(parse(code))]
    tree = typed(normalised(code, living=True))
    with syntax_guard():
        texts = [ast.unparse(node) for node in _classes(tree)]
    return tuple((name, _shingle(text)) for name, text in zip(names, texts, strict=True))


def _classes(tree: ast.Module) -> Iterator[ast.ClassDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))


def _shingle(text: str) -> frozenset[int]:
    # Which local holds a value is no part of what is computed: one name may be used throughout,
    # or a new one at each step. With numbered locals half of such copies fell under 0.9.
    tokens = _TOKEN.findall(_NUMBERED.sub(r"\1", text))
    pieces = zip(*(tokens[start:] for start in range(min(WIDTH, len(tokens)))), strict=False)
    return frozenset(xxhash.xxh32_intdigest("\x1f".join(piece).encode()) for piece in pieces)
