"""The canonical text of a problem: the same under renaming, formatting and comments."""

import ast
from functools import lru_cache

import xxhash

from fusewright.identity.program import parse, syntax_guard
from fusewright.identity.renaming import normalised
from fusewright.identity.stripping import numberless, stripped


@lru_cache(maxsize=8)
def canonical(code: str, *, numbers: bool = True) -> str:
    """Write *code* in the one form shared by all its renamings and reformattings.

    Names of locals, parameters, attributes, helper functions and classes, formatting, comments,
    docstrings, annotations and the spelling of imports change nothing; any other change does.
    Without *numbers*, every numeric literal is 0, so that sizes change nothing either.

    Raises:
        SyntaxError: *code* cannot be read.
    """
    tree = normalised(code)
    with syntax_guard():
        return ast.unparse(tree if numbers else numberless(tree))


def literals(code: str) -> list[str]:
    """Numbers and words of *code*, sorted, with repeats; docstrings and messages apart.

    Raises:
        SyntaxError: *code* cannot be read.
    """
    tree = stripped(parse(code))
    found = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return sorted(repr(value) for value in found)


def text_hash(text: str) -> str:
    """Sixteen hex digits that are the same on every machine (64-bit xxh3)."""
    return xxhash.xxh3_64_hexdigest(text.encode("utf-8", "surrogatepass"))
