"""Small runs: few operators, a meter that needs no device, and few candidates."""

import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl

from fusewright.config import Config
from fusewright.configfile import make_config

SOURCE = """
from fusewright.records import Operator, TensorSpec

NAMES = "torch.relu torch.add torch.mul torch.mean torch.softmax F.gelu F.silu torch.tanh"


class source:
    name = "small"

    def operators(self):
        for name in NAMES.split():
            two = name in ("torch.add", "torch.mul")
            rest = ", 1" if name in ("torch.mean", "torch.softmax") else ""
            yield Operator(
                name=name,
                family="elementwise",
                kind="function",
                source="small",
                call=f"{name}({{0}}, {{1}})" if two else f"{name}({{0}}{rest})",
                inputs=(TensorSpec(shape=(4, 8)),) * (1 + two),
                version="test 1",
            )
        yield Operator(
            name="nn.Linear",
            family="matmul",
            kind="module",
            source="small",
            init="nn.Linear(8, 8)",
            call="{m}({0})",
            inputs=(TensorSpec(shape=(4, 8)),),
            version="test 1",
        )
"""

METER = "from fusewright.testing import FakeMeter as meter\n"


def small_config(folder: Path, **sections: Any) -> Config:
    """Write the plug-ins of a small run into *folder*, and describe the run."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "source.py").write_text(SOURCE)
    (folder / "meter.py").write_text(METER)
    settings = {
        "name": "small",
        "mine": {"sources": [{"name": str(folder / "source.py")}]},
        "compose": {"batch": 8, "composers": [{"name": "graph", "settings": {"device": "cpu"}}]},
        "measure": {
            "meter": str(folder / "meter.py"),
            "device": "cpu",
            "remeasure_fraction": 0.4,
        },
        "judge": {"min_eager_ms": 1, "max_eager_ms": 50, "min_headroom": None},
        "select": {"target": 20},
        "limits": {"candidates": 80},
    }
    return make_config(settings | sections, "test")


def copy_of(run_dir: Path, folder: Path) -> Path:
    """Copy a run folder; the lock stays behind."""
    shutil.copytree(run_dir, folder, ignore=shutil.ignore_patterns(".lock"))
    return folder


def verdicts_of(ledger: Any, stages: tuple[str, ...]) -> dict[str, list[Any]]:
    """What the ledger says of each input, without the order of writing and without times."""
    columns = ("subject", "verdict", "reason")
    return {stage: sorted(ledger.frame(stage).select(columns).rows()) for stage in stages}


def files_of(release: Path) -> dict[str, bytes]:
    """Bytes of every file of a release folder."""
    files = (path for path in sorted(release.rglob("*")) if path.is_file())
    return {str(path.relative_to(release)): path.read_bytes() for path in files}


def ids_of(release: Path) -> list[str]:
    """Ids of the rows of a release folder."""
    return pl.read_parquet(release / "data" / "*.parquet")["id"].to_list()


def funnel_of(release: Path) -> list[dict[str, Any]]:
    """Stages of the funnel of a release folder."""
    stages: list[dict[str, Any]] = json.loads((release / "stats" / "funnel.json").read_text())[
        "stages"
    ]
    return stages
