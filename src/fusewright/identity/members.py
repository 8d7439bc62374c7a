"""What a class stores on self, and what its locals and lists are filled with."""

import ast
from collections.abc import Callable, Iterator

from fusewright.identity.program import Function

REGISTERS = ("register_buffer", "register_parameter", "register_module", "add_module")
_FILLERS = ("append", "extend", "insert", "add_module")


def self_name(method: Function) -> str | None:
    """Name of the first positional parameter."""
    first = [*method.args.posonlyargs, *method.args.args][:1]
    return first[0].arg if first else None


def own(node: ast.AST, me: str | None) -> str | None:
    """Return `x` if *node* is `self.x`, *me* being the name of self."""
    match node:
        case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name == me:
            return attribute
    return None


def assignments(method: Function) -> Iterator[tuple[str, ast.expr]]:
    """Yield name and value of everything that *method* stores on self or registers there."""
    me = self_name(method)
    for node in ast.walk(method):
        match node:
            case ast.Assign(targets=targets, value=value):
                parts = (part for target in targets for part in target_parts(target))
                yield from ((name, value) for part in parts if (name := own(part, me)))
            case ast.AnnAssign(target=target, value=ast.expr() as value) if own(target, me):
                yield own(target, me) or "", value
            case ast.Call(func=function, args=[ast.Constant(value=str(name)), value, *_]):
                if own(function, me) in REGISTERS:
                    yield name, value


def stored(method: Function, attribute: str) -> Iterator[ast.expr]:
    """Yield the values that *method* stores under *attribute* of self, or appends there."""
    me = self_name(method)
    yield from (value for name, value in assignments(method) if name == attribute)
    yield from _filled(method, lambda node: own(node, me) == attribute)


def held(method: Function, name: str) -> Iterator[ast.expr]:
    """Yield the values that *method* gives to its local *name*, or appends to it."""
    for node in ast.walk(method):
        if isinstance(node, ast.Assign) and _is_named(node.targets[0], name):
            yield node.value
    yield from _filled(method, lambda node: _is_named(node, name))


def target_parts(target: ast.expr) -> Iterator[ast.expr]:
    """Yield the single targets of an assignment's target."""
    if isinstance(target, ast.Tuple | ast.List):
        for part in target.elts:
            yield from target_parts(part)
    else:
        yield target.value if isinstance(target, ast.Starred) else target


def _filled(method: Function, is_list: Callable[[ast.expr], bool]) -> Iterator[ast.expr]:
    for node in ast.walk(method):
        match node:
            case ast.Call(func=ast.Attribute(value=filled, attr=verb), args=values):
                if verb in _FILLERS and is_list(filled):
                    yield from values


def _is_named(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
