"""Names for the sizes of a graph: what the constructor takes and the module's constants say."""

import ast
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from fusewright.compose.plan import Graph

STAGED = {
    "features": ("features", "features"), "channels": ("channels", "channels"),
    "dims": ("embed_dim", "dim"), "head_dims": ("head_dim", "head_dim"),
}  # fmt: skip
"""Roles that a graph may have several of, from input to output: the name of a lone one, and what
`in_`, `hidden_` and `out_` go before otherwise."""

_OPERATOR = re.compile(r" (?:[-+*]|//|\*\*) ")
_WORD = re.compile(r"\b[a-z_]+\d*\b")
_LONGEST = 1
"""Operators of an expression that may stand in a constructor; a longer one is named first."""


@dataclass(frozen=True)
class Symbols:
    """Names for the sizes of one graph."""

    names: dict[str, str]
    """Final name of each size, by the name that the draw gave it."""
    values: dict[str, str]
    """What each final name stands for, in order of definition."""

    @classmethod
    def of(cls, graph: Graph) -> "Symbols":
        """Name every size that the inputs or the members of *graph* mention."""
        given = list(dict.fromkeys(_mentioned(graph, _input_texts(graph))))
        built = list(dict.fromkeys(_mentioned(graph, _member_texts(graph))))
        names = _names(given, [symbol for symbol in built if symbol not in given])
        return cls(names, {name: str(graph.sizes[symbol]) for symbol, name in names.items()})

    def rewrite(self, text: str) -> str:
        """Replace the names of the draw by the final ones."""
        return _WORD.sub(lambda word: self.names.get(word[0], word[0]), text)

    def shorten(self, build: str) -> str:
        """Give each long expression in a constructor's arguments a name of its own."""
        if len(_OPERATOR.findall(build)) <= _LONGEST:
            return build
        calls = [node for node in ast.walk(ast.parse(build)) if isinstance(node, ast.Call)]
        arguments = [argument for call in calls for argument in call.args if _is_long(argument)]
        for argument in sorted(arguments, key=lambda node: -node.col_offset):
            start, end = argument.col_offset, argument.end_col_offset or len(build)
            build = build[:start] + self._define(build[start:end]) + build[end:]
        return build

    def used(self, texts: list[str]) -> list[str]:
        """Names that *texts* mention, in order of appearance."""
        words = (word for text in texts for word in _WORD.findall(text))
        return list(dict.fromkeys(word for word in words if word in self.values))

    def constants(self, used: list[str]) -> list[str]:
        """Lines that define *used*, and before each whatever it is made of."""
        needed: list[str] = []
        for name in used:
            value = self.values[name]
            needed += [name] if value.isdigit() else [*self.used([value]), name]
        return [f"{name} = {self.values[name]}" for name in dict.fromkeys(needed)]

    def _define(self, expression: str) -> str:
        known = {value: name for name, value in self.values.items()}
        if expression in known:
            return known[expression]
        base = "joined_size" if "+" in expression else "flat_size"
        name = _distinct(base, self.values)
        self.values[name] = expression
        return name


def _input_texts(graph: Graph) -> list[str]:
    return [size.text for value in graph.inputs for size in value.shape]


def _member_texts(graph: Graph) -> list[str]:
    return [member.build for node in graph.nodes for member in node.applied.members]


def _mentioned(graph: Graph, texts: list[str]) -> Iterator[str]:
    words = (word for text in texts for word in _WORD.findall(text))
    return (word for word in words if word in graph.sizes)


def _names(given: list[str], built: list[str]) -> dict[str, str]:
    """Final names of the sizes of inputs (*given*) and of what only members mention (*built*)."""
    names: dict[str, str] = {}
    symbols = [*given, *built]
    for symbol in symbols:
        role = symbol.rstrip("0123456789")
        alike = [other for other in symbols if other.rstrip("0123456789") == role]
        staged = role in STAGED
        wanted = _staged(role, symbol, alike, given) if staged else role
        names[symbol] = _distinct(wanted, names.values())
    return names


def _staged(role: str, symbol: str, alike: list[str], given: list[str]) -> str:
    alone, base = STAGED[role]
    if symbol in given:
        if alike[0] != symbol:
            return f"other_{base}"
        return alone if len(alike) == 1 or role == "dims" else f"in_{base}"
    return f"out_{base}" if symbol == alike[-1] else f"hidden_{base}"


def _distinct(wanted: str, taken: Collection[str]) -> str:
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted}{number}", number + 1
    return name


def _is_long(node: ast.expr) -> bool:
    if not isinstance(node, ast.BinOp):
        return False
    parts = list(ast.walk(node))
    plain = not any(isinstance(part, ast.Call) for part in parts)
    return plain and sum(isinstance(part, ast.BinOp) for part in parts) > _LONGEST
