"""What a benchmark found, as one record and as a table."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import comparisons
import figures
from fusewright.measure.plan import Plan
from outcome import Line, Outcome

YARDSTICK, SEQUENTIAL, OWN = "solo", "sequential", "kernelbench-own"
SPEEDS = (("basic", SEQUENTIAL), ("kernelbench", OWN))
"""Parts of the engine, each beside the baseline that measures some of its problems."""
OF_PART = ("device", "index", "scratch", "leases", "checks", "window_ms")
"""Fields of a plan that differ by part, or name a place."""
DIGITS = 5


def record(
    outcomes: Mapping[str, Outcome], abouts: Mapping[str, Line], window_ms: tuple[float, float]
) -> Line:
    """Everything that *outcomes*, by part, tell together.

    Args:
        outcomes: What each part left; at least one.
        abouts: What each was run with, where that is known.
        window_ms: Eager times that count as inside, milliseconds.

    Raises:
        SystemExit: They were measured on devices, or with versions of PyTorch, that differ.
    """
    first = next(iter(outcomes.values())).about
    for name, outcome in outcomes.items():
        _require_same(first["device"], outcome.about["device"], name)
    plan = dataclasses.asdict(Plan())
    found = {
        "date": max((about["date"] for about in abouts.values() if about), default=None),
        "device": {**first["device"], "peaks": first.get("peaks")},
        "isolation": first.get("isolation"),
        "plan": {name: value for name, value in plan.items() if name not in OF_PART},
        "parts": {
            name: {
                "settings": {"workers": outcome.about["workers"], **abouts.get(name, {})},
                **describe(name, outcome, window_ms),
            }
            for name, outcome in outcomes.items()
        },
        **_comparisons(outcomes),
    }
    rounded: Line = _rounded(found)
    return rounded


def describe(name: str, outcome: Outcome, window_ms: tuple[float, float]) -> Line:
    """Figures of one part: as many of them as mean something there."""
    if name == OWN:
        return {"throughput": figures.throughput(outcome), "verdicts": figures.tally(outcome)}
    found = figures.describe(outcome, window_ms)
    # It goes on from sitting to sitting, and no clock runs through them all.
    untold = ("throughput", "lease") if name == YARDSTICK else ()
    return {what: figure for what, figure in found.items() if what not in untold}


def table(found: Line) -> str:
    """The record *found* in aligned columns."""
    device, parts, day = found["device"], found["parts"], found["date"] or "undated"
    engine = {name: part for name, part in parts.items() if name != OWN}
    blocks = [
        [f"{device['name']}, torch {device['torch']}, {day}", *_mixture(engine)],
        _aligned(_speed_rows(parts)),
        _aligned(_step_rows(engine, "lease", "ms under lease")),
        _aligned(_step_rows(engine, "outside", "ms outside")),
        _aligned(_timing_rows(engine)),
        _aligned(_rejected_rows(parts)),
        _aligned(_fidelity_rows(found["fidelity"])),
        _aligned(_ratio_rows(found["speed"])),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _comparisons(outcomes: Mapping[str, Outcome]) -> Line:
    solo = outcomes.get(YARDSTICK)
    return {
        "fidelity": {
            name: comparisons.fidelity(outcomes[name], solo)
            for name in ("all", "basic")
            if solo and name in outcomes
        },
        "speed": {
            f"{engine} / {baseline}": comparisons.speed(outcomes[engine], outcomes[baseline])
            for engine, baseline in SPEEDS
            if engine in outcomes and baseline in outcomes
        },
    }


def _require_same(one: Line, other: Line, name: str) -> None:
    for what in ("name", "torch"):
        if one[what] != other[what]:
            raise SystemExit(
                f"part {name} was measured with {what} '{other[what]}', others with '{one[what]}': "
                "keep the results of different machines in different raw folders"
            )


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, Mapping):
        return {name: _rounded(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(inner) for inner in value]
    return value


def _mixture(parts: Mapping[str, Line]) -> list[str]:
    """A warning where parts were measured by engines whose text differs."""
    codes = {name: part["settings"].get("code", "unknown") for name, part in parts.items()}
    if len(set(codes.values())) <= 1:
        return []
    told = ", ".join(f"{name} {code}" for name, code in codes.items())
    return [f"measured by different versions of the engine: {told}"]


def _speed_rows(parts: Mapping[str, Line]) -> Iterable[Sequence[Any]]:
    yield (
        "part", "n", "asked", "workers", "per hour", "steady", "steady n", "boot s", "first s",
        "lease s", "p50", "p90", "busy %",
    )  # fmt: skip
    for name, part in parts.items():
        if "throughput" not in part:
            continue
        speed, lease, settings = part["throughput"], part.get("lease", {}), part["settings"]
        busy = lease.get("busy_share")
        yield (
            name, speed["n"], settings.get("asked"), settings["workers"], _whole(speed["per_hour"]),
            _whole(speed["steady_per_hour"]), speed["steady_n"], speed["boot_s"], speed["first_s"],
            *(lease.get(key) for key in ("mean_s", "p50_s", "p90_s")), _percent(busy, 0),
        )  # fmt: skip


def _step_rows(parts: Mapping[str, Line], where: str, title: str) -> Iterable[Sequence[Any]]:
    names = list(next(iter(parts.values()))["steps"][where]) if parts else []
    yield (title, "n", *names)
    for name, part in parts.items():
        steps = part["steps"]
        yield (name, steps["n"], *(_milli(steps[where][step]) for step in names))


def _timing_rows(parts: Mapping[str, Line]) -> Iterable[Sequence[Any]]:
    yield (
        "timing", "n", "eager ms p5", "p50", "p95", "window n", "in %", "reps eager", "compiled",
        "MHz p5", "p50", "throttled", "canaries", "drifted", "range %",
    )  # fmt: skip
    for name, part in parts.items():
        window, drift, clocks = part["window"], part["drift"], part["clocks"]
        repetitions = part["repetitions"]
        yield (
            name, repetitions["n"], *window["eager_ms"].values(), window["n"],
            _percent(window["in_window_share"], 1), repetitions["eager"], repetitions["compiled"],
            *clocks["sm_mhz"].values(), _counts(clocks["throttles"]), drift["n"], drift["drifted"],
            _percent(max(drift["range"].values(), default=None), 2),
        )  # fmt: skip


def _rejected_rows(parts: Mapping[str, Line]) -> Iterable[Sequence[Any]]:
    yield ("rejected", "n", "measured", "reasons")
    for name, part in parts.items():
        tally = part["verdicts"]
        yield (name, tally["n"], tally["measured"], _counts(tally["rejected"]))


def _fidelity_rows(fidelity: Mapping[str, Line]) -> Iterable[Sequence[Any]]:
    gates = [f"{name} <= {limit:.1%}" for name, (limit, _) in comparisons.GATES.items()]
    yield ("against solo, %", "n", *comparisons.QUANTILES, "max", *gates)
    for name, found in fidelity.items():
        held = {True: "held", False: "missed", None: "not asked"}
        for timing in figures.TIMINGS:
            spread = found[timing]
            quantiles = [_percent(spread[q], 2) for q in (*comparisons.QUANTILES, "max")]
            verdicts = [held[gate["held"]] for gate in found["gates"].values()]
            yield (f"{name} {timing}", spread["n"], *quantiles, *verdicts)


def _ratio_rows(speeds: Mapping[str, Line]) -> Iterable[Sequence[Any]]:
    yield ("same problems, per hour", "n", "engine", "baseline", "ratio")
    for name, found in speeds.items():
        for which, rates in found.items():
            engine, baseline = _whole(rates["engine"]), _whole(rates["baseline"])
            yield (f"{name}, {which}", rates["n"], engine, baseline, rates["ratio"])


def _whole(value: float | None) -> str | None:
    return None if value is None else f"{value:,.0f}"


def _milli(seconds: float) -> str:
    # Steps are rounded: what is left over may be a little less than nothing.
    return f"{abs(round(1e3 * seconds, 1)):.1f}"


def _percent(value: float | None, digits: int) -> str | None:
    return None if value is None else f"{100 * value:.{digits}f}"


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def _aligned(rows: Iterable[Sequence[Any]]) -> list[str]:
    cells = [["-" if cell in (None, "") else _cell(cell) for cell in row] for row in rows]
    if len(cells) == 1:
        return []
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if index else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in cells
    ]


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
