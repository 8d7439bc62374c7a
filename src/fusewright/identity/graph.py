"""Identity of a traced graph: the same for every order in which equal work is written.

Inputs are numbered by first use, the order of operands does not count where the operator commutes,
and a value used twice differs from a value computed twice.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Protocol

import xxhash

COMMUTATIVE = frozenset({"torch.add", "torch.mul", "torch.maximum", "torch.minimum"})
"""Operators of which the order of operands is ignored."""


class GraphNode(Protocol):
    """One operator: its name, and its producers (an earlier node, or -1-k for the k-th input)."""

    @property
    def op(self) -> str:
        """Catalogue name."""
        ...

    @property
    def inputs(self) -> tuple[int, ...]:
        """Indices of earlier nodes, or -1-k for the k-th input."""
        ...


def graph_hash(nodes: Sequence[GraphNode]) -> str:
    """Hash *nodes* to sixteen hex digits, equal for graphs that compute the same by the same ops.

    Raises:
        ValueError: A node takes its input from itself or from a later one.
    """
    commutes = [node.op in COMMUTATIVE for node in nodes]
    return _digest(_written([node.op for node in nodes], nodes, commutes))


def skeleton(nodes: Sequence[GraphNode], family: Callable[[str], str]) -> str:
    """Hash *nodes* to eight hex digits that tell only the shape of the graph and its families.

    Raises:
        ValueError: As for `graph_hash`.
    """
    labels = [family(node.op) for node in nodes]
    return _digest(_written(labels, nodes, [True] * len(nodes)))[:8]


def branches(nodes: Sequence[GraphNode]) -> bool:
    """Tell whether a value is used twice, or two computed values meet."""
    uses = Counter(source for node in nodes for source in node.inputs)
    joins = any(sum(source >= 0 for source in node.inputs) > 1 for node in nodes)
    return joins or any(count > 1 for count in uses.values())


def _written(labels: Sequence[str], nodes: Sequence[GraphNode], commutes: Sequence[bool]) -> str:
    """Write the graph from its results backwards, each value once, in canonical order."""
    colours = _colours(labels, nodes, commutes)
    used = {source for node in nodes for source in node.inputs}
    results = sorted((i for i in range(len(nodes)) if i not in used), key=colours.__getitem__)
    numbers: dict[int, int] = {}
    lines: list[str] = []
    pending = [*reversed(results)]
    while pending:
        index = pending[-1]
        sources = _ordered(index, nodes, commutes, colours)
        missing = [source for source in sources if source >= 0 and source not in numbers]
        if missing:
            pending += reversed(missing)
            continue
        pending.pop()
        if index not in numbers:
            for source in sources:
                numbers.setdefault(source, -1 - sum(n < 0 for n in numbers.values()))
            numbers[index] = len(lines)
            lines.append(f"{labels[index]}({','.join(str(numbers[s]) for s in sources)})")
    return ";".join(lines)


def _ordered(
    index: int, nodes: Sequence[GraphNode], commutes: Sequence[bool], colours: dict[int, str]
) -> list[int]:
    sources = list(nodes[index].inputs)
    return sorted(sources, key=colours.__getitem__) if commutes[index] else sources


def _colours(
    labels: Sequence[str], nodes: Sequence[GraphNode], commutes: Sequence[bool]
) -> dict[int, str]:
    """Give each value a colour of its own that does not depend on the order of *nodes*.

    A value is coloured by what it is computed from, then by all around it; of values that still
    look alike one is picked, which settles the others that depend on the choice.
    """
    colours = {source: "input" for node in nodes for source in node.inputs if source < 0}
    for index, node in enumerate(nodes):
        if any(source >= index for source in node.inputs):
            raise ValueError(f"node {index} takes {node.inputs}; expected earlier nodes or inputs")
        # How often an operand repeats is part of it: `x * x` and `x * y` are else alike.
        parts = [f"{colours[s]}x{node.inputs.count(s)}" for s in node.inputs]
        colours[index] = _digest(labels[index], *(sorted(parts) if commutes[index] else parts))
    while True:
        colours = _stable(colours, nodes, commutes)
        shared = [c for c, count in Counter(colours.values()).items() if count > 1]
        if not shared:
            return colours
        picked = next(value for value, colour in colours.items() if colour == min(shared))
        colours[picked] = _digest(colours[picked], "picked")


def _stable(
    colours: dict[int, str], nodes: Sequence[GraphNode], commutes: Sequence[bool]
) -> dict[int, str]:
    while True:
        finer = _refined(colours, nodes, commutes)
        if len(set(finer.values())) == len(set(colours.values())):
            return colours
        colours = finer


def _refined(
    colours: dict[int, str], nodes: Sequence[GraphNode], commutes: Sequence[bool]
) -> dict[int, str]:
    around: dict[int, list[str]] = {value: [] for value in colours}
    for index, node in enumerate(nodes):
        for place, source in enumerate(node.inputs):
            around[source].append(f"{'' if commutes[index] else place}<{colours[index]}")
            around[index].append(f"{'' if commutes[index] else place}>{colours[source]}")
    return {value: _digest(colours[value], *sorted(near)) for value, near in around.items()}


def _digest(*parts: str) -> str:
    return xxhash.xxh3_64_hexdigest("\x1f".join(parts).encode())
