"""Rename everything that a problem's author was free to name, in the order of first appearance.

What is left is what the text computes, with the names of imported things spelled out in full.
"""

import ast
from collections.abc import Iterator
from typing import Any

from fusewright.identity.liveness import dead_in_forward
from fusewright.identity.members import REGISTERS, assignments, own, self_name
from fusewright.identity.program import Function, Program, methods, parameters, parse, read
from fusewright.identity.scopes import Comprehension, Scope, bindings
from fusewright.identity.stripping import stripped

_CONTRACT = frozenset({"Model", "get_inputs", "get_init_inputs"})


def normalised(code: str, *, living: bool = False) -> ast.Module:
    """Return the tree of *code*, stripped, with its free names replaced.

    Module-level names become `g0`, `g1` ..., attributes of a class `a0` ..., locals of a function
    `v0` ...; keyword arguments of the file's own functions become their position, `k0` ...
    Only the *living* statements of each `forward`, where these are asked for.

    Raises:
        SyntaxError: *code* cannot be read.
    """
    program, tree = read(code), parse(code)
    dead = dead_in_forward(program) if living else []
    stripped(tree, {(s.lineno, s.col_offset) for s in dead})
    _Renamer(program, tree).generic_visit(tree)
    return tree


class _Renamer(ast.NodeTransformer):
    def __init__(self, program: Program, tree: ast.Module) -> None:
        self.program = program
        self.module = Scope(bindings(tree) - _CONTRACT, "g")
        self.scopes = [self.module]
        classes = [node for node in ast.walk(program.tree) if isinstance(node, ast.ClassDef)]
        self.attributes = {cls.name: Scope(_attributes(cls), "a") for cls in classes}
        self.built = {cls.name: dict(_built(cls, program)) for cls in classes}
        self.owners: list[str] = []
        self.me: str | None = None

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, Function):
            return self._function(node)
        if isinstance(node, Comprehension):
            return self._comprehension(node)
        return super().visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if scope := self._scope_of(node.id):
            node.id = scope.rename(node.id)
        elif path := self.program.path(node):
            return _dotted(path, node)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        path = self.program.path(node)
        if path and not self._scope_of(_root(node)):
            return _dotted(path, node)
        owners = self.owners if own(node, self.me) else self._built_by(node.value)
        node.attr = self._attribute(node.attr, owners)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        names = self._parameters_of(node.func)
        for keyword in node.keywords:
            if keyword.arg in names:
                keyword.arg = f"k{names.index(keyword.arg)}"
        if own(node.func, self.me) in REGISTERS and node.args:
            name = node.args[0]
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                name.value = self._attribute(name.value, self.owners)
        return self.generic_visit(node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        if node.name and (scope := self._scope_of(node.name)):
            node.name = scope.rename(node.name)
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        name, outer = node.name, (self.owners, self.me)
        self._rename_definition(node)
        node.bases = [self.visit(base) for base in node.bases]
        cls = self.program.classes.get(name)
        self.owners = [c.name for c in self.program.lineage(cls)] if cls else [name]
        self._inside(self.attributes[name], node, "body")
        self.owners, self.me = outer
        return node

    def _function(self, node: Function) -> ast.AST:
        is_method = self.scopes[-1].prefix == "a"
        outer, self.me = self.me, self_name(node) if is_method else self.me
        self._rename_definition(node)
        node.decorator_list = [self.visit(decorator) for decorator in node.decorator_list]
        self._visit_signature(node)
        self.me = outer
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        self._visit_signature(node)
        return node

    def _comprehension(self, node: Comprehension) -> ast.AST:
        first = node.generators[0]
        source, first.iter = self.visit(first.iter), ast.Constant(None)  # seen from outside
        self.scopes.append(self._inner_scope(node))
        self.generic_visit(node)
        self.scopes.pop()
        first.iter = source
        return node

    def _visit_signature(self, node: Function | ast.Lambda) -> None:
        node.args.defaults = [self.visit(default) for default in node.args.defaults]
        node.args.kw_defaults = [d and self.visit(d) for d in node.args.kw_defaults]
        scope = self._inner_scope(node)
        for parameter in parameters(node):
            parameter.arg = scope.rename(parameter.arg)
        self._inside(scope, node, "body")

    def _inside(self, scope: Scope, node: ast.AST, part: str) -> None:
        self.scopes.append(scope)
        body = getattr(node, part)
        whole = [self.visit(s) for s in body] if isinstance(body, list) else self.visit(body)
        setattr(node, part, whole)
        self.scopes.pop()

    def _inner_scope(self, node: ast.AST) -> Scope:
        scope, around = Scope(bindings(node), "v"), self.scopes[-1]
        if around.prefix == "v":
            scope.counter = around.counter
        return scope

    def _scope_of(self, name: str) -> Scope | None:
        # Functions do not see the names of the class that they stand in.
        seen = [s for s in self.scopes if s.prefix != "a" or s is self.scopes[-1]]
        return next((scope for scope in reversed(seen) if name in scope.names), None)

    def _rename_definition(self, node: Function | ast.ClassDef) -> None:
        if scope := self._scope_of(node.name):
            node.name = scope.rename(node.name)

    def _attribute(self, name: str, owners: list[str]) -> str:
        for distance, owner in enumerate(owners):
            if name in self.attributes[owner].names:
                renamed = self.attributes[owner].rename(name)
                return f"b{distance}{renamed}" if distance else renamed
        return name

    def _built_by(self, node: ast.expr) -> list[str]:
        while isinstance(node, ast.Subscript):
            node = node.value
        attribute = own(node, self.me)
        built = (self.built[owner].get(attribute) for owner in self.owners) if attribute else ()
        return next((classes for classes in built if classes), [])

    def _parameters_of(self, function: ast.expr) -> list[str]:
        classes = self.program.classes
        found: Function | None = None
        if isinstance(function, ast.Name):
            found = self.program.helpers.get(function.id)
            if cls := classes.get(function.id):
                found = self.program.methods(cls).get("__init__")
        elif name := own(function, self.me):
            owners = [classes[owner] for owner in self.owners if owner in classes]
            found = self.program.methods(owners[0]).get(name) if owners else None
        for name in self._built_by(function):
            found = found or self.program.methods(classes[name]).get("forward")
        return [parameter.arg for parameter in parameters(found)] if found else []


def _attributes(cls: ast.ClassDef) -> frozenset[str]:
    stored = {name for method in methods(cls).values() for name, _ in assignments(method)}
    names = stored | bindings(cls)
    return frozenset(name for name in names if name != "forward" and not name.startswith("__"))


def _built(cls: ast.ClassDef, program: Program) -> Iterator[tuple[str, list[str]]]:
    for method in methods(cls).values():
        for attribute, value in assignments(method):
            names = [node.id for node in ast.walk(value) if isinstance(node, ast.Name)]
            yield attribute, [name for name in names if name in program.classes]


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _dotted(path: str, node: ast.Name | ast.Attribute) -> ast.expr:
    first, *rest = path.split(".")
    found: ast.expr = ast.Name(first, ast.Load())
    for part in rest:
        found = ast.Attribute(found, part, ast.Load())
    return ast.copy_location(found, node)
