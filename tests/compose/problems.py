"""Graphs small enough to run many of, and the modules that their text makes."""

import random
import types

import torch

from fusewright.compose.canvas import Canvas
from fusewright.compose.graph import draw_sized
from fusewright.compose.menu import Menus
from fusewright.compose.plan import Graph
from fusewright.compose.render import render
from fusewright.compose.size import Preset
from fusewright.operators.catalogue import CATALOGUE, Dice, Rule
from fusewright.testing import make_operator

TINY = Preset(
    bytes_per_s=1e9,
    flops_per_s={"matmul": 1e10, "conv": 1e10, "attention": 1e10},
    launch_s=1e-6,
    window_s=(1e-5, 1e-3),
    floor_s=0.0,
    input_elements=2**15,
    tensor_elements=2**17,
    sizes={
        "features": (32, 64, 48), "dims": (16, 32, 48), "seq_len": (16, 24, 32),
        "context_len": (16, 20), "channels": (8, 16, 32, 24), "height": (8, 16, 12),
        "depth": (4, 8, 16), "length": (32, 64, 48), "num_heads": (2, 4), "head_dims": (16, 32),
    },
)  # fmt: skip
NAMES = frozenset(op for rule in CATALOGUE for op in rule.ops)
OPERATORS = [make_operator(name) for name in sorted(NAMES)]
MENUS = Menus(CATALOGUE)


def drawn(seed: int, preset: Preset = TINY) -> tuple[Graph, int, str]:
    """A graph, its batch and its text."""
    found = draw_sized(NAMES, seed, preset, (2, 6))
    assert found is not None
    graph, batch, dice = found
    return graph, batch, render(graph, batch, dice)


def built(code: str) -> tuple[torch.nn.Module, list[torch.Tensor]]:
    """The model and the inputs that *code* describes."""
    module = types.ModuleType("problem")
    exec(compile(code, "problem.py", "exec"), module.__dict__)
    torch.manual_seed(0)
    return module.Model(*module.get_init_inputs()), module.get_inputs()


def canvas(seed: int = 0, limit: int = 6) -> Canvas:
    """An empty canvas of tiny sizes."""
    return Canvas(Dice(random.Random(seed), TINY.sizes), MENUS, limit, 2**17)


def rule(text: str) -> Rule:
    """The first rule whose operators are those of *text*, parted by spaces."""
    return next(r for r in CATALOGUE if " ".join(r.ops) == text)
