"""Commands that deal with what lies outside a run: others' datasets, the Hub, the calendar."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App, Parameter

from fusewright.cli.opening import ConfigFile, Format, RunDir, Sets
from fusewright.configfile import load_config
from fusewright.console import out, print_table, progress
from fusewright.errors import UsageError
from fusewright.runfolder import read_config

benchmark = App(name="benchmark", help="Make fingerprints of benchmarks, to keep away from.")


def audit(
    source: Annotated[str, Parameter(name="SOURCE")],
    /,
    *,
    device: Literal["cpu", "cuda"] = "cpu",
    static: bool = False,
    window: str | None = None,
    run_dir: Annotated[Path | None, Parameter(name="--run")] = None,
    output: Format = "table",
) -> None:
    """Judge anyone's dataset by our filters and measurements.

    Args:
        source: Folder of .py files, a .parquet or .jsonl file with a `code` column, or a Hub id.
        device: Device that runs the problems.
        static: Judge by text alone; nothing is run.
        window: Eager time outside which a row is rejected, as `LO,HI` in milliseconds.
        run_dir: Folder that keeps measurements, so that an audit that was stopped goes on.
        output: `table`, or `json` for one object.
    """
    from fusewright.auditing import audit as judge  # loads every filter

    window_ms = _window(window)
    with progress():
        report = judge(source, device=device, static=static, window_ms=window_ms, run_dir=run_dir)
    if output == "json":
        sys.stdout.write(json.dumps(report) + "\n")
        return
    print_table(
        f"{report['source']}: {report['rows']:,} rows, {report['kept']:,} kept",
        ("reason", "rows", "example", "detail"),
        [_example(report, reason, count) for reason, count in report["reasons"].items()],
    )


@benchmark.command
def fingerprint(
    source: Annotated[str, Parameter(name="SOURCE")],
    /,
    *,
    out_file: Annotated[Path, Parameter(name="--out")],
    revision: str = "unknown",
    license_: Annotated[str, Parameter(name="--license")] = "unknown",
) -> None:
    """Write hash-only fingerprints of a benchmark, for `screen.benchmarks`.

    Args:
        source: Folder of .py files, a .parquet or .jsonl file with a `code` column, or a Hub id.
        out_file: Parquet file to write; its stem names the benchmark.
        revision: Revision of the source, kept with each fingerprint.
        license_: Licence of the source, kept with each fingerprint.
    """
    from fusewright.auditing import read_source  # loads every filter
    from fusewright.filters.fingerprint import fingerprint as hashes
    from fusewright.ledger import write_atomic

    texts = [(name, problem.code) for name, problem in read_source(source, paths=True)]
    frame = hashes(texts, out_file.stem, revision, license_)
    out_file.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(out_file, frame)
    out.print(f"{out_file}: {frame.height:,} views of {len(texts):,} problems", soft_wrap=True)


@benchmark.command
def recall(
    source: Annotated[str, Parameter(name="SOURCE")],
    /,
    *,
    fingerprint: str = "kernelbench",
    independent: str | None = None,
    limit: float = 0.9,
    output: Format = "table",
) -> None:
    """Plant disguised copies of a benchmark's problems, and count those that are found.

    The figures are kept beside the fingerprint, and go onto the card of every release.

    Args:
        source: The benchmark: folder of .py files, a .parquet or .jsonl file, or a Hub id.
        fingerprint: Name of a shipped fingerprint of it, or the file of one.
        independent: Source of problems that are no copies; those found are false positives.
        limit: Similarity from which a problem is turned away.
        output: `table`, or `json` for one object.
    """
    from fusewright.auditing import read_source  # loads every filter
    from fusewright.filters.fingerprint import recall_file
    from fusewright.recall import recall as measure

    given = [problem for _, problem in read_source(source)]
    others = [problem for _, problem in read_source(independent)] if independent else []
    report = measure(fingerprint, given, others, limit)
    recall_file(fingerprint).write_text(json.dumps(report, indent=1) + "\n")
    if output == "json":
        sys.stdout.write(json.dumps(report) + "\n")
        return
    rows = [(k, n["copies"], n["found"], _share(n)) for k, n in report["kinds"].items()]
    away = report["independent"]
    if away["problems"]:
        rows.append(("independent", away["problems"], away["found"], _share(away)))
    print_table(f"Copies of {report['benchmark']} found", ("kind", "texts", "found", "share"), rows)


def _share(counts: dict[str, int]) -> str:
    texts, found = counts.values()
    return f"{100 * found / texts:.2f} %"


def publish(
    *,
    run_dir: RunDir,
    repo: str,
    tag: str | None = None,
    private: bool = False,
    dry_run: bool = False,
) -> None:
    """Send a run's release to the Hugging Face Hub, in one commit.

    Args:
        run_dir: Folder of the run.
        repo: Dataset to publish to, as `OWNER/NAME`; created if need be.
        tag: Tag to set on the commit, as `v1.2.3`.
        private: Create the dataset private.
        dry_run: Show what would be sent, and send nothing.
    """
    from fusewright.publish.hub import publish as send  # loads the Hub's client

    read_config(run_dir)
    folder = run_dir / "release"
    if not (folder / "README.md").is_file():
        raise UsageError(f"{run_dir} holds no release: `fusewright release --run {run_dir}`")
    out.print(str(send(folder, repo, tag, private=private, dry_run=dry_run)), soft_wrap=True)


def serve(*, cron: str, config: ConfigFile = None, sets: Sets = ()) -> None:
    """Regenerate on a schedule, until interrupted.

    Args:
        cron: When to begin a run, as `minute hour day month weekday`.
        config: YAML file of settings; without one, the quickstart's.
        sets: One setting in place of the file's, as `section.key=value`; may be repeated.
    """
    from fusewright.flows import quiet  # before Prefect is imported

    settings = load_config(config, sets)
    quiet()
    from fusewright.flows.regenerate import serve as serve_flow

    serve_flow(settings, cron)


def _window(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError as error:
        raise UsageError(f"--window '{text}': expected LO,HI in milliseconds, as 1,100") from error
    if not 0 < low <= high:
        raise UsageError(f"--window '{text}': expected 0 < LO <= HI")
    return low, high


def _example(report: dict[str, Any], reason: str, count: int) -> tuple[str, int, str, str]:
    first = next(v for v in report["verdicts"] if v["reason"] == reason)
    return reason, count, first["name"], first["detail"]
