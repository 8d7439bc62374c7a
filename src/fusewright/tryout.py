"""Try out what a composer writes: run it at tiny sizes, in the sandbox of the measuring engine."""

from collections import Counter
from collections.abc import Iterable, Sequence

from fusewright.measure.plan import Plan
from fusewright.measure.supervisor import Supervisor
from fusewright.protocols import Inspectable
from fusewright.records import Operator, Problem, Rejection

RAN = "ran"
"""What is counted for a problem that ran to its end with a finite, deterministic output."""
MEMORY_BYTES = 3 * 10**9


def try_out(
    composer: Inspectable, operators: Sequence[Operator], seeds: Iterable[int], workers: int = 1
) -> Counter[str]:
    """Run what *seeds* give at tiny sizes; how many ran, and how many fell for each reason.

    Raises:
        MeasureError: No process to run them in can be had.
    """
    told: Counter[str] = Counter()
    candidates = []
    for seed in seeds:
        written = composer.tiny(operators, seed)
        if isinstance(written, Rejection):
            told[written.reason] += 1
        else:
            candidates.append(_message(written))
    plan = Plan(device="cpu", checks="basic", last="eager", memory_bytes=MEMORY_BYTES)
    with Supervisor(plan, workers) as supervisor:
        for verdict in supervisor.measure(candidates):
            told[verdict.get("rejection", {}).get("reason", RAN)] += 1
    return told


def _message(problem: Problem) -> dict[str, str]:
    return {"key": problem.key, "code": problem.code}
