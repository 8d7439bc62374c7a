"""Operators of a problem, read off its text by the project's naming convention.

`nn.Conv2d` for a module, `F.gelu` and `torch.logsumexp` for functions; infix and methods go by
the torch function (`x * y` is `torch.mul`, `x.mean(1)` is `torch.mean`), and a method that has
none is `torch.Tensor.view`. The reading starts at `Model.forward` and follows helpers.
"""

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

from fusewright.identity.members import held, own, self_name, stored
from fusewright.identity.program import Function, Program, parameters, read
from fusewright.identity.scalars import (
    constants,
    is_scalar,
    plain_attributes,
    plain_parameters,
)
from fusewright.identity.vocabulary import (
    BINARY,
    BUILTIN,
    COMPARISON,
    UNARY,
    method_operator,
    spelled,
)

_BUDGET = 2_000
_DEEPEST = 16
"""Helpers entered in all, and within one another, before a text made to be costly is cut off."""


@lru_cache(maxsize=8)
def operator_names(code: str) -> tuple[str, ...]:
    """Operators that `forward` of *code* uses, in order of evaluation, with repeats.

    A loop counts once, and arithmetic on sizes and settings is left out as far as the text tells
    it from arithmetic on tensors.

    Raises:
        SyntaxError: *code* cannot be read.
    """
    program = read(code)
    reader = _Reader(program)
    if cls := program.classes.get("Model"):
        reader.enter(cls, "forward")
    return tuple(reader.found)


class _Reader(ast.NodeVisitor):
    def __init__(self, program: Program) -> None:
        self.program = program
        self.found: list[str] = []
        self.cls: ast.ClassDef | None = None
        self.me: str | None = None
        self.scalars = constants(program)
        self.plain: frozenset[str] = frozenset()
        self.active: list[object] = []
        self.budget = _BUDGET

    def enter(self, cls: ast.ClassDef, method: str) -> None:
        """Read a method of *cls* on another object than the one read now."""
        if found := self.program.methods(cls).get(method):
            outer, self.cls = (self.cls, self.plain), cls
            self.plain = plain_attributes(self.program, cls)
            self._function(found, self_name(found))
            self.cls, self.plain = outer

    def visit_Call(self, node: ast.Call) -> None:
        path = self.program.path(node.func)
        attribute = own(node.func, self.me)
        if not path and not attribute and isinstance(node.func, ast.Attribute):
            self.visit(node.func.value)
        for argument in [*node.args, *(keyword.value for keyword in node.keywords)]:
            self.visit(argument)
        if path:
            self._name(spelled(path))
        elif attribute:
            self._member(attribute)
        elif isinstance(node.func, ast.Attribute):
            if not self._is_scalar(node.func.value):
                self._name(method_operator(node.func.attr))
        elif isinstance(node.func, ast.Name):
            self._helper(node.func.id)
            if not all(map(self._is_scalar, node.args)):
                self._name(BUILTIN.get(node.func.id))
        else:
            self.visit(node.func)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if attribute := own(node, self.me):
            self._member(attribute)
        elif path := self.program.path(node):
            self._name(spelled(path))
        else:
            self.visit(node.value)

    def visit_Name(self, node: ast.Name) -> None:
        if path := self.program.path(node):
            self._name(spelled(path))

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self.generic_visit(node)
        if not (self._is_scalar(node.left) and self._is_scalar(node.right)):
            self._name(BINARY.get(type(node.op)))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        self.generic_visit(node)
        if not self._is_scalar(node.operand):
            self._name(UNARY.get(type(node.op)))

    def visit_Compare(self, node: ast.Compare) -> None:
        self.generic_visit(node)
        if not all(map(self._is_scalar, [node.left, *node.comparators])):
            for operator in node.ops:
                self._name(COMPARISON.get(type(operator)))

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            self._assign(target, node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.visit(node.value)
        if not (self._is_scalar(node.target) and self._is_scalar(node.value)):
            self._name(BINARY.get(type(node.op)))

    def visit_For(self, node: ast.For) -> None:
        self.visit(node.iter)
        self._assign(node.target, node.iter)
        for statement in [*node.body, *node.orelse]:
            self.visit(statement)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for statement in node.body:
            self.visit(statement)

    def visit_SetComp(self, node: ast.SetComp) -> None:
        self._comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self._comprehension(node)

    def visit_ListComp(self, node: ast.ListComp) -> None:
        self._comprehension(node)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> None:
        for generator in node.generators:
            self.visit(generator.iter)
            self._assign(generator.target, generator.iter)
        self.visit(node.elt)

    def _is_scalar(self, node: ast.expr) -> bool:
        return is_scalar(node, self.scalars, self.me, self.plain)

    def _name(self, operator: str | None) -> None:
        if operator:
            self.found.append(operator)

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        names = {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}
        is_scalar = self._is_scalar(value)
        self.scalars = self.scalars | names if is_scalar else self.scalars - names

    def _function(self, function: Function, me: str | None, *, builds: bool = False) -> None:
        outer = self.me, self.scalars
        self.me = me
        names = {parameter.arg for parameter in parameters(function)}
        self.scalars = (self.scalars - names) | (names if builds else plain_parameters(function))
        with self._entered(function) as is_new:
            for statement in function.body if is_new else ():
                self.visit(statement)
        self.me, self.scalars = outer

    def _helper(self, name: str) -> None:
        if function := self.program.helpers.get(name):
            self._function(function, None)
        elif cls := self.program.classes.get(name):
            self.enter(cls, "forward")

    def _member(self, name: str) -> None:
        if self.cls is None:
            return
        if method := self._method(name):
            self._function(method, self_name(method))
            return
        with self._entered((self.cls, name)) as is_new:
            for method in self.program.methods(self.cls).values() if is_new else ():
                for value in stored(method, name):
                    self._built(value)

    def _built(self, value: ast.expr) -> None:
        """Name the modules that *value* builds, wherever in it they stand."""
        if path := self.program.path(value):
            self._name(spelled(path))
        elif isinstance(value, ast.Call):
            for argument in [*value.args, *(keyword.value for keyword in value.keywords)]:
                self._built(argument)
            self._constructor(value.func)
        elif isinstance(value, ast.Name):
            self._local(value.id)
        else:
            for child in ast.iter_child_nodes(value):
                if isinstance(child, ast.expr):
                    self._built(child)

    def _constructor(self, function: ast.expr) -> None:
        path = self.program.path(function)
        name = spelled(path) if path else None
        if name and name.startswith("nn."):
            self._name(name)
        elif isinstance(function, ast.Name):
            self._local(function.id)
        elif builder := self._method(getattr(function, "attr", "")):
            self._function(builder, self_name(builder), builds=True)

    def _method(self, name: str) -> Function | None:
        return self.program.methods(self.cls).get(name) if self.cls else None

    def _local(self, name: str) -> None:
        """Name the modules that a name of the constructor stands for."""
        if builder := self.program.helpers.get(name):
            self._function(builder, None, builds=True)
        elif cls := self.program.classes.get(name):
            self.enter(cls, "forward")
        methods = self.program.methods(self.cls).values() if self.cls else ()
        with self._entered((self.cls, name, "local")) as is_new:
            for method in methods if is_new else ():
                for value in held(method, name):
                    self._built(value)

    @contextmanager
    def _entered(self, place: object) -> Iterator[bool]:
        """Guard against going in circles, and against texts that unfold without end."""
        self.budget -= 1
        is_new = place not in self.active and len(self.active) < _DEEPEST and self.budget > 0
        self.active.append(place)
        yield is_new
        self.active.pop()
