"""Which classes of the library may be operators, by their text alone."""

import ast
import re
from collections.abc import Iterator

from fusewright.operators.transformers.arguments import method
from fusewright.operators.transformers.library import Definition, Library, Text

PATTERN = "models/*/modeling_*.py"

_BASES = {"nn.Module", "torch.nn.Module", "GradientCheckpointingLayer", "nn.Embedding",
          "nn.LayerNorm", "nn.Linear", "nn.Conv1d", "nn.Conv2d", "nn.GroupNorm"}  # fmt: skip
_OTHER_LICENCE = re.compile(
    r"\bMIT License|\bBSD|creative commons|non-?commercial|Permission is", re.IGNORECASE
)
_MOST_REQUIRED = 4
"""More arguments than this are a model's affair, and no operator's."""


def candidates(library: Library) -> Iterator[Definition]:
    """Yield the module classes of *library* that its licence covers, by file and place."""
    for module in library.modules(PATTERN):
        text = library.text(module)
        if text and not _OTHER_LICENCE.search(text.header):
            yield from _of(text)


def _of(text: Text) -> Iterator[Definition]:
    for name, node in text.definitions.items():
        if isinstance(node, ast.ClassDef) and _is_candidate(node, text):
            yield Definition(text.module, name, node)


def _is_candidate(node: ast.ClassDef, text: Text) -> bool:
    if not _is_module(node, text):
        return False
    forward = method(node, "forward")
    if forward is None:
        return any(isinstance(base, ast.Name) for base in node.bases)
    required = len(forward.args.args) - 1 - len(forward.args.defaults)
    return 1 <= required <= _MOST_REQUIRED and not forward.args.vararg


def _is_module(node: ast.ClassDef, text: Text) -> bool:
    """Whether *node* comes, through bases of its own file, from a module that holds no weights."""
    for base in node.bases:
        said = ast.unparse(base)
        inner = text.definitions.get(said)
        if said in _BASES or (isinstance(inner, ast.ClassDef) and _is_module(inner, text)):
            return True
    return False
