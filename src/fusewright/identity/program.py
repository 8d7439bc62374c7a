"""A problem's text, read and never run: its tree, and what its names stand for.

Every static reading goes through `read`, so hostile text (too deep, too long, not UTF-8, null
bytes) ends here, as a `SyntaxError`.
"""

import ast
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache

MAX_CHARS = 200_000
MAX_DEPTH = 80
"""Longest text and deepest tree that are read: eight and five times the most of KernelBench."""

Function = ast.FunctionDef | ast.AsyncFunctionDef
MODULE = "torch.nn.Module"


@dataclass(frozen=True, eq=False)
class Program:
    """The parsed text of one problem. Shared and cached: its tree must not be changed."""

    tree: ast.Module
    imports: Mapping[str, str]
    """Dotted path of each name that an import binds: `nn` is `torch.nn`, however it came in."""

    @cached_property
    def classes(self) -> dict[str, ast.ClassDef]:
        """Top-level classes by name; a later one replaces an earlier one, as it would when run."""
        return {n.name: n for n in self.tree.body if isinstance(n, ast.ClassDef)}

    @cached_property
    def functions(self) -> dict[str, Function]:
        """Top-level functions by name."""
        return {n.name: n for n in self.tree.body if isinstance(n, Function)}

    @cached_property
    def helpers(self) -> dict[str, Function]:
        """Functions by name wherever they are defined, methods apart."""
        classes = (node for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef))
        own_methods = {id(method) for cls in classes for method in cls.body}
        found = (node for node in ast.walk(self.tree) if isinstance(node, Function))
        return {node.name: node for node in found if id(node) not in own_methods}

    def path(self, node: ast.expr) -> str | None:
        """Dotted path of an imported thing: `F.relu` is `torch.nn.functional.relu`."""
        if isinstance(node, ast.Name):
            return self.imports.get(node.id)
        if isinstance(node, ast.Attribute) and (base := self.path(node.value)):
            return f"{base}.{node.attr}"
        return None

    def lineage(self, cls: ast.ClassDef) -> list[ast.ClassDef]:
        """The class and those of its bases that the file defines, nearest first."""
        found = [cls]
        for heir in found:
            names = [base.id for base in heir.bases if isinstance(base, ast.Name)]
            known = dict.fromkeys(self.classes[name] for name in names if name in self.classes)
            found += [base for base in known if base not in found]
        return found

    def is_module(self, cls: ast.ClassDef) -> bool:
        """Tell whether *cls* derives from `nn.Module`, directly or through classes of the file."""
        return any(self.path(base) == MODULE for c in self.lineage(cls) for base in c.bases)

    def methods(self, cls: ast.ClassDef) -> dict[str, Function]:
        """Methods of *cls* and of its bases in the file, by name."""
        chain = [methods(c) for c in reversed(self.lineage(cls))]
        return {name: method for level in chain for name, method in level.items()}


@lru_cache(maxsize=8)
def read(code: str) -> Program:
    """Parse *code*.

    Raises:
        SyntaxError: It is not Python, or longer or deeper than anyone writes by hand.
    """
    tree = parse(code)
    return Program(tree, dict(imported(tree)))


def parse(code: str) -> ast.Module:
    """Parse *code* to a tree of the caller's own.

    Raises:
        SyntaxError: As for `read`.
    """
    if len(code) > MAX_CHARS:
        raise SyntaxError(f"{len(code)} characters are more than {MAX_CHARS}")
    with syntax_guard():
        tree = ast.parse(code)
    level: list[ast.AST] = [tree]
    for _ in range(MAX_DEPTH):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    if level:
        raise SyntaxError(f"nested deeper than {MAX_DEPTH} levels")
    return tree


@contextmanager
def syntax_guard() -> Iterator[None]:
    """Turn all that Python's parser, compiler and unparser raise into `SyntaxError`.

    Raises:
        SyntaxError: Something of the kind was raised.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except (ValueError, RecursionError, MemoryError, OverflowError) as error:
        raise SyntaxError(str(error) or type(error).__name__) from error


def imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield name and dotted path of everything that *tree* imports, wherever it does."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                yield (alias.asname, alias.name) if alias.asname else (top, top)
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            yield from ((a.asname or a.name, f"{base}.{a.name}") for a in node.names)


def words(text: str) -> frozenset[str]:
    """Return the words of *text*: how the tables of names are written."""
    return frozenset(text.split())


def methods(cls: ast.ClassDef) -> dict[str, Function]:
    """Return the methods that the body of *cls* defines, by name."""
    return {n.name: n for n in cls.body if isinstance(n, Function)}


def parameters(function: Function | ast.Lambda) -> list[ast.arg]:
    """All parameters in order of definition, starred ones last."""
    args = function.args
    starred = [arg for arg in (args.vararg, args.kwarg) if arg]
    return [*args.posonlyargs, *args.args, *args.kwonlyargs, *starred]
