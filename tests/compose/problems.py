"""Graphs small enough to run many of, and the modules that their text makes."""

import random
import types

import torch

from fusewright.compose.canvas import Canvas
from fusewright.compose.graph import draw_sized
from fusewright.compose.menu import Menus
from fusewright.compose.plan import Graph
from fusewright.compose.preset import TINY, Preset
from fusewright.compose.render import render
from fusewright.operators.catalogue import CATALOGUE, Dice, Rule
from fusewright.testing import make_operator

NAMES = frozenset(op for rule in CATALOGUE for op in rule.ops)
OPERATORS = [make_operator(name) for name in sorted(NAMES)]
MENUS = Menus(CATALOGUE)


def drawn(seed: int, preset: Preset = TINY) -> tuple[Graph, int, str]:
    """A graph, its batch and its text."""
    found = draw_sized(NAMES, seed, preset, (2, 8))
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
