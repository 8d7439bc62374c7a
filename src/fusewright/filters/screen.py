"""The step of the screen stage: every problem filter in turn, and what they learnt."""

from collections.abc import Iterable, Sequence

from fusewright.identity import canonical, text_hash
from fusewright.protocols import Facts, ProblemFilter
from fusewright.records import Problem, Rejection, Screening


class Screen:
    """Judge problems by *filters*; one that is kept is remembered by those that remember."""

    def __init__(self, filters: Sequence[ProblemFilter]) -> None:
        self._filters = filters

    def remember(self, problems: Iterable[Problem]) -> None:
        """Take problems that were kept earlier into memory, in the order in which they were."""
        for problem in problems:
            for judge in self._filters:
                if remember := getattr(judge, "remember", None):
                    remember(problem)

    def judge(self, problem: Problem) -> Screening | Rejection:
        """Return the first rejection, or what the filters learnt."""
        facts: dict[str, str | float | None] = {}
        for verdict in self._verdicts(problem):
            if isinstance(verdict, Rejection):
                return verdict
            facts |= verdict
        self.remember([problem])
        return Screening.model_validate(
            {
                **facts,
                "problem": problem.key,
                "canonical": text_hash(canonical(problem.code)),
                "numberless": text_hash(canonical(problem.code, numbers=False)),
            }
        )

    def _verdicts(self, problem: Problem) -> Iterable[Rejection | Facts]:
        for judge in self._filters:
            yield judge.judge(problem) or {}
