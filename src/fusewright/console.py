"""What a person sees while a run goes on: bars on a terminal, plain lines elsewhere.

The stages log their progress to `fusewright.stage`; a handler here turns records into either form.
Everything goes to standard error, so that standard output holds results alone.
"""

import contextlib
import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from fusewright.ledger import Tally

LINE_EVERY_S = 5.0

err = Console(stderr=True, highlight=False)
out = Console(highlight=False)


class _Lines(logging.Handler):
    """A line when a stage ends, and one every few seconds on the way."""

    def __init__(self) -> None:
        super().__init__()
        self._last = time.monotonic()

    def emit(self, record: logging.LogRecord) -> None:
        """Print *record*, unless it is progress and another was printed just now."""
        now = time.monotonic()
        if hasattr(record, "done") and now - self._last < LINE_EVERY_S:
            return
        self._last = now
        err.print(f"  {record.getMessage()}", soft_wrap=True, markup=False)


class _Bars(logging.Handler):
    """One bar a stage, and its line of conservation when it is full."""

    def __init__(self, progress: Progress) -> None:
        super().__init__()
        self._progress = progress
        self._tasks: dict[str, Any] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Move the stage's bar, or print its end and take the bar away."""
        stage = getattr(record, "stage", "")
        if hasattr(record, "done"):
            total = getattr(record, "total", None)
            if stage not in self._tasks:
                self._tasks[stage] = self._progress.add_task(stage, total=total)
            self._progress.update(
                self._tasks[stage], completed=getattr(record, "done", 0), total=total
            )
            return
        if stage in self._tasks:
            self._progress.remove_task(self._tasks.pop(stage))
        line = f"  {record.getMessage()}"
        self._progress.console.print(line, soft_wrap=True, markup=False)


@contextlib.contextmanager
def progress() -> Iterator[None]:
    """Show what the stages log while the block runs."""
    logger = logging.getLogger("fusewright.stage")
    logger.setLevel(logging.INFO)
    logger.propagate = False
    with contextlib.ExitStack() as open_until_done:
        handler: logging.Handler = _Lines()
        if err.is_terminal:
            columns = (TextColumn("  {task.description:8}"), BarColumn(), MofNCompleteColumn())
            bars = Progress(*columns, TimeElapsedColumn(), console=err, transient=True)
            handler = _Bars(open_until_done.enter_context(bars))
        logger.addHandler(handler)
        try:
            yield
        finally:
            logger.removeHandler(handler)


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print *rows*; columns whose every value is a number are set to the right."""
    table = Table(title=title, title_justify="left", show_edge=False, pad_edge=False)
    for index, column in enumerate(columns):
        numeric = bool(rows) and all(isinstance(row[index], int | float) for row in rows)
        table.add_column(column, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(_cell(value) for value in row))
    out.print(table, markup=False)


def print_funnel(funnel: Mapping[str, Any]) -> None:
    """Print inputs, kept and rejected of each stage, and the reasons under them."""
    rows = []
    for line in funnel["stages"]:
        reasons = ", ".join(f"{reason} {n}" for reason, n in line["rejected"].items())
        rejected = sum(line["rejected"].values())
        rows.append((line["stage"], line["inputs"], line["kept"], rejected, reasons))
    print_table("Funnel", ("stage", "inputs", "kept", "rejected", "reasons"), rows)


def print_stage(stage: str, tally: Tally) -> None:
    """Print what became of a stage's inputs."""
    rows = [("kept", tally.kept), *tally.rejected.most_common()]
    print_table(f"{stage}: {tally.inputs:,} inputs", ("verdict", "count"), rows)


def _cell(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
