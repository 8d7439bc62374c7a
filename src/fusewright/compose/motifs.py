"""Which patterns of real layers a graph holds: found in what was drawn, however it came about."""

from collections.abc import Callable

from fusewright.compose.menu import is_activation
from fusewright.compose.plan import Graph, Node

PRODUCTS = ("torch.mul", "F.glu")
"""Operators that gate."""


def motifs_of(graph: Graph) -> frozenset[str]:
    """Names of the motifs that *graph* holds."""
    return frozenset(name for name, holds in MOTIFS.items() if holds(graph))


def ancestors(graph: Graph, reference: int) -> frozenset[int]:
    """Every tensor that the one at *reference* is made of, itself among them."""
    if reference < 0:
        return frozenset([reference])
    operands = (ancestors(graph, operand) for operand in graph.nodes[reference].operands)
    return frozenset([reference]).union(*operands)


def _residual(graph: Graph) -> bool:
    """A sum of a tensor and something made of it."""
    return any(
        _last(node) == "torch.add"
        and len(node.operands) == 2  # noqa: PLR2004
        and _is_made_of(graph, *node.operands)
        for node in graph.nodes
    )


def _gated_mlp(graph: Graph) -> bool:
    """Two branches of one tensor multiplied, or both halves of one, with a projection in them."""
    return any(
        _last(node) in PRODUCTS
        and any(_projected(graph, operand) for operand in node.operands)
        and (
            _last(node) == "F.glu"
            or (
                len(node.operands) == 2  # noqa: PLR2004
                and bool(ancestors(graph, node.operands[0]) & ancestors(graph, node.operands[1]))
            )
        )
        for node in graph.nodes
    )


def _norm_act_conv(graph: Graph) -> bool:
    """A convolution, a norm and an activation, one after the other in any order."""
    for node in graph.nodes:
        kinds = {_kind(node)}
        reference = node.operands[0]
        while reference >= 0 and _kind(graph.nodes[reference]) not in kinds | {""}:
            kinds.add(_kind(graph.nodes[reference]))
            reference = graph.nodes[reference].operands[0]
        if {"conv", "norm", "act"} <= kinds:
            return True
    return False


def _attention(graph: Graph) -> bool:
    return any(node.rule.family == "attention" for node in graph.nodes)


def _pairwise(graph: Graph) -> bool:
    return any(node.rule.family == "distance" for node in graph.nodes)


def _scan_gate(graph: Graph) -> bool:
    """A product of something scanned, or a scan of a product."""
    pairs = [(node, graph.nodes[r]) for node in graph.nodes for r in node.operands if r >= 0]
    return any(
        (_last(node) in PRODUCTS and before.rule.family == "scan")
        or (_last(before) in PRODUCTS and node.rule.family == "scan")
        for node, before in pairs
    )


def _mixture(graph: Graph) -> bool:
    """A product of which one factor is a softmax."""
    return any(
        _last(node) in (*PRODUCTS, "torch.bmm", "torch.matmul", "torch.einsum")
        and any(r >= 0 and graph.nodes[r].rule.family == "softmax" for r in node.operands)
        for node in graph.nodes
    )


def _pooling_head(graph: Graph) -> bool:
    """A projection of something that was averaged, pooled or reduced."""
    pooling = ("pool", "reduction")
    return any(
        node.rule.family == "matmul"
        and any(
            r >= 0 and graph.nodes[r].rule.family in pooling
            for r in ancestors(graph, node.operands[0])
        )
        for node in graph.nodes
    )


def _loss_tail(graph: Graph) -> bool:
    """A loss among the last two operators."""
    return any(node.rule.family == "loss" for node in graph.nodes[-2:])


MOTIFS: dict[str, Callable[[Graph], bool]] = {
    "residual": _residual,
    "gated MLP": _gated_mlp,
    "norm-act-conv": _norm_act_conv,
    "attention block": _attention,
    "pairwise distance": _pairwise,
    "scan-gate": _scan_gate,
    "mixture gating": _mixture,
    "pooling head": _pooling_head,
    "loss tail": _loss_tail,
}
"""How each motif is told."""


def _last(node: Node) -> str:
    return node.rule.ops[-1]


def _kind(node: Node) -> str:
    if node.rule.family in ("conv", "norm"):
        return node.rule.family
    return "act" if is_activation(node.rule) else ""


def _projected(graph: Graph, reference: int) -> bool:
    return any(r >= 0 and graph.nodes[r].rule.family == "matmul"
               for r in ancestors(graph, reference))  # fmt: skip


def _is_made_of(graph: Graph, x: int, y: int) -> bool:
    return x != y and (x in ancestors(graph, y) or y in ancestors(graph, x))
