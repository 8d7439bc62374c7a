"""A small library in the form of transformers, and what vendoring it gives."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from fusewright.operators.transformers.vendored import Edition, Vendored, read
from fusewright.records import Rejection

APACHE = """# Copyright 2024 The Bird Authors. All rights reserved.
#
# Licensed under the Apache License, Version 2.0 (the "License");
"""
MIT = "# Copyright 2024 Someone. Released under the MIT License.\n"
IMPORTS = """
import math
import os
import torch
from torch import nn
from ...activations import ACT2FN
from ...helpers import halved
from ...logs import logger
"""
MLP = """
class {name}(nn.Module):
    def __init__(self, config: {config}, layer_idx: int):
        super().__init__()
        self.config = config
        self.up = nn.Linear(config.hidden_size, config.intermediate_size, bias=config.mlp_bias)
        self.act = ACT2FN[config.hidden_act]
        self.down = nn.Linear(config.intermediate_size, config.hidden_size)

    def forward(self, {x}: torch.Tensor) -> torch.Tensor:
        logger.warning_once("said")
        return self.down(self.act(self.up({x}))) / math.sqrt(self.config.hidden_size)
"""
NORM = """
class {name}(nn.Module):
    def __init__(self, hidden_size, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden_size))
        self.eps = eps

    def forward(self, x):
        return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)
"""
ONE_LINE = """
class {name}(nn.Module):
    def forward(self, x):
        return {value}
"""
CONFIGURATION = """
from ...configuration_utils import PreTrainedConfig

class {name}(PreTrainedConfig):
    hidden_size = 4096
    intermediate_size = 11008
    mlp_bias = False
    hidden_act = "quick_gelu"
"""
BIRD = [
    MLP.format(name="BirdMLP", config="BirdConfig", x="hidden_states"),
    MLP.format(name="BirdTwin", config="BirdConfig", x="x"),
    ONE_LINE.format(name="BirdHalf", value="halved(x).tanh() + x"),
    ONE_LINE.format(name="BirdSquare", value="x * x.sigmoid() * x"),
    ONE_LINE.format(name="BirdSquareToo", value="x.pow(2) * torch.sigmoid(x)"),
    ONE_LINE.format(name="BirdLeaves", value="torch.os._exit(3) or x"),
    ONE_LINE.format(name="BirdCrashes", value="torch.ctypes.string_at(0) or x"),
    ONE_LINE.format(name="BirdReads", value="x * len(os.environ)"),
    ONE_LINE.format(name="BirdIdles", value="x"),
    ONE_LINE.format(name="BirdRolls", value="x + torch.rand_like(x)"),
    ONE_LINE.format(name="BirdRaises", value="x.nonesuch()"),
]
FILES = {
    "__init__.py": "",
    "configuration_utils.py": "class PreTrainedConfig:\n    pass\n",
    "helpers.py": "def halved(x):\n    '''Said in a docstring.'''\n    return x / 2\n",
    "logs.py": "logger = None\n",
    "activations.py": "import torch\nfrom torch import nn\n"
    + ONE_LINE.format(name="QuickGELUActivation", value="x * torch.sigmoid(1.702 * x)"),
    "models/bird/configuration_bird.py": CONFIGURATION.format(name="BirdConfig"),
    "models/bird/modeling_bird.py": APACHE + IMPORTS + "".join(BIRD),
    "models/broken/configuration_broken.py": "import nonesuch\n",
    "models/broken/modeling_broken.py": IMPORTS
    + MLP.format(name="BrokenMLP", config="BrokenConfig", x="y")
    + NORM.format(name="BrokenNorm"),
    "models/dying/configuration_dying.py": "import os\nos.abort()\n",
    "models/dying/modeling_dying.py": IMPORTS
    + MLP.format(name="DyingMLP", config="DyingConfig", x="y"),
    "models/other/modeling_other.py": MIT + IMPORTS + NORM.format(name="OtherNorm"),
}


@dataclass(frozen=True)
class Result:
    """What the command wrote."""

    edition: Edition
    rows: dict[str, Vendored]
    rejections: dict[str, Rejection]


@pytest.fixture(scope="session")
def toyformers(tmp_path_factory) -> Path:
    """A folder in which the package `toyformers` lies as if installed."""
    folder = tmp_path_factory.mktemp("site")
    for name, text in FILES.items():
        file = folder / "toyformers" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    about = folder / "toyformers-1.2.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: toyformers\nVersion: 1.2\n")
    return folder


@pytest.fixture(scope="session")
def vendored(toyformers) -> Result:
    out, rejected = toyformers / "out.jsonl", toyformers / "rejected.jsonl"
    path = [str(toyformers), *filter(None, [os.environ.get("PYTHONPATH")])]
    subprocess.run(
        [sys.executable, "-m", "fusewright.operators.transformers.vendor",
         "--library", "toyformers", "--out", str(out), "--rejected", str(rejected)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path)},
        check=True,
        capture_output=True,
    )  # fmt: skip
    edition, rows = read(out)
    lines = [Rejection(**json.loads(line)) for line in rejected.read_text().splitlines()]
    return Result(edition, {row.name: row for row in rows}, {line.subject: line for line in lines})
