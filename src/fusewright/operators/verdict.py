"""How the mine stage turns an operator away."""

from fusewright.records import Rejection

REASONS = (
    "alias",
    "crash",
    "duplicate_name",
    "forward_error",
    "init_error",
    "invalid_operator",
    "nonfinite_output",
    "timeout",
)
"""Every reason that it gives."""


def turn_away(source: str, name: str, reason: str, detail: str) -> Rejection:
    """Reject what *source* calls *name*; the subject is `<source>:<name>`."""
    return Rejection(subject=f"{source}:{name}", stage="mine", reason=reason, detail=detail)
