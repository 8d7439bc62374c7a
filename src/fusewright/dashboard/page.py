"""Put figures, charts and samples into one HTML file that needs no network.

The page forbids itself every request by its content security policy, and only the script whose hash
it names can run: text of a candidate is shown, and cannot act even if an escape were forgotten.
"""

import base64
import functools
import hashlib
from collections.abc import Mapping
from decimal import Decimal
from importlib import resources
from typing import Any

import jinja2
import vl_convert

from fusewright.dashboard import charts
from fusewright.dashboard.data import STAGES, Run
from fusewright.dashboard.marks import Spec
from fusewright.dashboard.samples import take
from fusewright.ledger import Ledger

UNKNOWN = "\N{EN DASH}"


def build(
    ledger: Ledger,
    title: str,
    window_ms: tuple[float, float] | None = None,
    fidelity: Mapping[str, Any] | None = None,
) -> str:
    """Render the page of the run in *ledger* under *title*.

    *window_ms* is the eager time that the judge accepts; without it, the limits that its
    rejections name are drawn. *fidelity* is what the manifest says of the timings that were taken
    again. The same ledger gives the same bytes.
    """
    run = Run(ledger)
    window = window_ms or (run.limit("judge", "too_easy"), run.limit("judge", "too_slow"))
    script = _script()
    return _template().render(
        title=title,
        run=run,
        samples=take(run),
        window=window,
        fidelity=fidelity,
        specs=_specs(run, window),
        about=STAGES,
        inputs={stage.name: stage.inputs for stage in run.stages},
        style=_asset("style.css"),
        script=script,
        policy=_policy(script),
    )


def _specs(run: Run, window: charts.Window) -> Mapping[str, Spec | None]:
    return {
        "funnel": charts.funnel(run),
        "reasons": charts.reasons(run),
        "timings": charts.timings(run, window),
        "speedups": charts.speedups(run),
        "operators": charts.operators(run),
        "similarities": charts.similarities(run),
    }


def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters |= {"figure": _figure, "whole": _whole}
    environment.filters |= {"percent": _percent, "finely": _finely}
    return environment.from_string(_asset("page.html.jinja"))


def _asset(name: str) -> str:
    return (resources.files("fusewright.dashboard") / name).read_text(encoding="utf-8")


@functools.cache
def _script() -> str:
    """Bundle Vega with `page.js`; it stands in the page once, and serves every chart."""
    script = vl_convert.javascript_bundle(_asset("page.js"))
    return script.replace("</script", "<\\/script")


def _policy(script: str) -> str:
    """Forbid everything but the one script, by its hash, and the styles."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'"


def _whole(value: int) -> str:
    return f"{value:,}"


def _figure(value: float | None) -> str:
    """Three significant digits without an exponent; a dash for what is not known yet."""
    if value is None:
        return UNKNOWN
    return format(Decimal(f"{value:.3g}"), ",f")


def _finely(value: float) -> str:
    return f"{value:.2%}"


def _percent(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.1%}"
