"""The stages over one run folder, in plain Python: what to do next, and how to do it.

A stage's inputs are what the stage before it kept, read from the ledger each time, so that a run
goes on from wherever it stopped.
"""

import contextlib
import itertools
import logging
import time
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Self

import polars as pl

from fusewright import assemble, dashboard
from fusewright.filters.fingerprint import recalls
from fusewright.flows.rounds import next_round, shared_out
from fusewright.ledger import write_atomic
from fusewright.operators.mine import mine
from fusewright.protocols import Remeasuring
from fusewright.publish import fidelity, stats
from fusewright.publish.release import Release, write_release
from fusewright.publish.rows import RejectedRow, Row, make_rejected, make_row
from fusewright.publish.select import Candidate, select
from fusewright.records import Draw, Measurement, Operator, Passed, Problem, Record, Screening
from fusewright.runfolder import RunFolder
from fusewright.schema import schema_of
from fusewright.stage import Step, run_stage
from fusewright.steps import (
    compose_step,
    judge_step,
    measure_step,
    remeasure_step,
    screen_step,
)

STAGES = stats.STAGES
BATCHED = ("compose", "screen", "measure", "judge")
"""Stages that are decided a batch at a time, in order."""
KEPT: dict[str, type[Record]] = {
    "compose": Problem,
    "screen": Screening,
    "measure": Measurement,
    fidelity.STAGE: Measurement,
    "judge": Passed,
}
"""What each batched stage keeps. The inputs of compose lie in the ledger as `draw`."""

logger = logging.getLogger("fusewright.stage")


