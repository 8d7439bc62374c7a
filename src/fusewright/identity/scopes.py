"""Which names a module, class, function or comprehension binds, and their new names."""

import ast
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from fusewright.identity.program import Function, parameters

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_Inner = Function | ast.ClassDef | ast.Lambda | Comprehension


@dataclass
class Scope:
    """The names of one scope, renamed in order of first appearance."""

    names: frozenset[str]
    prefix: str
    counter: Iterator[int] = field(default_factory=itertools.count)
    renamed: dict[str, str] = field(default_factory=dict)

    def rename(self, name: str) -> str:
        """Return the new name of *name*, always the same."""
        if name not in self.renamed:
            self.renamed[name] = f"{self.prefix}{next(self.counter)}"
        return self.renamed[name]


def bindings(scope: ast.AST) -> frozenset[str]:
    """Names that *scope* itself binds, imports apart; its inner scopes are not entered."""
    bound, outer = set[str](), set[str]()
    pending = list(_entries(scope))
    while pending:
        node = pending.pop()
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                bound.add(name)
            case ast.ClassDef(name=name) | ast.arg(arg=name):
                bound.add(name)
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                bound.add(name)
            case ast.ExceptHandler(name=str(name)):
                bound.add(name)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                outer.update(names)
        if not isinstance(node, _Inner):
            pending += ast.iter_child_nodes(node)
    return frozenset(bound - outer)


def _entries(scope: ast.AST) -> Iterable[ast.AST]:
    if isinstance(scope, Comprehension):
        return [generator.target for generator in scope.generators]
    if isinstance(scope, ast.Lambda):
        return [*parameters(scope), scope.body]
    if isinstance(scope, Function):
        return [*parameters(scope), *scope.body]
    return getattr(scope, "body", [])
