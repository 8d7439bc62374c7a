"""Follow the expressions of a text: what each of them stands for."""

import ast
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from fusewright.identity.flow.graph import NUMBER, WEIGHT, Graph
from fusewright.identity.flow.values import (
    SCALAR,
    Foreign,
    Instance,
    Many,
    Method,
    Value,
    spread,
    tensors,
)
from fusewright.identity.program import Program, words
from fusewright.identity.unifying import ARITHMETIC, CASTS, WEIGHTED, unified
from fusewright.identity.vocabulary import BINARY, COMPARISON, QUERIES, UNARY

_BUDGET = 20_000
"""Nodes visited, before a text made to be costly is cut off."""
_OF_TENSORS = words("shape ndim dtype device training itemsize nbytes")
_TRANSPOSED = words("T mT H mH")
_CONTAINERS = words("ModuleList ModuleDict ParameterList ParameterDict")
_CONTENTS = words("values items children modules")


class Expressions(ast.NodeVisitor, ABC):
    """Visits nodes with `names` standing for what they do at that point of the text."""

    def __init__(self, program: Program, graph: Graph) -> None:
        self.program = program
        self.graph = graph
        self.names: dict[str, Value] = {}
        self.returned: list[Value] = []
        self.depth = 0
        self.budget = _BUDGET

    @abstractmethod
    def build(
        self, cls: ast.ClassDef, given: Sequence[Value], named: Mapping[str, Value]
    ) -> Instance:
        """Make an object of a class of the file."""

    @abstractmethod
    def call(self, method: Method, given: Sequence[Value], named: Mapping[str, Value]) -> Value:
        """Call a function of the file."""

    @abstractmethod
    def store(self, target: ast.expr, value: Value) -> None:
        """Let *target* stand for *value*."""

    def visit(self, node: ast.AST) -> Any:
        """What *node* stands for."""
        self.budget -= 1
        return super().visit(node) if self.budget > 0 else SCALAR

    def generic_visit(self, _: ast.AST) -> Value:
        return SCALAR

    def visit_Name(self, node: ast.Name) -> Value:
        if node.id in self.names:
            return self.names[node.id]
        if path := self.program.path(node):
            return Foreign(path)
        if function := self.program.helpers.get(node.id):
            return Method(None, function)
        return self.program.classes.get(node.id, SCALAR)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> Value:
        value: Value = self.visit(node.value)
        self.store(node.target, value)
        return value

    def visit_Attribute(self, node: ast.Attribute) -> Value:
        if path := self._path(node):
            return Foreign(path)
        owner = self.visit(node.value)
        if isinstance(owner, Instance):
            if node.attr in owner.attributes:
                return owner.attributes[node.attr]
            method = self.program.methods(owner.cls).get(node.attr)
            return Method(owner, method) if method else SCALAR
        if isinstance(owner, int) and node.attr not in _OF_TENSORS:
            return self.graph.add("transpose", [owner]) if node.attr in _TRANSPOSED else owner
        return SCALAR

    def visit_Starred(self, node: ast.Starred) -> Value:
        return Many((self.visit(node.value),))

    def visit_Tuple(self, node: ast.Tuple | ast.List) -> Many:
        return Many(self._listed(node.elts))

    def visit_List(self, node: ast.List) -> Many:
        return self.visit_Tuple(node)

    def visit_Dict(self, node: ast.Dict) -> Value:
        return Many(tuple(self.visit(value) for value in node.values))

    def visit_ListComp(self, node: ast.ListComp | ast.GeneratorExp) -> Value:
        outer, found = dict(self.names), []
        first = node.generators[0]
        for item in self.items(self.visit(first.iter)):
            self.store(first.target, item)
            found.append(self.visit(node.elt))
        self.names = outer
        return Many(tuple(found))

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> Value:
        return self.visit_ListComp(node)

    def visit_IfExp(self, node: ast.IfExp) -> Value:
        return self.merged([self.visit(node.body), self.visit(node.orelse)])

    def visit_Lambda(self, node: ast.Lambda) -> Value:
        return Method(None, node, self.names)

    def visit_BinOp(self, node: ast.BinOp) -> Value:
        return self.infix(
            BINARY.get(type(node.op)), [self.visit(node.left), self.visit(node.right)]
        )

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Value:
        return self.infix(UNARY.get(type(node.op)), [self.visit(node.operand)])

    def visit_Compare(self, node: ast.Compare) -> Value:
        operands = [self.visit(part) for part in (node.left, *node.comparators)]
        return self.infix(COMPARISON.get(type(node.ops[0])), operands)

    def visit_Subscript(self, node: ast.Subscript) -> Value:
        owner = self.visit(node.value)
        if isinstance(owner, Many):
            if isinstance(node.slice, ast.Slice):
                return owner
            place = _number(node.slice)
            return self.item(owner, 0 if place is None else place)
        if isinstance(owner, int):
            return self.graph.add("index", [owner, *tensors(self.visit(node.slice))])
        return SCALAR

    def visit_Call(self, node: ast.Call) -> Value:
        given = self._listed(node.args)
        named = {k.arg or "**": self.visit(k.value) for k in node.keywords}
        if isinstance(node.func, ast.Attribute) and not self._path(node.func):
            owner = self.visit(node.func.value)
            if isinstance(owner, int):
                return self._of_tensor(owner, node.func, [*given, *named.values()])
            if isinstance(owner, Many):
                return self._of_list(owner, node.func, given)
        return self._applied(self.visit(node.func), given, named)

    def infix(self, operator: str | None, operands: Sequence[Value]) -> Value:
        """The value of an infix operator, by its name; two lists are put together."""
        if operands and all(isinstance(operand, Many) for operand in operands):
            return Many(spread(operands))
        return self._computed(unified(operator), operands) if operator else SCALAR

    def items(self, value: Value) -> Sequence[Value]:
        """What a loop over *value* goes through: once, where the text does not list it."""
        if isinstance(value, Many):
            return value.items
        return (self.graph.add("each", [value]),) if isinstance(value, int) else (SCALAR,)

    def item(self, value: Value, place: int) -> Value:
        """The item of *value* at *place*."""
        if isinstance(value, Many):
            is_there = -len(value.items) <= place < len(value.items)
            return value.items[place] if is_there else SCALAR
        return self.graph.add(f"item{place}", [value]) if isinstance(value, int) else SCALAR

    def merged(self, values: Sequence[Value]) -> Value:
        """One value for the several that a function may return, or a name may have."""
        distinct = list(dict.fromkeys(values))
        found = list(dict.fromkeys(t for value in distinct for t in tensors(value)))
        if len(distinct) > 1 and len(found) > 1:
            return self.graph.add("either", sorted(found))
        if len(distinct) > 1 and found:
            return found[0]
        return distinct[0] if distinct else SCALAR

    def _path(self, node: ast.Attribute) -> str | None:
        """Dotted path of an imported thing, unless a local has the name of the import."""
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            root = root.value
        is_local = isinstance(root, ast.Name) and root.id in self.names
        return None if is_local else self.program.path(node)

    def _listed(self, nodes: Sequence[ast.expr]) -> tuple[Value, ...]:
        found: list[Value] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                found += spread([self.visit(node.value)])
            else:
                found.append(self.visit(node))
        return tuple(found)

    def _of_tensor(self, owner: int, method: ast.Attribute, given: Sequence[Value]) -> Value:
        if method.attr in QUERIES:
            return SCALAR
        result = self._computed(unified(method.attr), [owner, *given])
        if method.attr.endswith("_"):
            self.store(method.value, result)
        return result

    def _of_list(self, owner: Many, method: ast.Attribute, given: Sequence[Value]) -> Value:
        if method.attr in ("append", "extend") and given:
            more = spread([given[0]]) if method.attr == "extend" else (given[0],)
            self.store(method.value, Many((*owner.items, *more), owner.is_chain))
        return owner if method.attr in _CONTENTS else SCALAR

    def _applied(
        self, function: Value, given: Sequence[Value], named: Mapping[str, Value]
    ) -> Value:
        values = [*given, *named.values()]
        match function:
            case Foreign(path=path, is_made=is_made):
                compute = self._computed if is_made else self._foreign
                return compute(unified(path) if is_made else path, values)
            case Method():
                return self.call(function, given, named)
            case ast.ClassDef():
                return self.build(function, given, named)
            case Instance(cls=cls):
                forward = self.program.methods(cls).get("forward")
                return self.call(Method(function, forward), given, named) if forward else SCALAR
            case Many(items=items, is_chain=True):
                value: Value = given[0] if given else SCALAR
                for item in items:
                    value = self._applied(item, (value,), {})
                return value
        # Something unknown hands on what it was given.
        return values[0] if len(values) == 1 else Many(tuple(values)) if values else SCALAR

    def _foreign(self, path: str, values: Sequence[Value]) -> Value:
        """Call what is imported: a container, a class, which makes a module, or a function."""
        last = path.rpartition(".")[2]
        if last in ("Parameter", "Buffer"):
            return self.graph.add(WEIGHT, [])
        if last == "Sequential":
            return Many(tuple(values), is_chain=True)
        if last in _CONTAINERS:
            return Many(spread(values))
        is_module = path.startswith("torch.nn.") and last[:1].isupper()
        is_unknown = not path.startswith("torch.") and not any(tensors(Many(tuple(values))))
        if is_module or is_unknown:
            return Foreign(path, is_made=True)
        return self._computed(unified(path), values)

    def _computed(self, label: str, operands: Sequence[Value]) -> Value:
        """The value of an operator; a number, where it was given no tensor."""
        given = [t for operand in operands for t in tensors(operand)]
        if not given:
            return SCALAR
        if label in CASTS:
            return given[0]
        if label in WEIGHTED:
            given = [t for t in given if not self.graph.is_weight(t)] or given
        elif label in ARITHMETIC and len(operands) > len(given):
            number = self.graph.add(NUMBER, [])
            given = [o if isinstance(o, int) else number for o in operands]
        return self.graph.add(label, given)


def _number(node: ast.expr) -> int | None:
    match node:
        case ast.Constant(value=int(place)):
            return place
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(place))):
            return -place
    return None
