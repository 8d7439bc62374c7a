"""Judge anyone's dataset of KernelBench-form problems by our filters and our meter.

An audit goes on past the first reason of a row, applies no size or runtime limit unless it is given
one, and never runs a row whose text is broken or calls what is banned.
"""

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from fusewright import assemble
from fusewright.config import Config, JudgeSettings
from fusewright.configfile import make_config
from fusewright.protocols import MeasuredFilter, ProblemFilter
from fusewright.records import Measurement, Problem, Rejection
from fusewright.runfolder import RunFolder
from fusewright.stage import run_stage
from fusewright.steps import measure_step
from fusewright.texts import Place

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
    for index, text in enumerate(Place(source).texts()):
        name = text.path if paths else text.name
        yield name, Problem(code=text.code, ops=text.ops, composer="audit", seed=index)


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
