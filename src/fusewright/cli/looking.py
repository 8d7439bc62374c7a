"""Commands that look and change nothing but the file they are asked to write."""

import http
import http.server
import json
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from fusewright.cli.opening import ConfigFile, Format, RunDir, Sets
from fusewright.config import Plugin, describe
from fusewright.configfile import load_config
from fusewright.console import out, print_table, progress
from fusewright.errors import FusewrightError
from fusewright.ledger import Ledger
from fusewright.runfolder import read_config

DASHBOARD_PORT = 8321


def operators(
    *,
    source: str | None = None,
    config: ConfigFile = None,
    sets: Sets = (),
    output: Format = "table",
) -> None:
    """List operators, as the sources yield them, self-tested and without aliases.

    Args:
        source: Only this one: the name of an entry point or of a Python file.
        config: YAML file whose sources are asked; without one, the quickstart's.
        sets: One setting in place of the file's, as `section.key=value`; may be repeated.
        output: `table`, or `json` for one list of objects.
    """
    from fusewright.operators.mine import mine  # only this command mines
    from fusewright.records import Operator

    settings = load_config(config, sets).mine
    sources = settings.sources if source is None else (Plugin(name=source),)
    with progress():
        found = [v for _, v in mine(sources, settings.timeout_s) if isinstance(v, Operator)]
    if output == "json":
        sys.stdout.write(
            json.dumps([operator.model_dump(mode="json") for operator in found]) + "\n"
        )
        return
    rows = [(o.name, o.family, o.source, o.kind, o.license, ", ".join(o.flags)) for o in found]
    columns = ("name", "family", "source", "kind", "license", "flags")
    print_table(f"{len(found):,} operators", columns, rows)


def explain(identity: Annotated[str, Parameter(name="ID")], /, *, run_dir: RunDir) -> None:
    """Say why a candidate was kept or rejected: every verdict, with value and limit.

    Args:
        identity: Key of the candidate, or `id` of its row, or the beginning of either.
        run_dir: Folder of the run.
    """
    from fusewright.explain import verdicts  # reads the ledger

    read_config(run_dir)
    key, code, rows = verdicts(Ledger(run_dir), identity)
    print_table(f"candidate {key}", ("stage", "verdict", "detail", "value", "limit"), rows)
    out.print(code, markup=False)


def dashboard(
    *,
    run_dir: RunDir,
    out_file: Annotated[Path | None, Parameter(name="--out")] = None,
    serve: bool = False,
) -> None:
    """Build the page of statistics from a run's ledger.

    Args:
        run_dir: Folder of the run.
        out_file: File to write, by default `dashboard.html` in the run's release folder.
        serve: Serve the page on loopback afterwards, until interrupted.
    """
    from fusewright.dashboard import build  # loads the chart libraries
    from fusewright.publish.fidelity import of_run  # loads numpy

    config = read_config(run_dir)
    path = out_file or run_dir / "release" / "dashboard.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    window_ms = (config.judge.min_eager_ms, config.judge.max_eager_ms)
    ledger = Ledger(run_dir)
    again = of_run(ledger, config.measure.remeasure_fraction)
    page = build(ledger, config.release.title, window_ms, again)
    path.write_text(page)
    out.print(str(path), soft_wrap=True)
    if serve:
        with http.server.HTTPServer(("127.0.0.1", DASHBOARD_PORT), _one_page(page)) as server:
            out.print(f"http://127.0.0.1:{DASHBOARD_PORT}/")
            server.serve_forever()


def config(*, config: ConfigFile = None, sets: Sets = ()) -> None:
    """Print the resolved settings, each with its sentence.

    Args:
        config: YAML file of settings; without one, the quickstart's.
        sets: One setting in place of the file's, as `section.key=value`; may be repeated.
    """
    rows = [
        (name, json.dumps(value, default=_plain), sentence)
        for name, value, sentence in describe(load_config(config, sets))
    ]
    print_table("Settings", ("setting", "value", "what it does"), rows)


def doctor() -> None:
    """Say what this machine can do, and what it would need for the rest."""
    from fusewright.doctor import examine  # starts processes

    findings = examine()
    print_table(
        "Doctor", ("what", "state", "detail"), [(f.what, f.state, f.detail) for f in findings]
    )
    broken = [finding.what for finding in findings if finding.state == "missing"]
    if broken:
        raise FusewrightError(f"needed and missing: {', '.join(broken)}")


def _one_page(page: str) -> type[http.server.BaseHTTPRequestHandler]:
    """Answer every request with *page*, and serve no file."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = page.encode()
            self.send_response(http.HTTPStatus.OK)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return Handler


def _plain(value: object) -> object:
    return value.model_dump(mode="json") if isinstance(value, Plugin) else str(value)
