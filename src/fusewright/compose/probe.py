"""Find parts of a graph that do nothing, by running the few elements that its rules carry.

The same ablation that a device runs later on real tensors: leave an operator out, or give it other
operands, and see whether the output moves.
"""

from collections.abc import Iterator

from fusewright.compose.plan import Graph, Node
from fusewright.operators.catalogue.apply import felt
from fusewright.operators.catalogue.noise import Noise
from fusewright.operators.catalogue.sample import MOVED, Sample, moments, moved, rolled

VARIED = 0.25
"""Least share of the output's elements that must lie off their mean."""


def is_weak(graph: Graph) -> bool:
    """Whether some operator, input or parameter leaves the output as it is, or nothing moves it."""
    output = graph.nodes[-1].value.sample
    mean, _ = moments(output)
    if moved(output, (mean,) * len(output)) < VARIED:
        return True
    changed = (_rerun(graph, change) for change in _changes(graph))
    if any(sample is not None and moved(sample, output) < MOVED for sample in changed):
        return True
    return any(_is_idle(graph, *parameter) for parameter in _parameters(graph))


def _is_idle(graph: Graph, owner: int, parameter: int) -> bool:
    """Whether drawing a *parameter* of the node *owner* anew leaves the output as it is."""
    changed = _rerun(graph, {}, owner, parameter)
    return changed is not None and moved(changed, graph.nodes[-1].value.sample) < MOVED


def _parameters(graph: Graph) -> Iterator[tuple[int, int]]:
    for index, node in enumerate(graph.nodes):
        if node.bias:
            yield from ((index, parameter) for parameter in node.applied.params)


def _changes(graph: Graph) -> Iterator[dict[int, Sample]]:
    """Everything that must move the output, as new elements for one tensor each."""
    for k, value in enumerate(graph.inputs):
        yield {-1 - k: rolled(value.sample, 31 + 7 * k)}
    for index, node in enumerate(graph.nodes):
        yield {index: rolled(node.value.sample, 53)}
        for sample in _bypasses(graph, node):
            yield {index: sample}


def _bypasses(graph: Graph, node: Node) -> Iterator[Sample]:
    """Operands that could stand in for the result."""
    for operand in node.operands:
        value = graph.value(operand)
        broadcast = node.rule.arity > 1 and node.rule.family == "elementwise"
        same = value.shape == node.value.shape and node.rule.family != "layout"
        if same or broadcast:
            yield value.sample


def _rerun(
    graph: Graph, change: dict[int, Sample], owner: int = -1, parameter: int = 0
) -> Sample | None:
    """Elements of the output under *change*; None where an operator leaves its domain."""
    now = dict(change)
    for index, node in enumerate(graph.nodes):
        redraws = parameter if index == owner else None
        untouched = redraws is None and not any(operand in now for operand in node.operands)
        if index in now or untouched:
            continue
        before = tuple(graph.value(operand).sample for operand in node.operands)
        operands = tuple(
            now.get(operand, sample) for operand, sample in zip(node.operands, before, strict=True)
        )
        try:
            now[index] = felt(node.applied, Noise(index, operands, before, redraws))
        except (ValueError, ArithmeticError):
            return None
    return now[len(graph.nodes) - 1]
