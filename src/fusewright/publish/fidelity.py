"""How well timings come again: the figures of the sample that was measured a second time, alone.

The sample is drawn by a hash of the key, so that it depends on no order and on no sitting, and a
greater share holds a lesser one whole. Its second verdicts lie in the ledger beside the stages, as
`remeasure`: a stage by its form, though nothing that it rejects leaves the release.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from fusewright.ledger import Ledger

STAGE = "remeasure"
"""Name under which the ledger holds the second verdicts."""
TIMINGS = ("eager", "compiled")
Spread = dict[str, Any]
"""`rows`, and of their differences each of `QUANTILES` and the `max`; None without rows."""
QUANTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}


class Gate(NamedTuple):
    """What a quantile should hold, and from how many rows on it is asked to."""

    limit: float
    least_rows: int = 1


GATES = {"p50": Gate(0.005), "p90": Gate(0.02), "p99": Gate(0.05, least_rows=500)}
"""Greatest relative differences. Source: between runs under an exclusive lease, medians on an H200
agreed to 0.1 to 0.2 % at p50 and 0.5 to 0.9 % at p90; under 500 rows, p99 rests on the last few."""


def in_sample(key: str, fraction: float) -> bool:
    """Whether the problem called *key* is measured again, when *fraction* of all are."""
    # Keys are hashes, and others choose by them: hashed anew, this choice has nothing of theirs.
    digest = hashlib.sha256(f"{STAGE} {key}".encode()).digest()
    return int.from_bytes(digest[:8], "big") < fraction * 2**64


def of_run(ledger: Ledger, fraction: float) -> dict[str, Any] | None:
    """Figures of the run in *ledger*, as `figures` gives them; None if nothing came again."""
    if not (ledger.shards("measure") and ledger.shards(STAGE)):
        return None
    first, again = (_sample(ledger.frame(stage), fraction) for stage in ("measure", STAGE))
    if again.is_empty():
        return None
    sample = _medians(first)
    pairs = sample.join(_medians(again), on="subject", suffix="_again")
    differences = {
        name: (pairs[f"{name}_again"] / pairs[name] - 1).abs().to_list() for name in TIMINGS
    }
    rejected = Counter(again.filter(pl.col("verdict") == "rejected")["reason"].to_list())
    return {"fraction": fraction, "sampled": sample.height} | figures(differences, rejected)


def figures(
    differences: Mapping[str, Sequence[float]], rejected: Mapping[str, int]
) -> dict[str, Any]:
    """Summarize the relative *differences* of each timing, ratios of 0 or more.

    Returns:
        For each timing `rows`, `p50`, `p90`, `p95`, `p99` and `max` (None without rows); `rejected`
        by reason; and `gates`: of each gated quantile its limit, the rows it needs, and whether
        every timing holds it (None where one has too few rows to tell).
    """
    spreads = {name: _spread(values) for name, values in differences.items()}
    gates = {
        quantile: {**gate._asdict(), "held": _held(spreads.values(), quantile, gate)}
        for quantile, gate in GATES.items()
    }
    return {**spreads, "rejected": dict(sorted(rejected.items())), "gates": gates}


def _spread(values: Sequence[float]) -> Spread:
    if not values:
        return {"rows": 0, **dict.fromkeys(QUANTILES), "max": None}
    # Linear between the two nearest order statistics, as numpy does by itself.
    found = np.quantile(values, list(QUANTILES.values()), method="linear").tolist()
    return {"rows": len(values), **dict(zip(QUANTILES, found, strict=True)), "max": max(values)}


def _held(spreads: Iterable[Spread], quantile: str, gate: Gate) -> bool | None:
    if any(spread["rows"] < gate.least_rows for spread in spreads):
        return None
    return all(spread[quantile] <= gate.limit for spread in spreads)


def _sample(frame: pl.DataFrame, fraction: float) -> pl.DataFrame:
    sample = [key for key in frame["subject"] if in_sample(key, fraction)]
    return frame.filter(pl.col("subject").is_in(sample))


def _medians(frame: pl.DataFrame) -> pl.DataFrame:
    kept = frame.filter(pl.col("verdict") == "kept")
    return kept.select("subject", *(pl.col(n).struct.field("median_ms").alias(n) for n in TIMINGS))
