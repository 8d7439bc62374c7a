"""Gather what a class needs into one text that runs with PyTorch alone."""

import ast
import builtins
import symtable
from collections.abc import Iterator

from fusewright.operators.transformers.arguments import Spelled
from fusewright.operators.transformers.library import Definition, Import, Library
from fusewright.operators.transformers.tidy import tidy
from fusewright.operators.transformers.unfit import UnfitError

MOST_LINES = 40
"""Longest text of the class itself, lines without comments and docstrings."""
MOST_LINES_IN_ALL = 160
"""Longest text with everything that it needs."""


def excerpt(library: Library, spelled: Spelled) -> str:
    """The text of `spelled.root`, after the imports and the definitions that it needs.

    Raises:
        UnfitError: It is too long, or needs what the library does not define in plain text.
    """
    gathering = _Gathering(library, spelled)
    own = gathering.text(spelled.root)
    if own.count("\n") >= MOST_LINES:
        raise UnfitError(f"{own.count(chr(10)) + 1} lines: more than {MOST_LINES}")
    gathering.add(spelled.root)
    whole = "\n\n\n".join(["\n".join(sorted(gathering.imports)), *gathering.texts.values()])
    if whole.count("\n") >= MOST_LINES_IN_ALL:
        raise UnfitError(f"{whole.count(chr(10)) + 1} lines: more than {MOST_LINES_IN_ALL} in all")
    return f"{whole}\n"


class _Gathering:
    def __init__(self, library: Library, spelled: Spelled) -> None:
        self.imports: set[str] = set()
        self.texts: dict[str, str] = {}
        self._library = library
        self._spelled = spelled
        self._origins: dict[str, Definition] = {}

    def text(self, definition: Definition) -> str:
        """The text of *definition* alone."""
        return ast.unparse(self._spelled.classes.get(definition) or tidy(definition.node))

    def add(self, definition: Definition) -> None:
        """Put down *definition*, after whatever it names."""
        known = self._origins.setdefault(definition.name, definition)
        if known != definition:
            raise UnfitError(f"two definitions are called '{definition.name}'")
        text = self.text(definition)
        for name in sorted(free_names(text)):
            if name == definition.name or name in self._origins:
                continue
            helper = self._spelled.helpers.get(name)
            found = helper or self._resolve(definition.module, name)
            if isinstance(found, Definition):
                self.add(found)
            else:
                self.imports.add(found.text)
        self.texts[definition.name] = text

    def _resolve(self, module: str, name: str) -> Definition | Import:
        if name == "nn":
            return Import("from torch import nn")
        found = self._library.resolve(module, name)
        if isinstance(found, Definition) and found.name != name:
            raise UnfitError(f"'{name}' is another name of {found.name}")
        return found


def free_names(text: str) -> set[str]:
    """Names that *text* reads and neither binds nor finds among the built-in ones."""
    table = symtable.symtable(text, "<excerpt>", "exec")
    bound = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned()}
    bound |= {child.get_name() for child in table.get_children()}
    return {name for name in _read(table) if name not in bound and not hasattr(builtins, name)}


def _read(table: symtable.SymbolTable) -> Iterator[str]:
    for symbol in table.get_symbols():
        outside = symbol.is_global() or table.get_type() == "module"
        if symbol.is_referenced() and outside:
            yield symbol.get_name()
    for child in table.get_children():
        yield from _read(child)
