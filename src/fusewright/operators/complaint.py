"""What a person is told of the sources that yield what is no operator: one line a source."""

from collections import Counter
from collections.abc import Sequence

from fusewright.operators.verdict import Verdict
from fusewright.records import Rejection

_LONGEST = 400
"""Most characters of a line."""


def complaints(verdicts: Sequence[Verdict]) -> list[str]:
    """One line on each source with a fault; another name of a known operator is none."""
    by_source: dict[str, list[Rejection]] = {}
    for verdict in verdicts:
        if isinstance(verdict, Rejection) and verdict.reason != "alias":
            by_source.setdefault(_source(verdict), []).append(verdict)
    yielded = Counter(_source(verdict) for verdict in verdicts)
    return [_line(source, faults, yielded[source]) for source, faults in by_source.items()]


def refusals(verdicts: Sequence[Verdict]) -> list[Rejection]:
    """The sources among *verdicts* that could not be asked at all."""
    return [v for v in verdicts if isinstance(v, Rejection) and v.reason == "invalid_source"]


def _line(source: str, faults: Sequence[Rejection], yielded: int) -> str:
    first = faults[0]
    if first.reason == "invalid_source":
        return f"{_plain(first.detail)} (the other sources go on without it)"
    reasons = Counter(fault.reason for fault in faults)
    counts = ", ".join(f"{reason} {count}" for reason, count in reasons.most_common())
    name = first.subject.removeprefix(f"{source}:")
    line = (
        f"operator source '{source}': {len(faults)} of {yielded} turned away ({counts}); "
        f"the first, {name}: {first.detail}"
    )
    return _plain(line)


def _plain(line: str) -> str:
    """*line* without what would move a terminal's cursor: parts of it are a stranger's."""
    printable = "".join(mark if mark.isprintable() else " " for mark in line)
    return " ".join(printable.split())[:_LONGEST]


def _source(verdict: Verdict) -> str:
    if isinstance(verdict, Rejection):
        return verdict.subject.partition(":")[0]
    return verdict.source
