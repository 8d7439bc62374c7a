"""Follow the statements of a text: what each name stands for after them."""

import ast
from collections.abc import Mapping, Sequence

from fusewright.identity.flow.expressions import Expressions
from fusewright.identity.flow.values import SCALAR, Instance, Many, Method, Value, tensors
from fusewright.identity.members import target_parts
from fusewright.identity.program import Function, parameters
from fusewright.identity.vocabulary import BINARY

_DEEPEST = 24
"""Calls within one another, before a text made to be costly is cut off."""


class Reader(Expressions):
    """Follows functions of one text; what it meets and does not know is a number."""

    def build(
        self, cls: ast.ClassDef, given: Sequence[Value], named: Mapping[str, Value]
    ) -> Instance:
        """Make an object of *cls*, with the attributes that its constructor stores."""
        made = Instance(cls)
        if constructor := self.program.methods(cls).get("__init__"):
            self.call(Method(made, constructor), given, named)
        return made

    def call(self, method: Method, given: Sequence[Value], named: Mapping[str, Value]) -> Value:
        """Follow a function of the file; returns what it returns."""
        if self.depth >= _DEEPEST:
            return SCALAR
        outer = self.names, self.returned
        self.depth += 1
        self.names = dict(method.around) | _bound(method, given, named)
        self.returned = []
        if isinstance(method.function, ast.Lambda):
            result: Value = self.visit(method.function.body)
        else:
            self._block(method.function.body)
            result = self.merged(self.returned)
        self.names, self.returned = outer
        self.depth -= 1
        return result

    def store(self, target: ast.expr, value: Value) -> None:
        """Let *target* stand for *value* from here on."""
        match target:
            case ast.Name(id=name):
                self.names[name] = value
            case ast.Attribute(value=owner, attr=name):
                if isinstance(holder := self.visit(owner), Instance):
                    holder.attributes[name] = value
            case ast.Subscript(value=owner):
                if written := [*tensors(self.visit(owner)), *tensors(value)]:
                    self.store(owner, self.graph.add("setitem", written))
            case ast.Starred(value=inner):
                self.store(inner, value)
            case ast.Tuple() | ast.List():
                for place, part in enumerate(target_parts(target)):
                    self.store(part, self.item(value, place))

    def _block(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            self.visit(statement)

    def visit_Return(self, node: ast.Return) -> Value:
        self.returned.append(self.visit(node.value) if node.value else SCALAR)
        return SCALAR

    def visit_Expr(self, node: ast.Expr) -> Value:
        self.visit(node.value)
        return SCALAR

    def visit_Assign(self, node: ast.Assign) -> Value:
        value = self.visit(node.value)
        for target in node.targets:
            self.store(target, value)
        return SCALAR

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Value:
        if node.value:
            self.store(node.target, self.visit(node.value))
        return SCALAR

    def visit_AugAssign(self, node: ast.AugAssign) -> Value:
        operands = [self.visit(node.target), self.visit(node.value)]
        self.store(node.target, self.infix(BINARY.get(type(node.op)), operands))
        return SCALAR

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Value:
        self.names[node.name] = Method(None, node, self.names)
        return SCALAR

    def visit_With(self, node: ast.With) -> Value:
        self._block(node.body)
        return SCALAR

    def visit_While(self, node: ast.While) -> Value:
        self._block([*node.body, *node.orelse])
        return SCALAR

    def visit_Try(self, node: ast.Try) -> Value:
        self._block([*node.body, *node.orelse, *node.finalbody])
        return SCALAR

    def visit_If(self, node: ast.If) -> Value:
        before, outcomes = self.names, []
        for branch in (node.body, node.orelse):
            self.names = dict(before)
            self._block(branch)
            outcomes.append(self.names)
        names = dict.fromkeys(name for outcome in outcomes for name in outcome)
        self.names = {n: self.merged([o[n] for o in outcomes if n in o]) for n in names}
        return SCALAR

    def visit_For(self, node: ast.For) -> Value:
        for item in self.items(self.visit(node.iter)):
            self.store(node.target, item)
            self._block(node.body)
        self._block(node.orelse)
        return SCALAR


def _bound(method: Method, given: Sequence[Value], named: Mapping[str, Value]) -> dict[str, Value]:
    """Give each parameter of *method* its argument; a number, where there is none."""
    names = [parameter.arg for parameter in parameters(method.function)]
    bound: dict[str, Value] = dict.fromkeys(names, SCALAR)
    if method.owner and names and isinstance(method.function, Function):
        bound[names.pop(0)] = method.owner
    starred = method.function.args.vararg
    plain = [name for name in names if not starred or name != starred.arg]
    bound |= zip(plain, given, strict=False)
    if starred:
        bound[starred.arg] = Many(tuple(given[len(plain) :]))
    return bound | {name: value for name, value in named.items() if name in bound}
