"""A graph of placed operators: what the composer draws and the renderer writes."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from fusewright.operators.catalogue import Applied, Rule, Value
from fusewright.operators.catalogue.once import once
from fusewright.operators.catalogue.value import Fact


class Node(NamedTuple):
    """One placed operator and where its operands come from."""

    rule: Rule
    """The rule that was applied."""
    applied: Applied
    """What applying it gave."""
    value: Value
    """The tensor that it gives."""
    operands: tuple[int, ...]
    """Index of an earlier node, or -1-k for the k-th input."""
    bias: bool = True
    """Whether a module that may have a bias has one."""


@dataclass(frozen=True)
class Graph:
    """Inputs and operators in order of execution; the last operator gives the output."""

    inputs: tuple[Value, ...]
    nodes: tuple[Node, ...]
    sizes: dict[str, int]
    """Value of each name that the expressions of sizes mention."""

    @once
    def ops(self) -> tuple[str, ...]:
        """Operators as a trace of the code shows them."""
        return tuple(op for node in self.nodes for op in node.rule.ops)

    @property
    def branching(self) -> bool:
        """Whether some tensor is used by more than one operator."""
        references = [reference for node in self.nodes for reference in set(node.operands)]
        return len(references) > len(set(references))

    def value(self, reference: int) -> Value:
        """The tensor at *reference*."""
        return self.nodes[reference].value if reference >= 0 else self.inputs[-1 - reference]

    def users(self, reference: int) -> list[int]:
        """Nodes that take the tensor at *reference*, in order."""
        return self._users.get(reference, [])

    @once
    def _users(self) -> dict[int, list[int]]:
        users: dict[int, list[int]] = {}
        for index, node in enumerate(self.nodes):
            for operand in set(node.operands):
                users.setdefault(operand, []).append(index)
        return users


def without_idle_biases(graph: Graph) -> Graph:
    """Leave out each bias that a later operator cancels: of a convolution before a batch norm."""
    idle = {owner for node in graph.nodes for owner in _cancelled(graph, node)}
    if not idle:
        return graph
    nodes = (
        node._replace(bias=node.bias and index not in idle)
        for index, node in enumerate(graph.nodes)
    )
    return replace(graph, nodes=tuple(nodes))


def _cancelled(graph: Graph, node: Node) -> Iterator[int]:
    blind = [(0, fact) for fact in node.applied.blind] + list(node.applied.blind_others)
    for index, fact in blind:
        given = graph.value(node.operands[index]).facts
        if fact.kind == "shift" and any(Fact("bias", fact.dims).defeats(f) for f in given):
            yield from _owners(graph, node.operands[index])


def _owners(graph: Graph, reference: int) -> Iterator[int]:
    """Nodes whose bias the tensor at *reference* still shows."""
    if reference < 0 or not any(fact.kind == "bias" for fact in graph.value(reference).facts):
        return
    node = graph.nodes[reference]
    if any("{bias}" in member.build for member in node.applied.members):
        yield reference
        return
    for operand in node.operands:
        yield from _owners(graph, operand)
