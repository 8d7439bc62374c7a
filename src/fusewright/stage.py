"""Run one stage over many records: resume, catch at the boundary, keep every verdict."""

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from fusewright.ledger import Ledger, Tally
from fusewright.records import Record, Rejection

In = TypeVar("In", bound=Record)

Verdict = tuple[str, Record]
"""Key of an input, and the record that was kept for it or the `Rejection`."""

Step = Callable[[Sequence[In]], Iterator[Verdict]]
"""What a stage does: one verdict an input, in any order."""

logger = logging.getLogger("fusewright.stage")

FLUSH_RECORDS = 256
FLUSH_S = 5.0
"""A shard is written after this many verdicts or seconds: what a kill can cost at most."""


def run_stage(
    stage: str,
    step: Step[In],
    inputs: Sequence[In],
    ledger: Ledger,
    kept: type[Record],
) -> Tally:
    """Put a verdict in *ledger* for every one of *inputs* that has none yet.

    A killed stage is resumed by running it again. Progress goes to the logger `fusewright.stage`
    with `stage`, `done` and `total` in each record, for whoever draws bars.

    Returns:
        What became of the inputs decided in this call.
    """
    decided = ledger.decided(stage)
    pending = [record for record in inputs if record.key not in decided]
    tally, shard, written = Tally(), list[Verdict](), time.monotonic()
    try:
        for subject, verdict in step(pending) if pending else ():
            tally.add(verdict)
            shard.append((subject, verdict))
            if len(shard) >= FLUSH_RECORDS or time.monotonic() - written >= FLUSH_S:
                # Taken out first: an interrupt while it is written must not write it twice.
                full, shard, written = shard, [], time.monotonic()
                ledger.append(stage, full, kept)
            progress = {"stage": stage, "done": tally.inputs, "total": len(pending)}
            logger.info("%s %d/%d", stage, tally.inputs, len(pending), extra=progress)
    finally:
        # Whatever ends the step, what it decided was paid for.
        ledger.append(stage, shard, kept)
    return tally


def each(stage: str, judge: Callable[[In], object]) -> Step[In]:
    """Lift *judge*, which decides one record, to a step.

    An exception becomes a `crash` rejection of that one record, and the stage goes on: a plug-in's
    bug costs what it touched.
    """

    def step(records: Iterable[In]) -> Iterator[Verdict]:
        for record in records:
            verdict: object
            try:
                verdict = judge(record)
            except (Exception, SystemExit) as error:
                verdict = Rejection.of(record, stage, "crash", f"{type(error).__name__}: {error}")
            if not isinstance(verdict, Record):
                detail = f"the plug-in returned {type(verdict).__name__}, expected a record"
                verdict = Rejection.of(record, stage, "crash", detail)
            yield record.key, verdict

    return step
