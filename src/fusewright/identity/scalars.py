"""Tell numbers, shapes and settings from tensors, as far as a text tells them apart."""

import ast
from collections.abc import Container, Iterable, Iterator

from fusewright.identity.members import assignments, own
from fusewright.identity.program import Function, Program, parameters, words
from fusewright.identity.vocabulary import QUERIES

_ATTRIBUTES = words("shape ndim dtype device training itemsize nbytes")
_ALWAYS = words("len int float bool round range str isinstance hasattr")
_IF_OF_SCALARS = words("max min abs sum pow tuple list zip enumerate reversed sorted")
_COMPOUND = (
    *(ast.Constant, ast.JoinedStr, ast.Tuple, ast.List, ast.Starred, ast.Slice),
    *(ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp),
)


def is_scalar(node: ast.expr, names: Container[str], me: str | None, plain: Container[str]) -> bool:
    """Tell whether *node* is surely no tensor.

    *names* are locals known to be none, *plain* the attributes of self, called *me*, known so.
    """

    def all_of(parts: Iterable[ast.AST]) -> bool:
        return all(is_scalar(p, names, me, plain) for p in parts if isinstance(p, ast.expr))

    match node:
        case ast.Name(id=name):
            return name in names
        case ast.Attribute(value=value, attr=name):
            return own(node, me) in plain or name in _ATTRIBUTES or all_of([value])
        case ast.Subscript(value=value):
            return all_of([value])
        case ast.Call(func=ast.Attribute(value=value, attr=name)):
            return name in QUERIES or all_of([value])
        case ast.Call(func=ast.Name(id=name), args=args):
            return name in _ALWAYS or (name in _IF_OF_SCALARS and all_of(args))
        case _:
            return isinstance(node, _COMPOUND) and all_of(ast.iter_child_nodes(node))


def constants(program: Program) -> frozenset[str]:
    """Names that the module assigns at its top level, and modules of plain numbers."""
    targets = (t for n in program.tree.body if isinstance(n, ast.Assign) for t in n.targets)
    named = {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}
    return frozenset(named | {name for name, path in program.imports.items() if path == "math"})


def plain_parameters(function: Function) -> frozenset[str]:
    """Parameters whose default or annotation is a number, a flag or a string."""
    args = function.args
    positional = [*args.posonlyargs, *args.args]
    defaults = [None] * (len(positional) - len(args.defaults)) + [*args.defaults]
    pairs = [
        *zip(positional, defaults, strict=True),
        *zip(args.kwonlyargs, args.kw_defaults, strict=True),
    ]
    plain = {arg.arg for arg, default in pairs if _is_value(default)}
    return frozenset(plain | {p.arg for p in parameters(function) if _is_plain_type(p.annotation)})


def plain_attributes(program: Program, cls: ast.ClassDef) -> frozenset[str]:
    """Attributes of *cls* that hold settings: no torch and no class of the file made them."""
    stored: dict[str, list[bool]] = {}
    for method in program.methods(cls).values():
        tensors = set(_from_calls(program, method))
        for name, value in assignments(method):
            parts = list(ast.walk(value))
            from_tensor = any(isinstance(p, ast.Name) and p.id in tensors for p in parts)
            is_built = from_tensor or any(_builds(program, part) for part in parts)
            stored.setdefault(name, []).append(is_built)
    return frozenset(name for name, built in stored.items() if not any(built))


def _from_calls(program: Program, method: Function) -> Iterator[str]:
    for node in ast.walk(method):
        if isinstance(node, ast.Assign) and _builds(program, node.value):
            yield from (t.id for t in node.targets if isinstance(t, ast.Name))


def _builds(program: Program, node: ast.AST) -> bool:
    """Tell whether *node* calls something of torch, of the file or of self."""
    match node:
        case ast.Call(func=function) if path := program.path(function):
            return not path.startswith("math.")
        case ast.Call(func=ast.Name(id=name)):
            return name in program.classes or name in program.helpers
        case ast.Call(func=ast.Attribute(value=ast.Name())):
            return True
        case _:
            return False


def _is_value(default: ast.expr | None) -> bool:
    return isinstance(default, ast.Constant) and default.value is not None


def _is_plain_type(annotation: ast.expr | None) -> bool:
    return isinstance(annotation, ast.Name) and annotation.id in {"int", "float", "bool", "str"}
