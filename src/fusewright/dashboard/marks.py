"""What the charts share: colours, axes, legends, histograms, and the steps of logarithmic axes.

Colours are CSS custom properties (`var(--kept)`), which the SVG that Vega draws takes from the
page: one style sheet serves light and dark, and nothing is drawn anew when the reader switches.
"""

import math
from typing import Any

import altair as alt
import polars as pl

Spec = dict[str, Any]

FATES = {"kept": "var(--kept)", "rejected": "var(--rejected)", "waiting": "var(--waiting)"}
PLOT_PX = 320
MARGIN_PX = 12

RULE: Spec = {"color": "var(--muted)", "strokeDash": [3, 3], "strokeWidth": 1}
CONFIG: Spec = {
    "background": "transparent",
    "font": "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelColor": "var(--muted)",
        "titleColor": "var(--muted)",
        "gridColor": "var(--line)",
        "domainColor": "var(--line)",
        "tickColor": "var(--line)",
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 10,
        "labelPadding": 8,
    },
    "text": {"color": "var(--muted)", "fontSize": 12},
}


def draw(rows: list[Spec]) -> alt.Chart:
    """Begin a chart of *rows*."""
    return alt.Chart(alt.InlineData(values=rows))


def finish(drawn: Any, height_px: float, legend: Spec, right_px: float = MARGIN_PX) -> Spec:
    """Make the specification; *legend* (name to colour) is for the page, which sets it as text."""
    spec: Spec = drawn.properties(width="container", height=height_px).to_dict()
    padding = {"left": 0, "top": 20, "bottom": MARGIN_PX, "right": right_px}
    return spec | {"config": CONFIG, "padding": padding, "usermeta": {"legend": legend}}


def axis(**given: Any) -> alt.Axis:
    """Make a quiet axis: grid lines and numbers, no line and no ticks."""
    return alt.Axis(**{"labelFlush": False, "domain": False, "ticks": False} | given)


def count_axis() -> alt.Axis:
    """Make a horizontal axis of whole numbers, one label every 110 pixels or so."""
    return axis(tickMinStep=1, tickCount=alt.ExprRef("ceil(width / 110)"))


def name_axis() -> alt.Axis:
    """Make a vertical axis of names."""
    return axis(grid=False, labelLimit=190, labelColor="var(--ink)")


def color(field: str, colors: Spec) -> alt.Color:
    """Colour by *field*, whose values are the keys of *colors*."""
    scale = alt.Scale(domain=list(colors), range=list(colors.values()))
    return alt.Color(f"{field}:N", scale=scale, legend=None)


def fates(rows: list[Spec]) -> Spec:
    """Colours of the fates that *rows* hold, in their order."""
    return {fate: FATES[fate] for fate in FATES if any(row["fate"] == fate for row in rows)}


def totals(rows: list[Spec], y: alt.Y) -> alt.Chart:
    """Write the `total` of each of *rows* at the end of its bar."""
    text: alt.Chart = draw(rows).mark_text(align="left", dx=6, aria=False)
    return text.encode(x="total:Q", y=y, text=alt.Text("total:Q", format=","))


def histogram(bins: pl.DataFrame, x: alt.X, rules: dict[float, str], edge: str) -> Spec:
    """Draw stacked *bins* over *x*, with labelled *rules*; *edge* formats the ends of a bin."""
    rows = bins.to_dicts()
    bars = draw(rows).mark_bar(stroke="var(--surface)", strokeWidth=1)
    encoded = bars.encode(
        x=x,
        x2="high:Q",
        y=alt.Y("start:Q", title="Candidates", axis=axis(tickMinStep=1, tickCount=5)),
        y2="end:Q",
        color=color("fate", fates(rows)),
        tooltip=[
            alt.Tooltip("low:Q", title="from", format=edge),
            alt.Tooltip("high:Q", title="to", format=edge),
            "fate:N",
            alt.Tooltip("count:Q", format=","),
        ],
    )
    at = draw([{"at": at, "label": label} for at, label in rules.items()])
    lines = at.mark_rule(**RULE).encode(x="at:Q")
    # Above the plot, where no bar can stand.
    names = at.mark_text(baseline="bottom").encode(x="at:Q", y=alt.value(-4), text="label:N")
    return finish(encoded + lines + names, PLOT_PX, fates(rows))


def decades(values: list[float]) -> tuple[float, float]:
    """Widest round tenths and tens around *values*, so that log axes begin and end on a tick."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return 10.0**low, 10.0 ** max(high, low + 1)


def powers(base: int, low: float, high: float) -> list[float]:
    """Whole powers of *base* from *low* to *high*."""
    first, last = math.ceil(math.log(low, base) - 1e-9), math.floor(math.log(high, base) + 1e-9)
    return [float(base) ** power for power in range(first, last + 1)]
