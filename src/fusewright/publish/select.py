"""Take exactly the target, diverse first: a lazy greedy choice that no order of input changes.

What to take next is the candidate whose skeleton was taken least; among those, the one whose
operators, families and runtime were, each counted relative to an even spread. Counts only grow,
so a score in the heap is a lower bound, and a candidate whose score is still current is the best.
"""

import heapq
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

from fusewright.config import JudgeSettings, SelectSettings
from fusewright.publish.rows import Row
from fusewright.records import Passed, Rejection, Screening

STAGE = "select"
SURPLUS = "surplus"


@dataclass(frozen=True, slots=True)
class Candidate:
    """What the choice looks at; the verdict is given under `key`."""

    key: str
    skeleton: str
    ops: tuple[str, ...]
    families: tuple[str, ...]
    numberless: str
    eager_ms: float
    headroom: float

    @classmethod
    def of(cls, row: Row, screening: Screening) -> Self:
        """Look at *row*, made of the problem that *screening* is of."""
        return cls(
            key=screening.problem,
            skeleton=row.skeleton,
            ops=row.ops,
            families=row.families,
            numberless=screening.numberless,
            eager_ms=row.eager_ms,
            headroom=row.headroom,
        )


def select(
    candidates: Sequence[Candidate], settings: SelectSettings, limits: JudgeSettings
) -> Iterator[tuple[str, Passed | Rejection]]:
    """Give every candidate a verdict: `Passed` for the target, `surplus` for the rest.

    Nothing is taken inside the guard of a limit. A row that equals a taken one but for numbers is
    a last resort: it is looked at once all others are taken, and only within its share.
    """
    pool = []
    for candidate in sorted(candidates, key=lambda c: c.key):
        if rejection := _near_limit(candidate, settings, limits):
            yield candidate.key, rejection
        else:
            pool.append(candidate)
    choice, twins = _Choice(settings, _Spread(pool, runtime=settings.runtime_strata)), []
    for candidate in choice.spread.drain(pool):
        if choice.has_twin(candidate) and not choice.full:
            twins.append(candidate)
        else:
            yield candidate.key, choice.decide(candidate)
    for candidate in choice.spread.drain(twins):
        yield candidate.key, choice.decide(candidate)


class _Spread:
    """How often each skeleton, operator, family and runtime stratum was taken."""

    def __init__(self, pool: Sequence[Candidate], *, runtime: bool) -> None:
        self.skeletons, self.ops, self.families, self.strata = (Counter[Any]() for _ in range(4))
        # Times the number of values, a count is relative to an even spread: the axes compare.
        self.op_weight = len({op for c in pool for op in c.ops})
        self.family_weight = len({family for c in pool for family in c.families})
        self.stratum_weight = len({_stratum(c) for c in pool}) if runtime else 0

    def cost(self, candidate: Candidate) -> tuple[int, float]:
        return self.skeletons[candidate.skeleton], (
            self.op_weight * _mean(self.ops, candidate.ops)
            + self.family_weight * _mean(self.families, candidate.families)
            + self.stratum_weight * self.strata[_stratum(candidate)]
        )

    def take(self, candidate: Candidate) -> None:
        self.skeletons[candidate.skeleton] += 1
        self.ops.update(candidate.ops)
        self.families.update(candidate.families)
        self.strata[_stratum(candidate)] += 1

    def drain(self, pool: Sequence[Candidate]) -> Iterator[Candidate]:
        """Yield each of *pool*, the best as of now, whatever was taken meanwhile."""
        heap = [(self.cost(c), c.key, c) for c in pool]
        heapq.heapify(heap)
        while heap:
            cost, key, candidate = heap[0]
            now = self.cost(candidate)
            if now > cost:
                heapq.heapreplace(heap, (now, key, candidate))
            else:
                heapq.heappop(heap)
                yield candidate


class _Choice:
    """The rows taken so far, and what room is left."""

    def __init__(self, settings: SelectSettings, spread: _Spread) -> None:
        self.settings = settings
        self.spread = spread
        self.rows = 0
        self.twinned = 0
        self.groups = Counter[str]()

    @property
    def full(self) -> bool:
        return self.rows >= self.settings.target

    def has_twin(self, candidate: Candidate) -> bool:
        return candidate.numberless in self.groups

    def decide(self, candidate: Candidate) -> Passed | Rejection:
        if self.full:
            return _surplus(candidate, f"the target of {self.settings.target} rows is met")
        # The second of a group makes twins of two rows, each further one of itself alone.
        twinned = self.twinned + {0: 0, 1: 2}.get(self.groups[candidate.numberless], 1)
        share, limit = twinned / (self.rows + 1), self.settings.numberless_share
        if share > limit:
            why = f"equal to another row but for numbers, beyond the share of {limit:.0%}"
            return _surplus(candidate, why, value=share, limit=limit)
        self.rows, self.twinned = self.rows + 1, twinned
        self.groups[candidate.numberless] += 1
        self.spread.take(candidate)
        return Passed(problem=candidate.key)


def _near_limit(
    candidate: Candidate, settings: SelectSettings, limits: JudgeSettings
) -> Rejection | None:
    low, high = 1 + settings.guard, 1 - settings.guard
    eager, headroom = candidate.eager_ms, candidate.headroom
    if eager < (limit := limits.min_eager_ms * low):
        what, value = f"eager {eager:.4g} ms is not clear of {limits.min_eager_ms:g} ms", eager
    elif eager > (limit := limits.max_eager_ms * high):
        what, value = f"eager {eager:.4g} ms is not clear of {limits.max_eager_ms:g} ms", eager
    elif limits.min_headroom and headroom < (limit := limits.min_headroom * low):
        what, value = f"headroom {headroom:.4g} is not clear of {limits.min_headroom:g}", headroom
    else:
        return None
    detail = f"{what} by the guard of {settings.guard:.0%}"
    return _surplus(candidate, detail, value=value, limit=limit)


def _surplus(
    candidate: Candidate, detail: str, *, value: float | None = None, limit: float | None = None
) -> Rejection:
    return Rejection(
        subject=candidate.key,
        stage=STAGE,
        reason=SURPLUS,
        detail=detail,
        value=value,
        limit=limit,
    )


def _mean(counts: Counter[str], names: Sequence[str]) -> float:
    return sum(map(counts.__getitem__, names)) / len(names) if names else 0.0


def _stratum(candidate: Candidate) -> int:
    """Runtimes that agree within a factor of two fall together."""
    return math.frexp(candidate.eager_ms)[1]
