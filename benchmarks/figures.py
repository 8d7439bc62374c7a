"""Figures of one part of a benchmark from its raw lines: pure functions, and each says its n."""

import statistics
from collections import Counter
from collections.abc import Sequence

from outcome import Line, Outcome

OUTSIDE = ("load", "waiting", "survey", "compile", "clean_up")
"""Steps for which a worker needs no device."""
INSIDE = ("build", "eager", "checks", "benchmark", "first_call", "compare", "timing")
"""Steps for which it holds the device."""
TIMINGS = ("eager", "compiled")
OUT_OF_WINDOW = ("too_easy", "too_slow")


def describe(part: Outcome, window_ms: tuple[float, float]) -> Line:
    """Every figure of one part that needs no other part."""
    return {
        "throughput": throughput(part),
        "lease": lease(part),
        "steps": steps(part),
        "verdicts": tally(part),
        "window": window(part, window_ms),
        "repetitions": repetitions(part),
        "clocks": clocks(part),
        "drift": drift(part),
    }


def throughput(part: Outcome) -> Line:
    """Verdicts an hour, boot counted in and steady, and how long the first one took.

    Steady is from the moment when a tenth of the verdicts has fallen to that when nine tenths have,
    the last of the first tenth not counted.
    """
    at_s = sorted(verdict["at_s"] for verdict in part.verdicts)
    since, until = _steady(at_s)
    seconds = _between(at_s, since, until)
    return {
        "n": len(at_s),
        "per_hour": hourly(len(at_s), at_s[-1] if at_s else 0.0),
        "steady_n": until - since,
        "steady_s": seconds,
        "steady_per_hour": hourly(until - since, seconds),
        "boot_s": part.about["boot_s"],
        "first_s": at_s[0] if at_s else None,
        "last_s": at_s[-1] if at_s else None,
    }


def lease(part: Outcome) -> Line:
    """Seconds that a candidate held the device, and the busy share of steady wall time.

    The share counts candidates alone: canaries, and what was measured in vain, are not in it. A
    candidate counts whole where its verdict falls, so that with few the share may exceed 1.
    """
    held = [held_s(verdict) for verdict in part.timed]
    ordered = sorted(part.verdicts, key=lambda verdict: verdict["at_s"])
    at_s = [verdict["at_s"] for verdict in ordered]
    since, until = _steady(at_s)
    seconds = _between(at_s, since, until)
    return {
        "n": len(held),
        "mean_s": _mean(held),
        "p50_s": quantile(held, 0.5),
        "p90_s": quantile(held, 0.9),
        "busy_n": until - since,
        "busy_share": sum(map(held_s, ordered[since:until])) / seconds if seconds else None,
    }


def steps(part: Outcome) -> Line:
    """Mean seconds of a candidate by step, under the lease and outside it.

    `other` is what the lease was held for besides the steps that are named.
    """
    spent = [verdict["spent_s"] for verdict in part.timed]

    def means(names: Sequence[str]) -> dict[str, float]:
        return {name: _mean([s.get(name, 0.0) for s in spent]) or 0.0 for name in names}

    inside, (total,) = means(INSIDE), means(["lease"]).values()
    inside["other"] = total - sum(inside.values())
    return {"n": len(spent), "lease": inside, "outside": means(OUTSIDE)}


def tally(part: Outcome) -> Line:
    """How many were measured, and how many rejected, by reason."""
    return {
        "n": len(part.verdicts),
        "measured": len(part.measurements),
        "rejected": dict(Counter(part.reasons).most_common()),
    }


def window(part: Outcome, window_ms: tuple[float, float]) -> Line:
    """Share of those with a known eager time that lie in the window, and how the times spread."""
    times_ms = [m["eager"]["median_ms"] for m in part.measurements.values()]
    known = len(times_ms) + sum(reason in OUT_OF_WINDOW for reason in part.reasons)
    inside = sum(window_ms[0] <= ms <= window_ms[1] for ms in times_ms)
    return {
        "n": known,
        "limits_ms": list(window_ms),
        "in_window_share": inside / known if known else None,
        "eager_ms": {name: quantile(times_ms, q) for name, q in _named(0.05, 0.5, 0.95)},
    }


def repetitions(part: Outcome) -> Line:
    """Mean number of timed repetitions."""
    measured = list(part.measurements.values())
    means = {name: _mean([m[name]["repetitions"] for m in measured]) for name in TIMINGS}
    return {"n": len(measured), **means}


def clocks(part: Outcome) -> Line:
    """Clock of the multiprocessors after timing, and how often what held it down."""
    told = [m for m in part.measurements.values() if m.get("sm_mhz")]
    mhz = [m["sm_mhz"] for m in told]
    throttles = Counter(name for m in told for name in m.get("throttles", ()))
    return {
        "n": len(told),
        "sm_mhz": {name: quantile(mhz, q) for name, q in _named(0.05, 0.5)},
        "throttles": dict(throttles.most_common()),
    }


def drift(part: Outcome) -> Line:
    """Number of canaries and of those that had drifted, and how far their times lie apart."""
    kinds = {name.removeprefix("least_") for r in part.drift for name in r if "least_" in name}
    ranges = {
        kind: max(r[f"most_{kind}"] / r[f"least_{kind}"] - 1 for r in part.drift)
        for kind in sorted(kinds)
    }
    counts = {name: sum(r[name] for r in part.drift) for name in ("canaries", "drifted")}
    return {"n": counts["canaries"], "drifted": counts["drifted"], "range": ranges}


def quantile(values: Sequence[float], share: float) -> float | None:
    """Quantile of *values*, linear between its two neighbours; None of nothing."""
    if not values:
        return None
    ordered = sorted(values)
    whole, part = divmod(share * (len(ordered) - 1), 1)
    low, high = ordered[int(whole)], ordered[min(int(whole) + 1, len(ordered) - 1)]
    return low + part * (high - low)


def hourly(count: int, seconds: float) -> float | None:
    """How many an hour; None in no time."""
    return count / seconds * 3600 if seconds else None


def held_s(verdict: Line) -> float:
    """Seconds for which a candidate held the device."""
    return float(verdict.get("spent_s", {}).get("lease", 0.0))


def _steady(at_s: Sequence[float]) -> tuple[int, int]:
    """How many verdicts have fallen when a tenth of all have, and when nine tenths have."""
    n = len(at_s)
    return -(-n // 10), -(-9 * n // 10)


def _between(at_s: Sequence[float], since: int, until: int) -> float:
    return at_s[until - 1] - at_s[since - 1] if since else 0.0


def _mean(values: Sequence[float]) -> float | None:
    return statistics.fmean(values) if values else None


def _named(*shares: float) -> list[tuple[str, float]]:
    return [(f"p{100 * share:g}", share) for share in shares]
