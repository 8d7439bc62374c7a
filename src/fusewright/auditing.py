"""Judge anyone's dataset of KernelBench-form problems by our filters and our meter.

An audit goes on past the first reason of a row, applies no size or runtime limit unless it is given
one, and never runs a row whose text is broken or calls what is banned.
"""

import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import polars as pl

from fusewright import assemble
from fusewright.config import Config, JudgeSettings
from fusewright.configfile import make_config
from fusewright.errors import UsageError
from fusewright.protocols import MeasuredFilter, ProblemFilter
from fusewright.records import Measurement, Problem, Rejection
from fusewright.runfolder import RunFolder
from fusewright.stage import run_stage
from fusewright.steps import measure_step

HUB_ID = re.compile(r"[\w.-]+/[\w.-]*\w(?<!\.parquet)(?<!\.jsonl)(?<!\.py)")
BROKEN = "syntax_error"
UNRUN = (BROKEN, "contract_missing", "banned_call")
"""After any of these nothing of a row is executed."""


@dataclass
class Finding:
    """What was found of one row."""

    name: str
    problem: Problem
    rejections: list[Rejection] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)

    def verdict(self) -> dict[str, Any]:
        """The row's part of the report; every key is always there."""
        first = self.rejections[0] if self.rejections else None
        return {
            "name": self.name,
            "verdict": "rejected" if first else "kept",
            "stage": first.stage if first else None,
            "reason": first.reason if first else None,
            "detail": first.detail if first else None,
            "also": [
                {"stage": r.stage, "reason": r.reason, "detail": r.detail}
                for r in self.rejections[1:]
            ],
            "nearest_benchmark": self.facts.get("nearest_benchmark"),
            "benchmark_similarity": self.facts.get("benchmark_similarity"),
        }


def audit(
    source: str,
    *,
    device: Literal["cpu", "cuda"] = "cpu",
    static: bool = False,
    window_ms: tuple[float, float] | None = None,
    run_dir: Path | None = None,
) -> dict[str, Any]:
    """Judge every row of *source*: a folder of .py files, a .parquet or .jsonl file, or a Hub id.

    Args:
        source: Where the problems are; files hold a `code` column, and may hold `ops`.
        device: Device that runs the problems.
        static: Judge by text alone; nothing is run.
        window_ms: Eager time outside which a row is rejected, if there is to be a window.
        run_dir: Where measurements are kept, so that an audit that was stopped goes on.

    Returns:
        `source`, `rows`, `kept`, `rejected`, `reasons` and `verdicts`, as the design spells them.

    Raises:
        UsageError: There is no such source, or it holds no code.
    """
    # A stranger's problems get a fresh process each.
    measuring = {"device": device, "max_spread": None, "recycle_after": 1, "window_ms": None}
    config = make_config({"name": "audit", "measure": measuring}, "audit")
    findings = [Finding(name, problem) for name, problem in read_source(source)]
    filters = assemble.problem_filters(config)
    for finding in findings:
        _read_text(finding, filters)
    if not static:
        _run(findings, config, window_ms, run_dir)
    verdicts = [finding.verdict() for finding in findings]
    reasons = Counter(v["reason"] for v in verdicts if v["reason"])
    return {
        "source": source,
        "rows": len(verdicts),
        "kept": len(verdicts) - reasons.total(),
        "rejected": reasons.total(),
        "reasons": dict(reasons.most_common()),
        "verdicts": verdicts,
    }


def read_source(source: str, *, paths: bool = False) -> Iterator[tuple[str, Problem]]:
    """Yield name and problem of each row of *source*, in a stable order.

    A file is named by its stem or, where *paths* are asked for, by its path in the folder.
    """
    for index, (path, code, ops) in enumerate(_texts(source)):
        name = path if paths else path.rpartition("/")[2]
        yield name, Problem(code=code, ops=tuple(ops), composer="audit", seed=index)


