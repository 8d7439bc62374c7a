"""What becomes of a mined operator, and how the mine stage turns one away."""

from typing import Any

from fusewright.records import Operator, Rejection

Verdict = Operator | Rejection

REASONS = (
    "alias",
    "crash",
    "duplicate_name",
    "forward_error",
    "init_error",
    "invalid_operator",
    "invalid_source",
    "nonfinite_output",
    "timeout",
)
"""Every reason that it gives."""


def turn_away(source: str, name: str, reason: str, detail: str) -> Rejection:
    """Reject what *source* calls *name*; the subject is `<source>:<name>`."""
    return Rejection(subject=f"{source}:{name}", stage="mine", reason=reason, detail=detail)


def refuse(source: str, detail: str) -> Rejection:
    """Reject all that *source* would have yielded; the subject is `<source>:*`."""
    return turn_away(source, "*", "invalid_source", detail)


def read_verdict(line: dict[str, Any]) -> Verdict:
    """The verdict that `write_verdict` put down."""
    return Operator(**line["kept"]) if "kept" in line else Rejection(**line["rejected"])


def write_verdict(verdict: Verdict) -> dict[str, Any]:
    """*verdict* as JSON knows it."""
    kind = "rejected" if isinstance(verdict, Rejection) else "kept"
    return {kind: verdict.model_dump(mode="json")}
