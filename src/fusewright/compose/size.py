"""How large a batch fills the wanted time.

Eager time is estimated operator by operator as the greater of bytes over bandwidth and operations
over peak, plus a launch. Both grow with the batch and nothing else does, so the batch is found by
bisection.
"""

import math

from fusewright.compose.plan import Graph
from fusewright.compose.preset import Preset
from fusewright.operators.catalogue import Cost, Dice
from fusewright.operators.catalogue.lane import FLOAT32, Lane

ROUND_SHARE = 0.62
"""Share of batches that are powers of two."""
LEAST_BATCH = 2
LEAST_ROWS = 64
"""Fewest rows for a norm over the batch alone."""


def estimate_s(graph: Graph, batch: int, preset: Preset) -> float:
    """Estimated time of one eager call of *graph*, seconds."""
    return sum(_node_s(node.applied.cost, batch, preset) for node in graph.nodes)


def _node_s(cost: Cost, batch: int, preset: Preset) -> float:
    moved = cost.moved * batch + cost.params
    memory_s = preset.lane.item_bytes * moved * cost.slowness / preset.bytes_per_s
    compute_s = cost.flops * batch / preset.flops_per_s[cost.unit]
    return max(memory_s, compute_s) + cost.kernels * preset.launch_s


def traffic_bytes(graph: Graph, batch: int, lane: Lane = FLOAT32) -> int:
    """Bytes that the kernels of one eager call read and write."""
    costs = (node.applied.cost for node in graph.nodes)
    return sum(lane.item_bytes * (cost.moved * batch + cost.params) for cost in costs)


def largest_batch(graph: Graph, preset: Preset) -> int:
    """Largest batch within the limits on elements."""
    inputs = sum(value.elements for value in graph.inputs)
    largest = max(value.elements for value in (*graph.inputs, *(n.value for n in graph.nodes)))
    return min(preset.input_elements // inputs, preset.tensor_elements // largest)


def choose_batch(graph: Graph, dice: Dice, preset: Preset) -> int | None:
    """Batch whose estimated time is drawn from the window; None where there is none."""
    target_s, cap = dice.between(*preset.window_s), largest_batch(graph, preset)
    if cap < LEAST_BATCH or estimate_s(graph, LEAST_BATCH, preset) > preset.window_s[1]:
        return None
    low, high = LEAST_BATCH, cap
    while low < high:
        middle = (low + high + 1) // 2
        if estimate_s(graph, middle, preset) <= target_s:
            low = middle
        else:
            high = middle - 1
    batch = _rounded(low, dice)
    batch = batch if batch <= cap else _floored(cap)
    if estimate_s(graph, batch, preset) < preset.floor_s or batch < least_batch(graph):
        return None
    return batch


def _rounded(batch: int, dice: Dice) -> int:
    power: int = 2 ** round(math.log2(batch))
    if dice.chance(ROUND_SHARE):
        return power
    return _floored(batch)


def _floored(batch: int) -> int:
    """The next lower size that a person would write: three binary digits, and zeros."""
    step: int = max(1, 2 ** int(math.log2(batch) - 3))
    return max(LEAST_BATCH, batch // step * step)


def least_batch(graph: Graph) -> int:
    """Fewest items of a batch that give its norms something to work on."""
    over_rows = any(
        node.rule.name == "nn.BatchNorm1d" and node.value.layout == "rows" for node in graph.nodes
    )
    return LEAST_ROWS if over_rows else LEAST_BATCH
