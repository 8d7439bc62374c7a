"""Figures of two parts of a benchmark held against each other; pure, and each says its n."""

from collections.abc import Sequence
from typing import NamedTuple

from figures import OUTSIDE, TIMINGS, held_s, hourly, quantile
from outcome import Line, Outcome

QUANTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}
GATES = {"p50": (0.005, 1), "p90": (0.02, 1), "p99": (0.05, 500)}
"""Greatest difference from the solo median, and the n from which on it is asked for."""
OUTLIERS = 3


class Pair(NamedTuple):
    """One median, measured twice."""

    key: str
    timing: str
    first_ms: float
    again_ms: float

    @property
    def difference(self) -> float:
        """How far the second came out from the first."""
        return abs(self.again_ms / self.first_ms - 1)


def fidelity(part: Outcome, solo: Outcome) -> Line:
    """How far medians came out when measured again alone: |again / first - 1|, by quantile.

    Returns:
        For each timing its quantiles; for each gated quantile whether every timing holds it, None
        where n is too small to ask; and the medians that came out farthest.
    """
    pairs = _pairs(part, solo)
    spreads = {
        name: _spread([pair.difference for pair in pairs if pair.timing == name])
        for name in TIMINGS
    }
    farthest = sorted(pairs, key=lambda pair: -pair.difference)[:OUTLIERS]
    return {
        "n": len(pairs) // len(TIMINGS),
        "sampled": len(solo.verdicts),
        **spreads,
        "gates": {name: _gate(name, list(spreads.values())) for name in GATES},
        "outliers": [pair._asdict() for pair in farthest],
    }


def speed(engine: Outcome, baseline: Outcome) -> Line:
    """Candidates an hour of both on the same problems, and their ratio.

    Each is its number of workers over the mean time that a worker is at one candidate, waiting for
    the device included, so that boot is left out of both. The first one of *baseline* is left out
    too: a process pays once there for what it needs, in a run of any length.

    Returns:
        The two rates over all that both have `decided`, and over those that both have `measured`.
    """
    warm = {verdict["key"]: verdict for verdict in baseline.timed[1:]}
    both = [(ours, warm[ours["key"]]) for ours in engine.timed if ours["key"] in warm]
    measured = [pair for pair in both if all("measurement" in verdict for verdict in pair)]
    return {
        name: _ratio(
            _rate(engine, [ours for ours, _ in pairs]),
            _rate(baseline, [theirs for _, theirs in pairs]),
            len(pairs),
        )
        for name, pairs in (("decided", both), ("measured", measured))
    }


def _ratio(fast: float | None, slow: float | None, n: int) -> Line:
    ratio = fast / slow if fast and slow else None
    return {"n": n, "engine": fast, "baseline": slow, "ratio": ratio}


def _rate(part: Outcome, verdicts: Sequence[Line]) -> float | None:
    at_work_s = sum(
        held_s(verdict) + sum(verdict["spent_s"].get(step, 0.0) for step in OUTSIDE)
        for verdict in verdicts
    )
    return hourly(part.about["workers"] * len(verdicts), at_work_s)


def _pairs(part: Outcome, solo: Outcome) -> list[Pair]:
    first, again = part.measurements, solo.measurements
    return [
        Pair(key, name, first[key][name]["median_ms"], again[key][name]["median_ms"])
        for key in first
        if key in again
        for name in TIMINGS
    ]


def _spread(values: Sequence[float]) -> Line:
    found = {name: quantile(values, share) for name, share in QUANTILES.items()}
    return {"n": len(values), **found, "max": max(values, default=None)}


def _gate(name: str, spreads: Sequence[Line]) -> Line:
    limit, least_n = GATES[name]
    asked = all(spread["n"] >= least_n for spread in spreads)
    held = all(spread[name] <= limit for spread in spreads) if asked else None
    return {"limit": limit, "least_n": least_n, "held": held}
