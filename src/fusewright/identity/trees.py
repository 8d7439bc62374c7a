"""The shapes of the trees of a class: which kinds of expressions and statements it is built of."""

import ast
from collections import Counter
from functools import lru_cache

import xxhash

from fusewright.identity.program import Function, methods, read

_LEAST = 4
"""Nodes of the smallest subtree that counts: every problem has all of the smaller ones."""


@lru_cache(maxsize=8)
def tree_pieces(code: str) -> frozenset[int]:
    """Shapes of the subtrees of `Model` in *code*, as 32-bit hashes; empty where there is none.

    A shape is made of the kinds of nodes alone, children in any order; what occurs twice counts
    twice. Like the test of arXiv 2602.24286, it sees neither names nor operators.

    Raises:
        SyntaxError: *code* cannot be read.
    """
    cls = read(code).classes.get("Model")
    found: Counter[int] = Counter()
    for method in methods(cls).values() if cls else ():
        _count(method, found)
    return frozenset(
        xxhash.xxh32_intdigest(f"{shape}:{number}".encode())
        for shape, count in found.items()
        for number in range(count)
    )


def _count(node: ast.AST, found: Counter[int]) -> tuple[int, int]:
    """Count the shapes under *node* into *found*; returns the shape of *node*, and its nodes."""
    children = [_count(child, found) for child in ast.iter_child_nodes(node) if _counts(child)]
    inner = ",".join(sorted(f"{shape:x}" for shape, _ in children))
    shape = xxhash.xxh32_intdigest(f"{type(node).__name__}({inner})".encode())
    size = 1 + sum(nodes for _, nodes in children)
    if size >= _LEAST and not isinstance(node, Function):
        found[shape] += 1
    return shape, size


def _counts(node: ast.AST) -> bool:
    return not isinstance(node, ast.expr_context | ast.arguments)
