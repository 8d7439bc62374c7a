import hashlib
from collections.abc import Callable
from typing import Any

import pytest

from fusewright.publish.rows import Row
from fusewright.testing import RELU_MEAN

DEFAULTS: dict[str, Any] = {
    "ops": ("nn.Linear", "torch.relu", "torch.mean"),
    "data_source": "torch#3",
    "composer": "graph",
    "model": None,
    "seed": 0,
    "n_ops": 3,
    "families": ("matmul", "elementwise", "reduction"),
    "skeleton": "0123456789abcdef",
    "n_inputs": 1,
    "branching": False,
    "dtype": "float32",
    "input_shapes": ((64, 128),),
    "output_shapes": ((64,),),
    "params": 33_024,
    "eager_ms": 6.0,
    "compiled_ms": 2.0,
    "eager_spread": 0.01,
    "compiled_spread": 0.02,
    "eager_repetitions": 20,
    "compiled_repetitions": 40,
    "speedup": 3.0,
    "sol_ms": 1.0,
    "headroom": 2.0,
    "bound": "memory",
    "peak_memory_mb": 1.0,
    "tolerance": 1e-3,
    "device": "fake",
    "torch": "2.13.0",
    "nearest_benchmark": "kernelbench/level2/1",
    "benchmark_similarity": 0.4,
    "nearest_row": None,
    "row_similarity": None,
    "licenses": ("BSD-3-Clause",),
    "release": "0.1.0",
}


@pytest.fixture(scope="session")
def new_row() -> Callable[..., Row]:
    """Make a row whose code ends in a comment with *number*, plausible in every other field."""

    def make(number: int = 0, **fields: Any) -> Row:
        code = f"{RELU_MEAN}# {number}\n"
        text_id = hashlib.sha256(code.encode()).hexdigest()[:16]
        return Row(**DEFAULTS | {"code": code, "id": text_id} | fields)

    return make
