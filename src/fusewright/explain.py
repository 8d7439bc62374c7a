"""The life of one candidate, read from the ledger."""

import polars as pl

from fusewright.errors import UsageError
from fusewright.ledger import Ledger
from fusewright.records import Problem, Rejection

STAGES = ("compose", "screen", "measure", "remeasure", "judge", "select")
SHOWN_FACTS = {
    "compose": ("composer", "model", "seed"),
    "screen": ("nearest_benchmark", "benchmark_similarity", "nearest_row", "row_similarity"),
    "measure": ("device", "eager", "compiled", "sol_ms", "bound", "graph_breaks", "params"),
    "remeasure": ("eager", "compiled"),
}
"""What a stage learnt of a candidate that it kept, worth a look."""

Line = tuple[str, str, str, float | str, float | str]


def verdicts(ledger: Ledger, identity: str) -> tuple[str, str, list[Line]]:
    """Find the candidate whose key or row id begins with *identity*, and list its verdicts.

    Returns:
        Its key, its text (empty where nothing was written), and a line a stage: stage, verdict or
        reason, detail, value, limit.

    Raises:
        UsageError: No candidate, or more than one, begins so.
    """
    draw, problem = _find(ledger, identity)
    key = problem.key if problem else draw
    lines: list[Line] = []
    for stage in STAGES:
        subject = draw if stage == "compose" else key
        lines += [_rejected(r) for r in ledger.rejected(stage) if r.subject == subject]
        frame = ledger.frame(stage)
        kept = frame.filter((pl.col("subject") == subject) & (pl.col("verdict") == "kept"))
        for row in kept.iter_rows(named=True):
            facts = {name: row[name] for name in SHOWN_FACTS.get(stage, ())}
            detail = ", ".join(f"{n} {_plain(v)}" for n, v in facts.items() if v is not None)
            lines.append((stage, "kept", detail, "", ""))
    return key, problem.code if problem else "", lines


def _find(ledger: Ledger, identity: str) -> tuple[str, Problem | None]:
    found: dict[str, Problem | None] = {
        subject: problem
        for subject, problem in ledger.kept_by_subject("compose", Problem)
        if problem.key.startswith(identity) or problem.id.startswith(identity)
    }
    unwritten = (r.subject for r in ledger.rejected("compose") if r.subject.startswith(identity))
    found |= dict.fromkeys(unwritten)
    if len(found) == 1:
        return found.popitem()
    if not found:
        raise UsageError(
            f"no candidate '{identity}' in {ledger.root}: give the `id` of a row of either config "
            "of the release, or the beginning of one"
        )
    keys = ", ".join(problem.key if problem else draw for draw, problem in found.items())
    raise UsageError(f"'{identity}' is the beginning of {len(found)} candidates: {keys[:100]}")


def _rejected(rejection: Rejection) -> Line:
    value = "" if rejection.value is None else rejection.value
    limit = "" if rejection.limit is None else rejection.limit
    return rejection.stage, rejection.reason, rejection.detail, value, limit


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return f"{value['median_ms']:.4g} ms"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
