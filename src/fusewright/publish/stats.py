"""Counts of a run and of its release: the funnel, the manifest and the distributions.

Nothing here knows the time or the place, so that the same rows give the same bytes.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from fusewright.config import Config
from fusewright.errors import LedgerError
from fusewright.ledger import Ledger
from fusewright.publish.rows import Row

STAGES = ("mine", "compose", "screen", "measure", "judge", "select")
"""Stages of the ledger in order; `compose` takes draws, each later one what the last kept."""

VERSIONS = ("fusewright", "python", "torch")
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def funnel(ledger: Ledger, stages: Sequence[str], rows: int) -> dict[str, Any]:
    """What became of the inputs of each of *stages*, and of the release, which has *rows*.

    Raises:
        LedgerError: A stage did not decide exactly what the stage before it kept.
    """
    found = []
    for stage in stages:
        tally = ledger.tally(stage)
        rejected = sorted(tally.rejected.items(), key=lambda pair: (-pair[1], pair[0]))
        found.append(_line(stage, tally.inputs, tally.kept, dict(rejected)))
    found.append(_line("release", found[-1]["kept"], rows, {}))
    for before, after in pairwise(found):
        if after["stage"] != "compose" and before["kept"] != after["inputs"]:
            raise LedgerError(
                f"{before['stage']} kept {before['kept']}, {after['stage']} had {after['inputs']}"
            )
    if rows != found[-1]["inputs"]:
        raise LedgerError(f"select kept {found[-1]['inputs']}, the release has {rows} rows")
    return {"stages": found}


def manifest(
    config: Config, rows: Sequence[Row], rejected: int, facts: Mapping[str, Any]
) -> dict[str, Any]:
    """What the release was made from and with; the hashes of its files are added on writing.

    Of the *facts* in `run.yaml`, versions and commit are taken, and not when the run began; with
    them come the device, the figures of what was measured again, and how well planted copies of
    each benchmark are found.
    """
    return {
        "name": config.name,
        "release": config.release.version,
        "config_hash": config.hash,
        "config": config.model_dump(mode="json"),
        "seeds": {"run": config.seed},
        "git_commit": facts["commit"],
        "measured_on": facts.get("device"),
        "fidelity": facts.get("fidelity"),
        "recall": facts.get("recall", []),
        "versions": {name: facts[name] for name in VERSIONS},
        "measured_with": _counts(f"torch {row.torch}" for row in rows),
        "devices": _counts(row.device for row in rows),
        "counts": {"rows": len(rows), "rejected": rejected},
        "licenses": _counts(name for row in rows for name in row.licenses),
    }


def distributions(rows: Sequence[Row]) -> dict[str, Any]:
    """How *rows* spread: counts of values, most frequent first, and quantiles."""
    return {
        "operators": _counts(op for row in rows for op in row.ops),
        "families": _counts(family for row in rows for family in row.families),
        "n_ops": dict(sorted(Counter(row.n_ops for row in rows).items())),
        "eager_ms": dict(sorted(Counter(_floor_of_two(row.eager_ms) for row in rows).items())),
        "composers": _counts(row.composer for row in rows),
        "bounds": _counts(row.bound for row in rows),
        "skeletons": len({row.skeleton for row in rows}),
        "branching": sum(row.branching for row in rows),
        "speedup": _quantiles([row.speedup for row in rows]),
    }


def _line(stage: str, inputs: int, kept: int, rejected: Mapping[str, int]) -> dict[str, Any]:
    return {"stage": stage, "inputs": inputs, "kept": kept, "rejected": rejected}


def _counts(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items(), key=lambda pair: (-pair[1], pair[0])))


def _floor_of_two(value: float) -> float:
    """The greatest power of two that is not above *value*."""
    return math.ldexp(1.0, math.frexp(value)[1] - 1)


def _quantiles(values: Sequence[float]) -> dict[float, float]:
    if not values:
        return {}
    found = np.quantile(values, QUANTILES).tolist()
    return dict(zip(QUANTILES, found, strict=True))
