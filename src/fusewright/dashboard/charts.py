"""The charts, each a pure function from a run to a Vega-Lite specification, or None where empty."""

from collections import Counter

import altair as alt
import polars as pl

from fusewright.dashboard import marks
from fusewright.dashboard.data import STAGES, Run
from fusewright.dashboard.marks import Spec

Window = tuple[float | None, float | None]
"""Least and greatest eager time that the judge accepts, milliseconds; None is unknown."""

TOP_OPERATORS = 25
TOP_REASONS = 40
NEAR, SAME = 0.7, 0.9
"""From 0.7 a problem is near a benchmark's, from 0.9 it is one: renamed and reshaped copies of
KernelBench problems score 1, and its own distinct problems pass 0.9 in 18 of 100 cases."""

BAR_PX = 24
TOTAL_PX = 44
"""Room on the right for the number at the end of the longest bar."""

NUMBER = ",~r"
"""Plain decimals, without trailing zeros and without an exponent."""


def funnel(run: Run) -> Spec | None:
    """Draw kept, rejected and waiting candidates by stage."""
    rows = [
        {"stage": stage.name, "fate": fate, "count": getattr(stage, fate), "rank": rank}
        for stage in run.stages
        if stage.name != "mine"
        for rank, fate in enumerate(marks.FATES)
    ]
    shown = [row for row in rows if row["count"]]
    if not shown:
        return None
    fates = marks.fates(shown)
    bars = marks.draw(shown).mark_bar(size=BAR_PX - 6)
    encoded = bars.encode(
        x=alt.X("count:Q", title="Candidates", axis=marks.count_axis()),
        y=alt.Y("stage:N", title=None, sort=list(STAGES), axis=marks.name_axis()),
        color=marks.color("fate", fates),
        order=alt.Order("rank:Q"),
        tooltip=["stage:N", "fate:N", alt.Tooltip("count:Q", format=",")],
    )
    return marks.finish(encoded, (BAR_PX + 6) * len({row["stage"] for row in shown}), fates)


def reasons(run: Run) -> Spec | None:
    """Draw rejections by reason, stacked by the stage that gave it."""
    totals = Counter[str]()
    for reason in run.reasons:
        totals[reason.slug] += reason.count
    if not totals:
        return None
    top = dict(totals.most_common(TOP_REASONS))
    rank = {stage: index for index, stage in enumerate(STAGES)}
    rows = [
        {"reason": r.slug, "stage": r.stage, "count": r.count, "rank": rank[r.stage]}
        for r in run.reasons
        if r.slug in top
    ]
    stages = {s: f"var(--{s})" for s in STAGES if any(row["stage"] == s for row in rows)}
    y = alt.Y("reason:N", title=None, sort=list(top), axis=marks.name_axis())
    bars = marks.draw(rows).mark_bar(size=BAR_PX - 8)
    stacked = bars.encode(
        x=alt.X("count:Q", title="Rejections", axis=marks.count_axis()),
        y=y,
        color=marks.color("stage", stages),
        order=alt.Order("rank:Q"),
        tooltip=["reason:N", "stage:N", alt.Tooltip("count:Q", format=",")],
    )
    ends = marks.totals([{"reason": slug, "total": total} for slug, total in top.items()], y)
    return marks.finish(stacked + ends, BAR_PX * len(top), stages, TOTAL_PX)


def timings(run: Run, window: Window) -> Spec | None:
    """Draw compiled against eager time on logarithmic axes, with the judge's window."""
    drawn = run.points.filter((pl.col("eager_ms") > 0) & (pl.col("compiled_ms") > 0))
    if drawn.is_empty():
        return None
    times_ms = pl.concat([drawn["eager_ms"], drawn["compiled_ms"].rename("eager_ms")])
    low, high = marks.decades(times_ms.to_list())
    axis = marks.axis(format=NUMBER, values=marks.powers(10, low, high))
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    columns = ["eager_ms", "compiled_ms", "speedup", "fate", "reason"]
    rows = drawn.with_columns(pl.selectors.float().round_sig_figs(4)).select(columns).to_dicts()
    points = (
        marks.draw(rows)
        .mark_circle(size=26, opacity=0.6, aria=False)
        .encode(
            x=alt.X("eager_ms:Q", title="Eager, ms", scale=scale, axis=axis),
            y=alt.Y("compiled_ms:Q", title="Compiled, ms", scale=scale, axis=axis),
            color=marks.color("fate", marks.fates(rows)),
            tooltip=[*(f"{name}:Q" for name in columns[:3]), "fate:N", "reason:N"],
        )
    )
    ends = [{"x": low, "y": low}, {"x": high, "y": high}]
    even = marks.draw(ends).mark_line(**marks.RULE).encode(x="x:Q", y="y:Q")
    return marks.finish(
        alt.layer(*_window(window, low, high), even, points), marks.PLOT_PX, marks.fates(rows)
    )


def speedups(run: Run) -> Spec | None:
    """Draw the histogram of speed-ups, with a rule where compiling gains nothing."""
    bins = run.speedups
    if bins.is_empty():
        return None
    low, high = min(1.0, *bins["low"]), max(2.0, *bins["high"])
    x = alt.X(
        "low:Q",
        title="Speed-up: eager over compiled time",
        scale=alt.Scale(type="log", base=2, domain=[low, high], nice=False),
        axis=marks.axis(
            values=marks.powers(2, low, high),
            labelExpr="format(datum.value, '~g') + '\N{MULTIPLICATION SIGN}'",
        ),
    )
    return marks.histogram(bins, x, {1.0: "no gain"}, ".2f")


def operators(run: Run) -> Spec | None:
    """Draw how often each of the 25 most used operators stands in a survivor's graph."""
    rows = run.operators(TOP_OPERATORS)
    if rows.is_empty():
        return None
    y = alt.Y("op:N", title=None, sort=rows["op"].to_list(), axis=marks.name_axis())
    bars = marks.draw(rows.to_dicts()).mark_bar(size=BAR_PX - 8, color="var(--accent)")
    tooltip = [
        alt.Tooltip("op:N", title="operator"),
        "uses:Q",
        alt.Tooltip("share:Q", format=".1%"),
    ]
    encoded = bars.encode(
        x=alt.X("uses:Q", title="Uses", axis=marks.count_axis()), y=y, tooltip=tooltip
    )
    totals = rows.select("op", total="uses").to_dicts()
    return marks.finish(encoded + marks.totals(totals, y), BAR_PX * rows.height, {}, TOTAL_PX)


def similarities(run: Run) -> Spec | None:
    """Draw the histogram of the similarity to the nearest benchmark problem."""
    bins = run.similarities
    if bins.is_empty():
        return None
    x = alt.X(
        "low:Q",
        title="Jaccard similarity",
        scale=alt.Scale(domain=[0, 1]),
        axis=marks.axis(values=[tenth / 10 for tenth in range(0, 11, 2)], format=".1f"),
    )
    return marks.histogram(bins, x, {NEAR: f"{NEAR}", SAME: f"{SAME}"}, ".2f")


def _window(window: Window, low: float, high: float) -> list[alt.Chart]:
    least, most = window
    if least is None and most is None:
        return []
    inside = [{"at": limit} for limit in window if limit is not None and low < limit < high]
    band = [{"at": max(low, least or low), "to": min(high, most or high)}]
    return [
        marks.draw(band).mark_rect(color="var(--band)", clip=True).encode(x="at:Q", x2="to:Q"),
        marks.draw(inside).mark_rule(**marks.RULE).encode(x="at:Q"),
    ]
