"""A few candidates to look at: some that were kept, and some for each reason that turned any away.

They are taken in the order of their keys, which are hashes: a fair sample, the same every time.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import polars as pl

from fusewright.dashboard.data import Reason, Run
from fusewright.records import Problem

KEPT = 20
PER_REASON = 5
MAX_REASONS = 40
MAX_CODE = 4000
MAX_DETAIL = 400
MAX_OPERATORS = 12
KEY_PATTERN = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True)
class Sample:
    """One candidate as the page shows it."""

    key: str
    detail: str
    """Why it was turned away, or the operators that it runs."""
    code: str = ""
    """Its text; empty where the record is no candidate yet."""
    cut: int = 0
    """Characters of its text that the page leaves out."""
    eager_ms: float | None = None
    compiled_ms: float | None = None

    @property
    def label(self) -> str:
        """Enough of a hash to find it by; the whole of a name."""
        return self.key[:8] if KEY_PATTERN.fullmatch(self.key) else self.key

    @property
    def speedup(self) -> float | None:
        """Eager over compiled time, a ratio."""
        return self.eager_ms / self.compiled_ms if self.eager_ms and self.compiled_ms else None


@dataclass(frozen=True)
class Samples:
    """What the page shows of single candidates."""

    kept: tuple[Sample, ...]
    """At most 20 published candidates, or survivors while nothing is selected."""
    rejected: tuple[tuple[Reason, tuple[Sample, ...]], ...]
    """At most 5 for each of the first 40 reasons."""


def take(run: Run) -> Samples:
    """Choose the candidates to show of *run*."""
    kept = _kept(run)
    rejected = {reason: _rejected(run, reason) for reason in run.reasons[:MAX_REASONS]}
    keys = {row["subject"] for rows in (kept, *rejected.values()) for row in rows}
    codes = _codes(run, keys)
    return Samples(
        kept=tuple(_kept_sample(row, codes) for row in kept),
        rejected=tuple(
            (reason, tuple(_sample(row["subject"], row["detail"] or "", codes) for row in rows))
            for reason, rows in rejected.items()
        ),
    )


def _kept(run: Run) -> list[dict[str, Any]]:
    kept = {
        stage: run.frames[stage].filter(pl.col("verdict") == "kept").select("subject")
        for stage in ("select", "judge")
    }
    chosen = kept["select"] if kept["select"].height else kept["judge"]
    first = chosen.sort("subject").head(KEPT)
    return first.join(run.frames["measure"], on="subject", maintain_order="left").to_dicts()


def _rejected(run: Run, reason: Reason) -> list[dict[str, Any]]:
    frame = run.frames[reason.stage].filter(
        (pl.col("verdict") == "rejected") & (pl.col("reason") == reason.slug)
    )
    return frame.select("subject", "detail").sort("subject").head(PER_REASON).to_dicts()


def _codes(run: Run, keys: set[str]) -> dict[str, str]:
    composed = run.frames["compose"].filter(pl.col("verdict") == "kept")
    problems: Iterable[Problem] = (
        Problem(**{name: row[name] for name in Problem.model_fields})
        for row in composed.iter_rows(named=True)
    )
    return {problem.key: problem.code for problem in problems if problem.key in keys}


def _kept_sample(row: dict[str, Any], codes: dict[str, str]) -> Sample:
    names = [node["op"] for node in row["graph"]]
    more = len(names) - MAX_OPERATORS
    detail = ", ".join(names[:MAX_OPERATORS]) + (f" and {more} more" if more > 0 else "")
    return _sample(
        row["subject"],
        detail,
        codes,
        eager_ms=row["eager"]["median_ms"],
        compiled_ms=row["compiled"]["median_ms"],
    )


def _sample(key: str, detail: str, codes: dict[str, str], **times_ms: float) -> Sample:
    code = codes.get(key, "")
    short = detail if len(detail) <= MAX_DETAIL else f"{detail[:MAX_DETAIL]} …"
    return Sample(key, short, code[:MAX_CODE], max(0, len(code) - MAX_CODE), **times_ms)
