from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from fusewright.ledger import Ledger
from fusewright.records import (
    Draw,
    Measurement,
    Operator,
    Passed,
    Problem,
    Record,
    Rejection,
    Screening,
)
from fusewright.testing import RELU_MEAN, make_measurement, make_operator, make_problem

Verdicts = list[tuple[str, Record]]


@dataclass
class Page(HTMLParser):
    """The tags of a page, each with its attributes, and the text of its scripts."""

    html: str
    tags: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    scripts: list[str] = field(default_factory=list)

    def __post_init__(self):
        super().__init__()
        self.feed(self.html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data):
        if self.cdata_elem == "script":
            self.scripts[-1] += data

    def having(self, attribute: str) -> list[dict[str, Any]]:
        return [attrs for _, attrs in self.tags if attribute in attrs]

    def figures(self) -> dict[str, str]:
        return {tag["data-figure"]: tag["data-value"] for tag in self.having("data-figure")}


def screening(problem: Problem, similarity: float) -> Screening:
    return Screening(
        problem=problem.key,
        canonical="c",
        numberless="n",
        nearest_benchmark="kernelbench/level1/1",
        benchmark_similarity=similarity,
    )


def split(records: list, stage: str, reasons: list[str], keep: Callable) -> tuple[Verdicts, list]:
    """Turn one record away for each of *reasons*, and keep the others as `keep` makes them."""
    turned = [
        (record.key, Rejection.of(record, stage, reason, f"{reason} of {stage}", value=0.95))
        for record, reason in zip(records, reasons, strict=False)
    ]
    kept = records[len(reasons) :]
    return [*turned, *((record.key, keep(record)) for record in kept)], kept


def write_run(root: Path, last: str = "select", candidates: int = 12, code: str = RELU_MEAN):
    """Write a run of *candidates* up to the stage *last*; each stage turns a few away."""
    ledger = Ledger(root)
    operators = [make_operator(f"torch.f{index}") for index in range(5)]
    problems = [make_problem(f"{code}# {n}\n", seed=n) for n in range(candidates)]
    draws = {Draw(composer="graph", seed=p.seed).key: p for p in problems}
    unmade = Draw(composer="graph", seed=-1)
    for stage, kind in stages(operators, draws, unmade, problems):
        ledger.append(*stage, kind)
        if stage[0] == last:
            break
    return ledger


def stages(operators, draws, unmade, problems) -> Iterator[tuple[tuple[str, Verdicts], type]]:
    verdicts, _ = split(operators, "mine", ["alias"], lambda operator: operator)
    yield ("mine", verdicts), Operator
    failed = Rejection.of(unmade, "compose", "no_fit", "nothing fits")
    yield ("compose", [(unmade.key, failed), *draws.items()]), Problem
    reasons = ["exact_duplicate", "exact_duplicate", "near_benchmark"]
    verdicts, problems = split(problems, "screen", reasons, lambda p: screening(p, 0.42))
    yield ("screen", verdicts), Screening
    verdicts, problems = split(problems, "measure", ["timeout"], make_measurement)
    yield ("measure", verdicts), Measurement
    verdicts, problems = split(problems, "judge", ["too_easy"], passed)
    yield ("judge", verdicts), Passed
    verdicts, _ = split(problems, "select", ["surplus"], passed)
    yield ("select", verdicts), Passed


def passed(problem: Problem) -> Passed:
    return Passed(problem=problem.key)


@pytest.fixture
def make_run(tmp_path: Path) -> Callable[..., Ledger]:
    return lambda **options: write_run(tmp_path / "run", **options)


@pytest.fixture
def parse() -> type[Page]:
    return Page
