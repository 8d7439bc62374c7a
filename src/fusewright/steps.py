"""What each batched stage does to its inputs, made from the config and the ledger."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from fusewright import assemble
from fusewright.compose.rulebook import sound_rules
from fusewright.config import Config
from fusewright.filters.screen import Screen
from fusewright.ledger import Ledger
from fusewright.protocols import Meter, Remeasuring, Ruled
from fusewright.records import (
    Draw,
    Measurement,
    Operator,
    Passed,
    Problem,
    Record,
    Rejection,
    Screening,
)
from fusewright.stage import Step, Verdict, each


def compose_step(config: Config, operators: Sequence[Operator]) -> Step[Draw]:
    """Ask the composer that a draw names."""
    composers = assemble.composers(config)
    if any(isinstance(composer, Ruled) for composer in composers.values()):
        rules = sound_rules(config.mine.sources)
        composers = {
            name: composer.with_rules(rules) if isinstance(composer, Ruled) else composer
            for name, composer in composers.items()
        }

    def compose(draw: Draw) -> Problem | Rejection:
        verdict = composers[draw.composer].compose(operators, draw.seed)
        if isinstance(verdict, Rejection):
            return verdict.model_copy(update={"subject": draw.key})
        # A composer that ignores its seed must not give two draws one candidate.
        return verdict.model_copy(update={"composer": draw.composer, "seed": draw.seed})

    return each("compose", compose)


def screen_step(config: Config, ledger: Ledger) -> Step[Problem]:
    """Apply the problem filters, with what was kept in earlier sittings in their memory."""
    screen = Screen(assemble.problem_filters(config))
    kept = {subject for subject, _ in ledger.kept_by_subject("screen", Screening)}
    screen.remember(p for p in ledger.kept("compose", Problem) if p.key in kept)
    return each("screen", screen.judge)


def measure_step(meter: Meter) -> Step[Problem]:
    """Run problems on the device."""
    return _by_subject(meter.measure)


def remeasure_step(meter: Remeasuring) -> Step[Problem]:
    """Run problems that were measured again, each alone on the device."""
    return _by_subject(meter.remeasure)


def _by_subject(
    measure: Callable[[Sequence[Problem]], Iterator[Measurement | Rejection]],
) -> Step[Problem]:
    def step(problems: Sequence[Problem]) -> Iterator[Verdict]:
        for verdict in measure(problems):
            yield subject_of(verdict), verdict

    return step


def subject_of(verdict: Measurement | Rejection) -> str:
    """Key of the problem that was measured or turned away."""
    return verdict.subject if isinstance(verdict, Rejection) else verdict.problem


def judge_step(config: Config, ledger: Ledger) -> Step[Problem]:
    """Apply the measured filters to stored measurements."""
    filters = assemble.measured_filters(config)

    def step(problems: Sequence[Problem]) -> Iterator[Verdict]:
        measurements: dict[str, Any] = dict(ledger.kept_by_subject("measure", Measurement))

        def judge(problem: Problem) -> Record:
            verdicts = (judge.judge(problem, measurements[problem.key]) for judge in filters)
            return next((verdict for verdict in verdicts if verdict), Passed(problem=problem.key))

        yield from each("judge", judge)(problems)

    return step
