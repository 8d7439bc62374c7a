"""What a call may change in place, and which names may share memory."""

import ast
from collections.abc import Container
from functools import lru_cache

from fusewright.identity.members import assignments, target_parts
from fusewright.identity.program import Function, Program, words

_MUTATORS = words(
    "append appendleft extend insert update setdefault pop popitem remove clear reverse"
)
"""Methods of containers that change their receiver; tensor methods that do end in `_`."""

_VIEWS = words(
    "view view_as reshape reshape_as flatten unflatten transpose permute t squeeze unsqueeze "
    "expand expand_as narrow select chunk split tensor_split unbind diagonal detach contiguous "
    "unfold swapaxes swapdims movedim moveaxis to real imag as_strided"
)
"""Methods whose result may share memory with their receiver."""


def changes(call: ast.Call, mutating: Container[str] = ()) -> list[ast.expr]:
    """Return what *call* may change: its receiver, its arguments or what stands at `out=`.

    *mutating* are names of functions, methods and modules that may change their arguments.
    """
    out = [keyword.value for keyword in call.keywords if keyword.arg == "out"]
    name, receiver = _callee(call.func)
    if name in _MUTATORS:
        return [*receiver, *out]
    is_inplace = any(k.arg == "inplace" and not _is_false(k.value) for k in call.keywords)
    if is_inplace or name in mutating or (name.endswith("_") and not name.endswith("__")):
        return [*receiver, *call.args, *(keyword.value for keyword in call.keywords)]
    return out


@lru_cache(maxsize=8)
def mutating_names(program: Program) -> frozenset[str]:
    """Functions and attributes of *program* whose call may change its arguments or self."""
    functions = [node for node in ast.walk(program.tree) if isinstance(node, Function)]
    impure = {function.name for function in functions if _is_impure(function)}
    stored = (pair for function in functions for pair in assignments(function))
    in_place = {name for name, value in stored if any(map(_is_inplace, ast.walk(value)))}
    return frozenset(impure | in_place)


@lru_cache(maxsize=8)
def read_attributes(program: Program) -> frozenset[str]:
    """Names of all attributes that *program* reads, of whatever object."""
    found = (node for node in ast.walk(program.tree) if isinstance(node, ast.Attribute))
    return frozenset(node.attr for node in found if isinstance(node.ctx, ast.Load))


def root(node: ast.expr) -> str:
    """Name of the value of which *node* may be a part or a view; empty for a fresh value."""
    while True:
        match node:
            case ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.Starred(value=inner):
                node = inner
            case ast.Call(func=ast.Attribute(value=inner, attr=name)) if name in _VIEWS:
                node = inner
            case ast.Name(id=name):
                return name
            case _:
                return ""


def aliases(function: Function) -> dict[str, set[str]]:
    """Names of *function* that may share memory with each of its names."""
    groups: dict[str, set[str]] = {}
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=targets, value=source):
                pass
            case ast.For(target=target, iter=source):
                targets = [target]
            case _:
                continue
        parts = (part for target in targets for part in target_parts(target))
        names = {part.id for part in parts if isinstance(part, ast.Name)}
        if origin := root(source):
            merged = {origin, *names}.union(*(groups.get(n, ()) for n in {origin, *names}))
            groups |= dict.fromkeys(merged, merged)
    return groups


def _callee(function: ast.expr) -> tuple[str, list[ast.expr]]:
    if isinstance(function, ast.Attribute):
        return function.attr, [function.value]
    return (function.id if isinstance(function, ast.Name) else ""), []


def _is_impure(function: Function) -> bool:
    return any(
        isinstance(node, ast.AugAssign)
        or (isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store))
        or (isinstance(node, ast.Call) and bool(changes(node)))
        for node in ast.walk(function)
    )


def _is_inplace(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and any(k.arg == "inplace" for k in node.keywords)


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and not node.value
