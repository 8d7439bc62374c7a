"""Values, dice and rules to try the catalogue with."""

import random

from fusewright.operators.catalogue import CATALOGUE, Dice, Placed, Refused, Rule, Value, apply
from fusewright.operators.catalogue.sample import column
from fusewright.operators.catalogue.size import Size
from fusewright.operators.catalogue.value import NORMAL_BOUND, Layout

SIZES = {
    "features": (64, 128), "dims": (32, 64), "head_dims": (32,), "channels": (16, 32),
    "context_len": (32,),
}  # fmt: skip
SHAPES: dict[Layout, tuple[int, ...]] = {
    "scalars": (), "rows": (256,), "tokens": (64, 64), "signal": (32, 64), "image": (16, 16, 16),
    "volume": (8, 8, 8, 8), "heads": (4, 32, 32),
}  # fmt: skip
MEAN, DEVIATION = 0.3, 1.5


def dice(seed: int = 0) -> Dice:
    return Dice(random.Random(seed), SIZES)


def value(layout: Layout = "rows", shape: tuple[int, ...] | None = None, number: int = 0) -> Value:
    """A normal tensor, neither centred nor of unit variance; *number* tells several apart."""
    given = SHAPES[layout] if shape is None else shape
    sizes = tuple(Size(size, f"size{place}") for place, size in enumerate(given))
    sample = MEAN + DEVIATION * column(900 + number)
    reach = DEVIATION * NORMAL_BOUND
    return Value(layout, sizes, sample, MEAN - reach, MEAN + reach)


def rule(text: str) -> Rule:
    """The rule called *text*, or the one of its operators joined by spaces where it has several."""
    return next(r for r in CATALOGUE if text in (" ".join(r.ops), r.name) and " " not in r.name)


def verdicts(made: Rule, *operands: Value, place: int = 0, tries: int = 12) -> list[str]:
    """What becomes of *made* over several rolls of the dice: `ok`, or why it is refused."""
    found = (apply(made, dice(seed), operands, place) for seed in range(tries))
    return sorted({x.reason if isinstance(x, Refused) else "ok" for x in found})


def placed(made: Rule, *operands: Value, place: int = 0) -> Placed:
    """The first way in which the dice let *made* be placed."""
    for seed in range(40):
        found = apply(made, dice(seed), operands, place)
        if isinstance(found, Placed):
            return found
    raise AssertionError(f"{made.name} is refused: {verdicts(made, *operands)}")
