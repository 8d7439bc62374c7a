"""One page that shows a run: what went in, what came out, and why the rest did not."""

from fusewright.dashboard.page import build

__all__ = ["build"]
