"""What the next round composes, and by whom: arithmetic alone."""

import math
from collections.abc import Sequence

from fusewright.config import ComposerShare, LimitSettings
from fusewright.records import Draw

FIRST_YIELD = 0.75
"""Share of candidates expected to survive before any has been judged."""
MARGIN = 1.1
"""A round aims above the target, since one round more costs more than a few candidates more."""
LEAST_ROUND = 20


def next_round(target: int, survivors: int, composed: int, limits: LimitSettings) -> int:
    """Candidates to compose next: 0 when the target is met or the limit is reached.

    The size follows the yield measured so far, and depends on nothing else, so that a resumed run
    composes what an uninterrupted one would.
    """
    missing, left = target - survivors, limits.candidates - composed
    if missing <= 0 or left <= 0:
        return 0
    # A run that has kept nothing yet grows by its own size rather than without bound.
    measured = max(survivors, 1) / composed if composed else FIRST_YIELD
    wanted = max(LEAST_ROUND, math.ceil(missing / measured * MARGIN))
    return min(left, wanted, max(composed, math.ceil(target / FIRST_YIELD * MARGIN)))


def shared_out(composers: Sequence[ComposerShare], seed: int, size: int) -> list[Draw]:
    """Draw *size* problems, seeds counting up, each composer getting its share of every stretch."""
    total = sum(composer.share for composer in composers)
    owed = dict.fromkeys((composer.name for composer in composers), 0.0)
    draws = []
    for index in range(size):
        for composer in composers:
            owed[composer.name] += composer.share / total
        name = max(owed, key=lambda name: owed[name])
        owed[name] -= 1.0
        draws.append(Draw(composer=name, seed=seed + index))
    return draws