def _texts(source: str) -> Iterator[tuple[str, str, Sequence[str]]]:
    path = Path(source)
    if path.is_dir():
        files = sorted(path.rglob("*.py"))
        if not files:
            raise UsageError(f"folder {path} holds no .py file; expected one problem a file")
        for file in files:
            # A file that is no UTF-8 is a broken problem, not a broken audit.
            name = file.relative_to(path).with_suffix("").as_posix()
            yield name, file.read_text(errors="replace"), ()
        return
    if path.suffix in (".parquet", ".jsonl") and path.is_file():
        frame = _read_file(path)
    elif path.exists() or not HUB_ID.fullmatch(source):
        raise UsageError(
            f"'{source}' is no source: expected a folder of .py files, a .parquet or .jsonl file "
            "with a `code` column, or a Hub id like owner/name"
        )
    else:
        frame = _from_hub(source)
    if "code" not in frame.columns:
        raise UsageError(f"'{source}' has no `code` column (it has {', '.join(frame.columns)})")
    for index, row in enumerate(frame.iter_rows(named=True)):
        yield str(index), str(row["code"] or ""), _listed(row.get("ops"))


def _read_file(path: Path) -> pl.DataFrame:
    try:
        return pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_ndjson(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise UsageError(f"{path} cannot be read: {' '.join(str(error).split())}") from error


def _listed(ops: Any) -> Sequence[str]:
    """Labels of a row; Ops-6K itself holds its list as text."""
    if isinstance(ops, str):
        try:
            ops = json.loads(ops)
        except json.JSONDecodeError:
            return ()
    return [str(op) for op in ops] if isinstance(ops, list) else ()


def _from_hub(repo: str) -> pl.DataFrame:
    import datasets  # only a Hub id needs the client

    try:
        loaded = datasets.load_dataset(repo, split="train")
    except (OSError, ValueError) as error:
        raise UsageError(f"Hub dataset '{repo}' cannot be loaded: {error}") from error
    return pl.DataFrame(loaded.data.table.to_pydict())


def _read_text(finding: Finding, filters: Sequence[ProblemFilter]) -> None:
    for judge in filters:
        verdict = judge.judge(finding.problem)
        if isinstance(verdict, Rejection):
            # A filter of several reasons tells only its first to the pipeline.
            faults = getattr(judge, "faults", None)
            if verdict.reason == BROKEN or not faults:
                finding.rejections.append(verdict)
            else:
                finding.rejections += faults(finding.problem)
            if verdict.reason == BROKEN:
                return
            if facts := getattr(judge, "facts", None):
                finding.facts |= facts(finding.problem)
        elif verdict:
            finding.facts |= verdict
    for judge in filters:
        # A copy of a faulty row is a copy all the same.
        if remember := getattr(judge, "remember", None):
            remember(finding.problem)


def _run(
    findings: Sequence[Finding],
    config: Config,
    window_ms: tuple[float, float] | None,
    run_dir: Path | None,
) -> None:
    runnable = {
        finding.problem.key: finding
        for finding in findings
        if not any(r.reason in UNRUN for r in finding.rejections)
    }
    filters = _window(config, window_ms)
    with ExitStack() as stack:
        root = run_dir or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        ledger = stack.enter_context(RunFolder(root, config)).ledger
        problems = [finding.problem for finding in runnable.values()]
        step = measure_step(stack.enter_context(assemble.meter(config)))
        run_stage("measure", step, problems, ledger, Measurement)
        # A folder that another audit used holds verdicts on other rows too.
        for rejection in ledger.rejected("measure"):
            if finding := runnable.get(rejection.subject):
                finding.rejections.append(rejection)
        for key, measurement in ledger.kept_by_subject("measure", Measurement):
            if finding := runnable.get(key):
                found = (judge.judge(finding.problem, measurement) for judge in filters)
                finding.rejections += [rejection for rejection in found if rejection]


def _window(config: Config, window_ms: tuple[float, float] | None) -> list[MeasuredFilter]:
    if window_ms is None:
        return []
    low, high = window_ms
    judge = JudgeSettings(min_eager_ms=low, max_eager_ms=high, min_headroom=None)
    return assemble.measured_filters(config.model_copy(update={"judge": judge}))
