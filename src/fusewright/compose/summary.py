"""What many drawn graphs look like together: shares of all that a good mixture asks for."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from fusewright.compose.motifs import MOTIFS, motifs_of
from fusewright.compose.plan import Graph
from fusewright.identity import canonical, skeleton, text_hash
from fusewright.operators.families import family


@dataclass(frozen=True)
class Drawn:
    """One problem with the graph that it was written from."""

    graph: Graph
    batch: int
    code: str


class _Step(NamedTuple):
    op: str
    inputs: tuple[int, ...]


def summarize(drawn: Sequence[Drawn]) -> dict[str, Any]:
    """Shares of *drawn*, at least one, that branch, take several inputs, hold a motif and so on."""
    graphs = [one.graph for one in drawn]
    uses = Counter(op for graph in graphs for op in graph.ops)
    sizes = [size for one in drawn for size in sizes_of(one)]
    return {
        "n": len(drawn),
        "branching_share": _share(graph.branching for graph in graphs),
        "several_inputs_share": _share(len(graph.inputs) > 1 for graph in graphs),
        "operators": dict(sorted(Counter(len(graph.ops) for graph in graphs).items())),
        "distinct_operators": len(uses),
        "uses": {op: count / uses.total() for op, count in uses.most_common()},
        "skeleton_share": len({skeleton_of(graph) for graph in graphs}) / len(graphs),
        "duplicate_share": 1 - len({text_hash(canonical(d.code)) for d in drawn}) / len(drawn),
        "odd_batch_share": _share(not is_power(one.batch) for one in drawn),
        "odd_size_share": _share(not is_power(size) for size in sizes),
        "motifs": _motif_shares(graphs),
    }


def skeleton_of(graph: Graph) -> str:
    """Hash of the shape of *graph* and its families alone."""
    steps = [_Step(" ".join(node.rule.ops), node.operands) for node in graph.nodes]
    return skeleton(steps, lambda ops: " ".join(map(family, ops.split())))


def sizes_of(one: Drawn) -> list[int]:
    """The batch, and every size that its constants name."""
    return [one.batch, *one.graph.sizes.values()]


def is_power(size: int) -> bool:
    """Whether *size* is a power of two."""
    return size & (size - 1) == 0


def _motif_shares(graphs: Sequence[Graph]) -> dict[str, float]:
    found = [motifs_of(graph) for graph in graphs]
    shares = {name: _share(name in held for held in found) for name in MOTIFS}
    return {**shares, "any": _share(map(bool, found))}


def _share(truths: Iterable[bool]) -> float:
    told = list(truths)
    return sum(told) / len(told)
