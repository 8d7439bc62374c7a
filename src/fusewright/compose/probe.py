"""Find parts of a graph that do nothing, by running the few elements that its rules carry.

The same ablation that a device runs later on real tensors: leave an operator out, or give it other
operands, and see whether the output moves. All changes run at once, a row each.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from fusewright.compose.plan import Graph, Node
from fusewright.operators.catalogue.apply import felt
from fusewright.operators.catalogue.lane import FLOAT32, Lane
from fusewright.operators.catalogue.noise import Noise
from fusewright.operators.catalogue.sample import COUNT, MOVED, Sample, rolled, rows_moved

VARIED = 0.25
"""Least share of the output's elements that must lie off their mean."""


class Change(NamedTuple):
    """One thing that must move the output."""

    sample: Sample | None = None
    """What a tensor becomes; None draws a parameter anew."""
    parameter: int = 0


def is_weak(graph: Graph, lane: Lane = FLOAT32) -> bool:
    """Whether some operator, input or parameter leaves the output as it is, or nothing moves it."""
    output = graph.nodes[-1].value
    allowed = lane.leniency * output.slack
    if np.count_nonzero(abs(output.sample - output.mean) > allowed) < VARIED * COUNT:
        return True
    with np.errstate(all="ignore"):
        rows = _rerun(graph)
    return bool((rows_moved(rows, output.sample, allowed) < MOVED).any())


def _changes(graph: Graph, reference: int) -> list[Change]:
    """Everything at *reference* that must move the output, parameters first."""
    if reference < 0:
        return [Change(rolled(graph.value(reference).sample, 24 - 7 * reference))]
    node = graph.nodes[reference]
    params = node.applied.params if node.bias else ()
    changes = [Change(None, parameter) for parameter in params]
    changes.append(Change(rolled(node.value.sample, 53)))
    return [*changes, *map(Change, _bypasses(graph, node))]


def _bypasses(graph: Graph, node: Node) -> Iterator[Sample]:
    """Operands that could stand in for the result."""
    for operand in node.operands:
        value = graph.value(operand)
        broadcast = node.rule.arity > 1 and node.rule.family == "elementwise"
        same = value.shape == node.value.shape and node.rule.family != "layout"
        if same or broadcast:
            yield value.sample


def _rerun(graph: Graph) -> Sample:
    """Elements of the output under each change; not finite where one leaves a domain.

    Changes of a tensor are further down than those of tensors before it, which they do not touch.
    """
    references = [*range(-len(graph.inputs), 0), *range(len(graph.nodes))]
    changes = {reference: _changes(graph, reference) for reference in references}
    count, first = sum(map(len, changes.values())), 0
    rows: dict[int, Sample] = {}
    touched: dict[int, int] = {}
    for reference, mine in changes.items():
        base, end = graph.value(reference).sample, first + len(mine)
        made = np.empty((count, COUNT))
        made[:first] = made[end:] = base
        redrawn = {c.parameter: first + k for k, c in enumerate(mine) if c.sample is None}
        given = first + len(redrawn)
        touched[reference] = (1 << end) - (1 << first)
        if reference >= 0:
            node = graph.nodes[reference]
            for operand in node.operands:
                touched[reference] |= touched[operand]
            before = tuple(graph.value(operand).sample for operand in node.operands)
            now = tuple(rows[operand][:given] for operand in node.operands)
            felt_rows = felt(node.applied, Noise(reference, now, before, redrawn, given))
            made[:given] = _where(touched[reference], given, felt_rows, base)
        for place, change in enumerate(mine[len(redrawn) :], given):
            made[place] = change.sample
        rows[reference], first = made, end
    return rows[references[-1]]


def _where(touched: int, count: int, made: Sample, base: Sample) -> Sample:
    """*made* in the rows that a change touches, and *base* in the others."""
    whole = (1 << count) - 1
    if touched & whole == whole:
        return made
    mask = np.array([touched >> row & 1 for row in range(count)], dtype=bool)
    return np.where(mask[:, None], made, base)
