"""Small valid records to vary in a test."""

from typing import Any

from fusewright.records import Measurement, Node, Operator, Problem, TensorSpec, Timing

RELU_MEAN = '''\
import torch
import torch.nn as nn


class Model(nn.Module):
    """Rectify a linear projection and average it over the features."""

    def __init__(self, in_features, out_features):
        super().__init__()
        self.proj = nn.Linear(in_features, out_features)

    def forward(self, x):
        x = torch.relu(self.proj(x))
        return torch.mean(x, dim=1)


batch_size = 64
in_features = 128
out_features = 256


def get_inputs():
    return [torch.randn(batch_size, in_features)]


def get_init_inputs():
    return [in_features, out_features]
'''
"""A sound problem of three operators."""


def make_problem(code: str = RELU_MEAN, **fields: Any) -> Problem:
    """Wrap *code* as a problem of the graph composer."""
    return Problem(**{"code": code, "ops": (), "composer": "graph", "seed": 0} | fields)


def make_operator(name: str = "F.gelu", **fields: Any) -> Operator:
    """Describe a one-tensor function called *name*."""
    defaults = {
        "name": name,
        "family": "elementwise",
        "kind": "function",
        "source": "functions",
        "call": f"{name}({{0}})",
        "inputs": (TensorSpec(shape=(2, 3)),),
        "version": "torch 2.13.0",
    }
    return Operator(**defaults | fields)


def make_measurement(
    problem: Problem, eager_ms: float = 5.0, compiled_ms: float = 2.0, **fields: Any
) -> Measurement:
    """Say that *problem* took *eager_ms* and *compiled_ms*, plausible in every other field."""
    defaults = {
        "problem": problem.key,
        "device": "fake",
        "torch": "2.13.0",
        "dtype": "float32",
        "input_shapes": ((64, 128),),
        "output_shapes": ((64,),),
        "params": 33_024,
        "graph": (
            Node(op="nn.Linear", inputs=(-1,)),
            Node(op="torch.relu", inputs=(0,)),
            Node(op="torch.mean", inputs=(1,)),
        ),
        "eager": Timing(median_ms=eager_ms, spread=0.01, repetitions=20),
        "compiled": Timing(median_ms=compiled_ms, spread=0.01, repetitions=20),
        "peak_memory_bytes": 1_000_000,
        "flops": 4_194_304,
        "io_bytes": 165_120,
        "sol_ms": 1.0,
        "bound": "memory",
        "tolerance": 1e-3,
    }
    return Measurement(**defaults | fields)
