"""Calls that no problem needs, and randomness that makes its output unrepeatable."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from fusewright.filters.forbidden import BUILTINS, IMPORTS, METHODS, REFLECTION, is_forbidden
from fusewright.filters.randomness import random_calls
from fusewright.filters.unreadable import SYNTAX_ERROR, readable
from fusewright.identity import Program, read
from fusewright.identity.members import assignments, own, self_name
from fusewright.identity.program import Function, imported, methods
from fusewright.identity.scopes import bindings
from fusewright.protocols import Facts
from fusewright.records import Problem, Rejection

_DECORATORS = ("staticmethod", "torch.no_grad")
_Fault = tuple[int, str]
"""Line, and what is wrong with it."""


@dataclass(frozen=True)
class Banned:
    """Rejects a problem that does more than compute: see `fusewright.filters.forbidden`.

    *imports* are the modules it may import from; there a further one can be allowed.
    """

    imports: Sequence[str] = IMPORTS
    name: ClassVar[str] = "banned"
    reasons: ClassVar[tuple[str, ...]] = (SYNTAX_ERROR, "banned_call", "random_forward")

    @readable
    def judge(self, problem: Problem) -> Rejection | Facts | None:
        """Keep a problem that only computes, and computes the same each time."""
        return next(self.faults(problem), None)

    def faults(self, problem: Problem) -> Iterator[Rejection]:
        """Yield a rejection for each reason that applies, in order.

        Raises:
            SyntaxError: The text cannot be read.
        """
        program = read(problem.code)
        reader = _Reader(program, frozenset(self.imports))
        reader.visit(program.tree)
        for reason, found in (
            ("banned_call", reader.faults),
            ("random_forward", list(random_calls(program))),
        ):
            if found:
                line, what = min(found)
                yield Rejection.of(problem, "screen", reason, f"line {line}: {what}")


class _Reader(ast.NodeVisitor):
    def __init__(self, program: Program, imports: frozenset[str]) -> None:
        self.program = program
        self.imports = imports
        self.faults: list[_Fault] = []
        self.locals: list[frozenset[str]] = []
        self.defined = frozenset(_defined(program))
        self.me: str | None = None
        paths: dict[str, str] = {}
        for name, path in imported(program.tree):
            if paths.setdefault(name, path) != path:
                self.faults.append((1, f"{name} stands for both {paths[name]} and {path}"))

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.name not in self.imports:
                self._fault(node, f"import of {alias.name} is not allowed")

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = "." * node.level + (node.module or "")
        for alias in node.names:
            path = f"{module}.{alias.name}"
            if module not in self.imports or alias.name == "*" or is_forbidden(path, self.imports):
                self._fault(node, f"import of {path} is not allowed")

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if not isinstance(node.ctx, ast.Load) and not _is_rooted(node, self.me):
            # What is written outside the model stays for whoever runs after it.
            self._fault(node, f"assignment to {ast.unparse(node)} is not allowed")
        if path := self.program.path(node):
            self._path(node, path)
            return
        is_dunder = node.attr.startswith("__") and node.attr.endswith("__")
        is_own = own(node, self.me) is not None and node.attr in self.defined
        if (is_dunder and not _is_super_init(node)) or (node.attr in METHODS and not is_own):
            self._fault(node, f"attribute {node.attr} is not allowed")
        self.visit(node.value)

    def visit_Name(self, node: ast.Name) -> None:
        name = node.id
        if any(name in names for names in self.locals):
            return
        if path := self.program.path(node):
            self._path(node, path)
        elif name in BUILTINS or (name.startswith("__") and name != "__name__"):
            self._fault(node, f"{name} is not allowed")
        elif name in REFLECTION:
            self._fault(node, f"{name} is allowed only as a call")

    def visit_Call(self, node: ast.Call) -> None:
        match node:
            case ast.Call(func=ast.Name(id=name), args=[target, *rest]) if name in REFLECTION:
                attribute = rest[0].value if rest and isinstance(rest[0], ast.Constant) else None
                if not isinstance(attribute, str):
                    self._fault(node, f"{name} needs an attribute's name that is written out")
                    return
                context = ast.Load() if name in ("getattr", "hasattr") else ast.Store()
                self.visit(ast.copy_location(ast.Attribute(target, attribute, context), node))
                for argument in rest[1:]:
                    self.visit(argument)
            case _:
                self.generic_visit(node)

    def visit_Global(self, node: ast.Global) -> None:
        self._fault(node, f"global {', '.join(node.names)} is not allowed")

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._decorators(node)
        outer, self.me = self.me, None
        self.generic_visit(node)
        self.me = outer

    def visit_FunctionDef(self, node: Function) -> None:
        self._decorators(node)
        outer, self.me = self.me, self.me or self_name(node)
        self.locals.append(bindings(node))
        self.generic_visit(node)
        self.locals.pop()
        self.me = outer

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._fault(node, "async functions are not allowed")

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.locals.append(bindings(node))
        self.generic_visit(node)
        self.locals.pop()

    def _decorators(self, node: Function | ast.ClassDef) -> None:
        for decorator in node.decorator_list:
            named = decorator.func if isinstance(decorator, ast.Call) else decorator
            name = named.id if isinstance(named, ast.Name) else None
            if (self.program.path(named) or name) not in _DECORATORS:
                self._fault(decorator, f"decorator {ast.unparse(decorator)} is not allowed")

    def _path(self, node: ast.expr, path: str) -> None:
        if is_forbidden(path, self.imports):
            self._fault(node, f"{path} is not allowed")
        elif path in self.imports:
            self._fault(node, f"module {path} is used as a value")

    def _fault(self, node: ast.stmt | ast.expr, what: str) -> None:
        self.faults.append((node.lineno, what))


def _defined(program: Program) -> Iterator[str]:
    for cls in program.classes.values():
        for name, method in methods(cls).items():
            yield name
            yield from (attribute for attribute, _ in assignments(method))


def _is_rooted(node: ast.expr, name: str | None) -> bool:
    """Whether a chain of attributes and items begins at *name*."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return name is not None and isinstance(node, ast.Name) and node.id == name


def _is_super_init(node: ast.Attribute) -> bool:
    match node:
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr="__init__"):
            return True
        case _:
            return False
