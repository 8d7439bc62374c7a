"""Which statements of a function do nothing for what it returns.

The function is walked backwards with the set of names still needed. A statement that gives none
of them, and changes nothing in place that is needed, is dead, and so is what only fed it.
"""

import ast
from collections.abc import Sequence

from fusewright.identity.effects import (
    aliases,
    changes,
    mutating_names,
    read_attributes,
    root,
)
from fusewright.identity.members import self_name, target_parts
from fusewright.identity.program import Function, Program, methods, parameters

_Live = frozenset[str]
_NONE: _Live = frozenset()
_Assignment = ast.Assign | ast.AnnAssign | ast.AugAssign
_Jump = ast.Return | ast.Raise | ast.Continue | ast.Break


def dead_statements(program: Program, function: Function) -> list[ast.stmt]:
    """Statements of *function* without effect on what it returns, in order."""
    walk = _Backwards(program, function, keep_all=False)
    walk.block(function.body, _NONE)
    dead = [statement for statement, is_dead in walk.verdicts.items() if is_dead]
    return sorted(dead, key=lambda statement: statement.lineno)


def dead_in_forward(program: Program) -> list[ast.stmt]:
    """Dead statements of the `forward` of each class of *program*."""
    found = (methods(cls).get("forward") for cls in program.classes.values())
    return [dead for forward in found if forward for dead in dead_statements(program, forward)]


def unread_parameters(program: Program, function: Function) -> list[str]:
    """Parameters, self apart, whose value no statement reads, be it a dead one."""
    read = _Backwards(program, function, keep_all=True).block(function.body, _NONE)
    names = [parameter.arg for parameter in parameters(function)]
    return [name for name in names if name not in read and name != self_name(function)]


class _Backwards(ast.NodeVisitor):
    """`live` is what the statements after the one visited still need."""

    def __init__(self, program: Program, function: Function, *, keep_all: bool) -> None:
        self.me = self_name(function)
        self.aliases = aliases(function)
        self.mutating = mutating_names(program)
        self.read = read_attributes(program)
        self.keep_all = keep_all
        self.verdicts: dict[ast.stmt, bool] = {}
        self.live = _NONE
        self.held = _NONE  # needed throughout: by handlers, whose body may stop anywhere
        self.loops: list[_Live] = []

    def block(self, body: Sequence[ast.stmt], live: _Live) -> _Live:
        """Walk *body*, after which *live* is needed; return what is needed before it."""
        jump = next((i for i, s in enumerate(body) if isinstance(s, _Jump)), len(body))
        self.verdicts |= dict.fromkeys(body[jump + 1 :], True)
        self.live = live
        for statement in reversed(body[: jump + 1]):
            self.visit(statement)
        return self.live

    def generic_visit(self, node: ast.AST) -> None:
        self.live |= _uses(node)

    def visit_Return(self, node: ast.Return) -> None:
        self.live = _uses(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        self.live = _uses(node)

    def visit_Break(self, _: ast.Break) -> None:
        self.live = self.loops[-1] if self.loops else self.live

    def visit_Continue(self, _: ast.Continue) -> None:
        self.live = self.loops[-1] if self.loops else self.live

    def visit_FunctionDef(self, node: Function | ast.ClassDef) -> None:
        self._decide(node, {node.name}, is_needed=node.name in self.live)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.visit_FunctionDef(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        is_text = isinstance(node.value, ast.Constant)
        self._decide(node, set(), is_needed=is_text or self._acts(node.value))

    def visit_Assign(self, node: ast.Assign) -> None:
        self._assign(node, node.targets)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._assign(node, [node.target])

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        is_needed = self._matters(node.target) or self._acts(node.value)
        self._decide(node, set(), is_needed=is_needed)
        if not self.verdicts[node] and isinstance(node.target, ast.Name):
            self.live |= {node.target.id}

    def visit_If(self, node: ast.If) -> None:
        after = self.live
        self.live = self.block(node.body, after) | self.block(node.orelse, after) | _uses(node.test)

    def visit_For(self, node: ast.For) -> None:
        self._loop(node, node.iter)

    def visit_While(self, node: ast.While) -> None:
        self._loop(node, node.test)

    def visit_With(self, node: ast.With) -> None:
        self.live = self.block(node.body, self.live).union(*map(_uses, node.items))

    def visit_Match(self, node: ast.Match) -> None:
        after = self.live
        bodies = [self.block(case.body, after) for case in node.cases]
        self.live = after.union(_uses(node.subject), *bodies)

    def visit_Try(self, node: ast.Try) -> None:
        after = self.block(node.finalbody, self.live)
        handlers = _NONE.union(*(self.block(handler.body, after) for handler in node.handlers))
        held, self.held = self.held, self.held | handlers | after
        self.live = self.block(node.body, self.block(node.orelse, after)) | handlers
        self.held = held

    def _loop(self, node: ast.For | ast.While, source: ast.expr) -> None:
        live = self.block(node.orelse, self.live) | _uses(source)
        before = _NONE
        while before != live:
            self.loops.append(live)
            before, live = live, live | self.block(node.body, live)
            self.loops.pop()
        self.live = live

    def _assign(self, node: _Assignment, targets: Sequence[ast.expr]) -> None:
        parts = [part for target in targets for part in target_parts(target)]
        names = {part.id for part in parts if isinstance(part, ast.Name)}
        acts = node.value is not None and self._acts(node.value)
        self._decide(node, names, is_needed=acts or any(map(self._is_wanted, parts)))

    def _decide(self, node: ast.stmt, given: set[str], *, is_needed: bool) -> None:
        self.verdicts[node] = not (is_needed or self.keep_all)
        if not self.verdicts[node]:
            self.live = (self.live - given) | _uses(node)

    def _is_wanted(self, target: ast.expr) -> bool:
        match target:
            case ast.Name(id=name):
                return name in self.live | self.held
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name == self.me:
                return attribute in self.read
            case _:
                return self._matters(target)

    def _matters(self, changed: ast.expr) -> bool:
        """Tell whether a change in place of *changed* reaches self or anything needed."""
        name = root(changed)
        needed = self.live | self.held | {self.me}
        return not needed.isdisjoint(self.aliases.get(name, {name}))

    def _acts(self, value: ast.expr) -> bool:
        for node in ast.walk(value):
            match node:
                case ast.Yield() | ast.YieldFrom() | ast.Await():
                    return True
                case ast.NamedExpr(target=target) if self._is_wanted(target):
                    return True
                case ast.Call() if any(map(self._matters, changes(node, self.mutating))):
                    return True
        return False


def _uses(node: ast.AST) -> _Live:
    found = (n for n in ast.walk(node) if isinstance(n, ast.Name))
    return frozenset(n.id for n in found if isinstance(n.ctx, ast.Load))
