"""How many candidates the next round composes: arithmetic alone."""

import math

from fusewright.config import LimitSettings

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