class Pipeline:
    """Stages over the folder of *run*; use it as a context manager, which stops the meter."""

    def __init__(self, run: RunFolder) -> None:
        self.run = run
        self.ledger = run.ledger
        self._open = contextlib.ExitStack()
        self._steps: dict[str, Step[Any]] = {}
        self._began = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def mine(self) -> None:
        """Fill the mine stage, unless it is whole already."""
        if self.run.operators_file.exists():
            return
        self.ledger.reset("mine")
        settings = self.run.config.mine
        verdicts = list(mine(settings.sources, settings.timeout_s))
        self.ledger.append("mine", verdicts, Operator)
        self._conserve("mine", [subject for subject, _ in verdicts])
        operators = [v.model_dump(mode="json") for _, v in verdicts if isinstance(v, Operator)]
        # Written last: where this file is, the stage is whole.
        frame = pl.DataFrame(operators, schema=schema_of(Operator))
        write_atomic(self.run.operators_file, frame)

    def operators(self) -> list[Operator]:
        """Mined operators, in mined order."""
        frame = pl.read_parquet(self.run.operators_file)
        return [Operator(**row) for row in frame.iter_rows(named=True)]

    def rounds(self) -> Iterator[int]:
        """Yield the number of each round that may have something to do, drawn as needed."""
        drawn = len(self.ledger.shards("draw"))
        for number in itertools.count(max(0, drawn - 1)):
            if number >= drawn and not self._draw_round(number):
                return
            yield number

    def draw(self, composer: str, seeds: Sequence[int]) -> None:
        """Ask *composer* for a problem a seed; seeds that were drawn before are left out."""
        known = self.ledger.decided("draw")
        draws = [Draw(composer=composer, seed=seed) for seed in seeds]
        self._append_draws([draw for draw in draws if draw.key not in known])

    def inputs(self, stage: str) -> list[Record]:
        """Everything that *stage* must give a verdict on, in the order of the draws."""
        if stage == fidelity.STAGE:
            return self._sample()
        if stage == "compose":
            return list(self.ledger.kept("draw", Draw))
        problems = list(self.ledger.kept("compose", Problem))
        if stage == "screen":
            return list(problems)
        before = STAGES[STAGES.index(stage) - 1]
        kept = {subject for subject, _ in self.ledger.kept_by_subject(before, KEPT[before])}
        return [problem for problem in problems if problem.key in kept]

    def batches(self, stage: str) -> Iterator[Sequence[Record]]:
        """Inputs of *stage* without a verdict, a batch at a time."""
        decided = self.ledger.decided(stage)
        pending = [record for record in self.inputs(stage) if record.key not in decided]
        size = self.run.config.compose.batch
        for start in range(0, len(pending), size):
            yield pending[start : start + size]

    def decide(self, stage: str, batch: Sequence[Record]) -> None:
        """Give every record of *batch* a verdict of *stage*."""
        if stage not in self._steps:
            self._steps[stage] = self._make_step(stage)
        run_stage(stage, self._steps[stage], batch, self.ledger, KEPT[stage])

    def finish(self, stage: str) -> None:
        """Check conservation of *stage* and say what became of its inputs."""
        inputs = [record.key for record in self.inputs(stage)]
        if stage == fidelity.STAGE:
            # A sample that was larger in an earlier sitting leaves verdicts beside today's.
            inputs += self.ledger.decided(stage).difference(inputs)
        self._conserve(stage, inputs)

    def decide_all(self, stage: str) -> None:
        """Decide all that is pending in *stage*, and check it."""
        for batch in self.batches(stage):
            self.decide(stage, batch)
        self.finish(stage)

    def select(self) -> int:
        """Choose the rows anew from all survivors; returns how many were taken."""
        config, candidates = self.run.config, self._candidates()
        verdicts = list(select(candidates, config.select, config.judge))
        self.ledger.reset("select")
        self.ledger.append("select", verdicts, Passed)
        return self._conserve("select", [candidate.key for candidate in candidates])

    def release(self) -> None:
        """Write the release folder from what the ledger holds."""
        config, rows = self.run.config, self._rows()
        kept = [rows[passed.problem] for passed in self.ledger.kept("select", Passed)]
        window_ms = (config.judge.min_eager_ms, config.judge.max_eager_ms)
        again = fidelity.of_run(self.ledger, config.measure.remeasure_fraction)
        page = dashboard.build(self.ledger, config.release.title, window_ms, again)
        funnel = stats.funnel(self.ledger, STAGES, len(kept))
        planted = recalls(config.screen.benchmarks)
        facts = {**self.run.facts, "device": self.run.device, "fidelity": again, "recall": planted}
        made = Release(kept, self._rejected(), funnel, facts, config, {"dashboard.html": page})
        write_release(self.run.release, made)

    def _make_step(self, stage: str) -> Step[Any]:
        config = self.run.config
        if stage == "compose":
            return compose_step(config, self.operators())
        if stage == "screen":
            return screen_step(config, self.ledger)
        if stage == "measure":
            return measure_step(self._started)
        if stage == fidelity.STAGE:
            return remeasure_step(self._started)
        return judge_step(config, self.ledger)

    @cached_property
    def _meter(self) -> Any:
        """The meter of the config, at rest."""
        return assemble.meter(self.run.config)

    @cached_property
    def _started(self) -> Any:
        """The meter, which runs until the pipeline is closed."""
        meter = self._open.enter_context(self._meter)
        if device := getattr(meter, "device", None):
            meter.draw_rooflines_with(self.run.same_device(device)["peaks"])
        return meter

    def _sample(self) -> list[Record]:
        """What was measured and is to be measured again, if the meter can."""
        fraction = self.run.config.measure.remeasure_fraction
        if not fraction or not isinstance(self._meter, Remeasuring):
            return []
        measured = self.inputs("judge")
        return [problem for problem in measured if fidelity.in_sample(problem.key, fraction)]

    def _draw_round(self, number: int) -> bool:
        config = self.run.config
        hours = (time.monotonic() - self._began) / 3600
        if number >= config.limits.rounds or (number and hours >= config.limits.hours):
            return False
        drawn, survivors = list(self.ledger.kept("draw", Draw)), 0
        if drawn:
            verdicts = select(self._candidates(), config.select, config.judge)
            survivors = sum(1 for _, verdict in verdicts if isinstance(verdict, Passed))
        size = next_round(config.select.target, survivors, len(drawn), config.limits)
        # Past every seed that was drawn, by a round or by hand: a draw is made once.
        first = max([config.seed, *(draw.seed + 1 for draw in drawn)])
        draws = shared_out(config.compose.composers, first, size)
        self._append_draws(draws)
        return bool(draws)

    def _append_draws(self, draws: Sequence[Draw]) -> None:
        self.ledger.append("draw", [(draw.key, draw) for draw in draws], Draw)

    def _conserve(self, stage: str, inputs: Sequence[str]) -> int:
        tally = self.ledger.check(stage, inputs)
        counts = f"{tally.inputs} in = {tally.kept} kept + {tally.rejected.total()} rejected"
        logger.info("%s: %s", stage, counts, extra={"stage": stage, "finished": True})
        return tally.kept

    def _candidates(self) -> list[Candidate]:
        screenings = dict(self.ledger.kept_by_subject("screen", Screening))
        return [Candidate.of(row, screenings[key]) for key, row in self._rows().items()]

    def _rows(self) -> dict[str, Row]:
        """Rows of all survivors of judge, by the key of the problem."""
        operators = by_name(self.operators())
        screenings = dict(self.ledger.kept_by_subject("screen", Screening))
        measurements = dict(self.ledger.kept_by_subject("measure", Measurement))
        passed = {subject for subject, _ in self.ledger.kept_by_subject("judge", Passed)}
        version = self.run.config.release.version
        return {
            problem.key: make_row(
                problem, screenings[problem.key], measurements[problem.key], operators, version
            )
            for problem in self.ledger.kept("compose", Problem)
            if problem.key in passed
        }

    def _rejected(self) -> list[RejectedRow]:
        origins: dict[str, Draw | Problem] = {d.key: d for d in self.ledger.kept("draw", Draw)}
        origins |= {problem.key: problem for problem in self.ledger.kept("compose", Problem)}
        rejections = (r for stage in STAGES for r in self.ledger.rejected(stage))
        return [make_rejected(r, origins.get(r.subject)) for r in rejections]


def by_name(operators: Sequence[Operator]) -> dict[str, Operator]:
    """Operators by name and by alias; a name goes before another's alias."""
    named = {alias: operator for operator in operators for alias in operator.aliases}
    return named | {operator.name: operator for operator in operators}
