"""Parts of a problem that do nothing for its output: arguments, modules, statements."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from fusewright.filters.unreadable import SYNTAX_ERROR, readable
from fusewright.identity import Program, read
from fusewright.identity.liveness import dead_in_forward, unread_parameters
from fusewright.identity.members import assignments, own, self_name
from fusewright.identity.program import Function, methods
from fusewright.protocols import Facts
from fusewright.records import Problem, Rejection

_WHOLE = frozenset(
    {"children", "modules", "named_children", "named_modules", "parameters", "buffers"}
)
"""Ways to every module of self at once, which leave open which of them are used."""

_SETTINGS = frozenset({"torch.device", "torch.finfo", "torch.iinfo", "torch.Size"})
_ALWAYS = ""
"""Stands for the locals of a constructor: what flows into them counts as used."""


@dataclass(frozen=True)
class Unused:
    """Rejects a problem that takes, builds or computes what its output does not depend on."""

    name: ClassVar[str] = "unused"
    reasons: ClassVar[tuple[str, ...]] = (
        SYNTAX_ERROR,
        "unused_argument",
        "unused_module",
        "dead_code",
    )

    @readable
    def judge(self, problem: Problem) -> Rejection | Facts | None:
        """Keep a problem of which every part is used, as far as its text tells."""
        return next(self.faults(problem), None)

    def faults(self, problem: Problem) -> Iterator[Rejection]:
        """Yield a rejection for each reason that applies, in order.

        Raises:
            SyntaxError: The text cannot be read.
        """
        program = read(problem.code)
        model = program.classes.get("Model")
        forward = program.methods(model).get("forward") if model else None
        unread = unread_parameters(program, forward) if forward else []
        if unread:
            detail = f"forward never reads its argument {', '.join(unread)}"
            yield Rejection.of(problem, "screen", "unused_argument", detail)
        if modules := list(_unused_modules(program)):
            detail = f"never used: {', '.join(modules)}"
            yield Rejection.of(problem, "screen", "unused_module", detail)
        if dead := dead_in_forward(program):
            lines = ", ".join(str(statement.lineno) for statement in dead)
            detail = f"what line {lines} computes never reaches the output"
            yield Rejection.of(problem, "screen", "dead_code", detail)


def _unused_modules(program: Program) -> Iterator[str]:
    """Yield `Class.attribute` for each module or tensor that is built and then left alone."""
    for cls in program.classes.values():
        init = methods(cls).get("__init__")
        if init and program.is_module(cls):
            used = _used(program, cls)
            built = dict.fromkeys(n for n, value in assignments(init) if _builds(program, value))
            yield from (
                f"{cls.name}.{name}" for name in built if used is not None and name not in used
            )


def _builds(program: Program, value: ast.expr) -> bool:
    calls = [node.func for node in ast.walk(value) if isinstance(node, ast.Call)]
    paths = [program.path(function) or "" for function in calls]
    names = {function.id for function in calls if isinstance(function, ast.Name)}
    is_torch = any(path.startswith("torch.") and path not in _SETTINGS for path in paths)
    return is_torch or not names.isdisjoint(program.classes)


def _used(program: Program, cls: ast.ClassDef) -> set[str] | None:
    """Attributes of *cls* that anything computes with; None if any of them may be."""
    heirs = [heir for heir in program.classes.values() if cls in program.lineage(heir)]
    family = [pair for heir in heirs for pair in program.methods(heir).items()]
    feeds: dict[str, set[str]] = {}
    for name, method in family:
        if name != "__init__" and _is_opaque(method):
            return None
        for fed, reads in _flows(name, method):
            feeds.setdefault(fed, set()).update(reads)
    is_model = any(heir.name == "Model" for heir in heirs)
    entries = {"forward"} if is_model else {*dict(family)} | _elsewhere(program, cls)
    pending = entries | {_ALWAYS}
    used = set[str]()
    while pending:
        name = pending.pop()
        used.add(name)
        pending |= feeds.get(name, set()) - used
    return used


def _flows(name: str, method: Function) -> Iterator[tuple[str, set[str]]]:
    """Yield what each method, and each attribute that the constructor sets, is computed from."""
    me = self_name(method)
    if name != "__init__":
        yield name, _reads(method, me)
    for node in ast.walk(method) if name == "__init__" else ():
        match node:
            case ast.Assign(targets=targets, value=value):
                parts = [own(part, me) for target in targets for part in ast.walk(target)]
                fed = [part for part in parts if part] or [_ALWAYS]
                yield from ((part, _reads(value, me)) for part in fed)
            case ast.Call(func=ast.Attribute(attr="append" | "extend" | "insert")):
                yield _ALWAYS, _reads(node, me)


def _reads(node: ast.AST, me: str | None) -> set[str]:
    loads = (n for n in ast.walk(node) if isinstance(getattr(n, "ctx", None), ast.Load))
    return {name for load in loads if (name := own(load, me))}


def _is_opaque(method: Function) -> bool:
    """Tell whether *method* may use any attribute: it hands on self, or lists its modules."""
    me, nodes = self_name(method), list(ast.walk(method))
    names = sum(isinstance(node, ast.Name) and node.id == me for node in nodes)
    attributes = [name for node in nodes if (name := own(node, me))]
    return names != len(attributes) or not _WHOLE.isdisjoint(attributes)


def _elsewhere(program: Program, cls: ast.ClassDef) -> set[str]:
    """Names of attributes that the rest of the file reads, of whatever object."""
    inside = {id(node) for node in ast.walk(cls)}
    nodes = (node for node in ast.walk(program.tree) if id(node) not in inside)
    return {node.attr for node in nodes if isinstance(node, ast.Attribute)}
