"""Sizes for a device: what dimensions to draw, and how large a batch fills the wanted time.

Eager time is estimated operator by operator as the greater of bytes over bandwidth and operations
over peak, plus a launch. Both grow with the batch and nothing else does, so the batch is found by
bisection.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from fusewright.compose.plan import Graph
from fusewright.operators.catalogue import Cost, Dice

FLOAT_BYTES = 4
ROUND_SHARE = 0.62
"""Share of batches that are powers of two."""
LEAST_BATCH = 2
LEAST_ROWS = 64
"""Fewest rows for a norm over the batch alone."""


@dataclass(frozen=True)
class Preset:
    """What a device reaches, and the sizes that suit it."""

    bytes_per_s: float
    """Bandwidth that an elementwise kernel reaches."""
    flops_per_s: Mapping[str, float]
    """Peaks that products, convolutions and attention reach."""
    launch_s: float
    window_s: tuple[float, float]
    """Eager times to aim for."""
    floor_s: float
    """Least estimated time worth publishing."""
    input_elements: int
    """Most elements of all inputs together."""
    tensor_elements: int
    """Most elements of any tensor."""
    sizes: Mapping[str, tuple[int, ...]]
    """Sizes to draw from, by role."""


PRESETS: dict[str, Preset] = {
    # An H200: 85 % of its bandwidth, and what TF32 matrix units reach on usual shapes.
    "cuda": Preset(
        bytes_per_s=3.4e12,
        flops_per_s={"matmul": 250e12, "conv": 200e12, "attention": 60e12},
        launch_s=5e-6,
        window_s=(1.5e-3, 30e-3),
        floor_s=1.3e-3,
        input_elements=2**28,
        tensor_elements=2**30,
        sizes={
            "features": (512, 1024, 1024, 2048, 2048, 4096, 768, 1536, 3072),
            "dims": (256, 512, 512, 1024, 384, 768),
            "seq_len": (128, 256, 512, 1024, 192, 384),
            "context_len": (128, 256, 512, 77, 192, 384),
            "channels": (16, 32, 64, 128, 24, 48, 96),
            "height": (32, 64, 64, 128, 56, 112),
            "depth": (8, 16, 16, 32, 12, 24),
            "length": (512, 1024, 2048, 4096, 768, 1536),
            "num_heads": (8, 16, 12),
            "head_dims": (32, 64, 128, 80),
        },
    ),
    # One core: bandwidth of a copy, and a vectorized matrix product.
    "cpu": Preset(
        bytes_per_s=12e9,
        flops_per_s={"matmul": 40e9, "conv": 25e9, "attention": 20e9},
        launch_s=8e-6,
        window_s=(1e-3, 20e-3),
        floor_s=0.8e-3,
        input_elements=2**24,
        tensor_elements=2**25,
        sizes={
            "features": (128, 256, 512, 1024, 192, 384),
            "dims": (64, 128, 256, 96, 192),
            "seq_len": (32, 64, 128, 48, 96),
            "context_len": (32, 64, 128, 77),
            "channels": (8, 16, 32, 64, 24, 48),
            "height": (16, 32, 64, 28, 56),
            "depth": (8, 16, 8, 12),
            "length": (128, 256, 512, 192, 384),
            "num_heads": (4, 8, 6),
            "head_dims": (16, 32, 64, 48),
        },
    ),
}  # fmt: skip
"""Presets by device."""


def estimate_s(graph: Graph, batch: int, preset: Preset) -> float:
    """Estimated time of one eager call of *graph*, seconds."""
    return sum(_node_s(node.applied.cost, batch, preset) for node in graph.nodes)


def _node_s(cost: Cost, batch: int, preset: Preset) -> float:
    moved = cost.moved * batch + cost.params
    memory_s = FLOAT_BYTES * moved * cost.slowness / preset.bytes_per_s
    compute_s = cost.flops * batch / preset.flops_per_s[cost.unit]
    return max(memory_s, compute_s) + cost.kernels * preset.launch_s


def traffic_bytes(graph: Graph, batch: int) -> int:
    """Bytes that the kernels of one eager call read and write."""
    costs = (node.applied.cost for node in graph.nodes)
    return sum(FLOAT_BYTES * (cost.moved * batch + cost.params) for cost in costs)


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
    batch = min(_rounded(low, dice), cap)
    if estimate_s(graph, batch, preset) < preset.floor_s or batch < _least(graph):
        return None
    return batch


def _rounded(batch: int, dice: Dice) -> int:
    power: int = 2 ** round(math.log2(batch))
    if dice.chance(ROUND_SHARE):
        return power
    step: int = max(1, 2 ** int(math.log2(batch) - 3))
    return max(LEAST_BATCH, batch // step * step)


def _least(graph: Graph) -> int:
    """Fewest items of a batch that give its norms something to work on."""
    over_rows = any(
        node.rule.name == "nn.BatchNorm1d" and node.value.layout == "rows" for node in graph.nodes
    )
    return LEAST_ROWS if over_rows else LEAST_BATCH
