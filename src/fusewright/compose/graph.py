"""The graph composer: problems that are valid by construction, and the same for the same seed."""

import logging
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

from fusewright.compose.draw import draw
from fusewright.compose.menu import Menus
from fusewright.compose.plan import Graph
from fusewright.compose.preset import PRESETS, TINY, Preset
from fusewright.compose.render import render
from fusewright.compose.size import choose_batch
from fusewright.compose.summary import Drawn, summarize
from fusewright.operators.catalogue import CATALOGUE, VIEWS, Dice, Rule
from fusewright.operators.catalogue.lane import LANES, Dtype
from fusewright.records import Draw, Operator, Problem, Rejection

logger = logging.getLogger("fusewright.stage")

ATTEMPTS = 200
"""Graphs drawn for one seed before the mined operators count as too few."""


@dataclass(frozen=True)
class GraphComposer:
    """Draws small graphs of operators from a hand-verified catalogue.

    Raises:
        ValueError: A setting is unknown or out of range.
    """

    device: Literal["cuda", "cpu"] = "cuda"
    """Device whose speed the sizes suit: `cuda` is an H200, `cpu` one core."""
    dtype: Dtype = "float32"
    """Data type of inputs and parameters: `float32`, `bfloat16` or `float16`."""
    min_operators: int = 2
    """Fewest operators of a problem, views not counted."""
    max_operators: int = 8
    """Most operators of a problem, views and all."""
    name: str = "graph"
    rules: tuple[Rule, ...] = ()
    """Rules of plug-ins, drawn beside the catalogue's; `with_rules` sets them."""

    def __post_init__(self) -> None:
        if self.device not in PRESETS:
            raise ValueError(f"device '{self.device}' is unknown (valid: {', '.join(PRESETS)})")
        if self.dtype not in LANES:
            raise ValueError(f"dtype '{self.dtype}' is unknown (valid: {', '.join(LANES)})")
        if not 1 <= self.min_operators <= self.max_operators:
            raise ValueError(
                f"min_operators {self.min_operators} and max_operators {self.max_operators}: "
                "expected 1 <= min_operators <= max_operators"
            )

    def with_rules(self, rules: Sequence[Rule]) -> "GraphComposer":
        """Make the same composer with *rules* of plug-ins."""
        return replace(self, rules=tuple(rules))

    def compose(self, operators: Sequence[Operator], seed: int) -> Problem | Rejection:
        """Write the problem that *seed* determines from the catalogue's part of *operators*."""
        return self._guarded(operators, seed, PRESETS[self.device])

    def tiny(self, operators: Sequence[Operator], seed: int) -> Problem | Rejection:
        """Write what *seed* determines at sizes of which a processor runs many a second."""
        return self._guarded(operators, seed, TINY)

    def describe(self, operators: Sequence[Operator], seeds: Sequence[int]) -> dict[str, Any]:
        """Describe what those of *seeds* give that give a problem; empty where none does."""
        names, preset = names_of(operators), PRESETS[self.device].in_lane(LANES[self.dtype])
        drawn = [draw_sized(names, seed, preset, self._counts, self.rules) for seed in seeds]
        found = [Drawn(*one[:2], render(*one, self.dtype)) for one in drawn if one is not None]
        return summarize(found) if found else {}

    @property
    def _counts(self) -> tuple[int, int]:
        return self.min_operators, self.max_operators

    def _guarded(
        self, operators: Sequence[Operator], seed: int, preset: Preset
    ) -> Problem | Rejection:
        names = names_of(operators)
        try:
            return self._write(names, seed, preset, self.rules)
        except Exception as error:
            # The rule of a plug-in is foreign code: where one raises, the catalogue's own serve.
            if not self.rules:
                raise
            _tell_once(f"{type(error).__name__}: {error}")
            return self._write(names, seed, preset, ())

    def _write(
        self, names: frozenset[str], seed: int, preset: Preset, rules: tuple[Rule, ...]
    ) -> Problem | Rejection:
        sized = preset.in_lane(LANES[self.dtype])
        drawn = draw_sized(names, seed, sized, self._counts, rules)
        if drawn is None:
            return Rejection.of(
                Draw(composer=self.name, seed=seed), "compose", "no_draw",
                f"no graph of {self.min_operators} to {self.max_operators} operators could be "
                f"drawn from the {len(_menus(names, rules).rules)} rules that the mined "
                "operators allow",
            )  # fmt: skip
        return Problem(
            code=render(*drawn, self.dtype), ops=drawn[0].ops, composer=self.name, seed=seed
        )


def names_of(operators: Sequence[Operator]) -> frozenset[str]:
    """Names and aliases of *operators*."""
    return frozenset(name for operator in operators for name in (operator.name, *operator.aliases))


def draw_sized(
    names: frozenset[str],
    seed: int,
    preset: Preset,
    counts: tuple[int, int],
    rules: tuple[Rule, ...] = (),
) -> tuple[Graph, int, Dice] | None:
    """Draw a graph and its batch, and return the dice as they lie; None after too many attempts.

    What is drawn depends on *names* as a set alone: rules keep the catalogue's order.
    """
    for graph, dice in draws(names, seed, preset, counts, rules):
        batch = choose_batch(graph, dice, preset)
        if batch is not None:
            return graph, batch, dice
    return None


def draws(
    names: frozenset[str],
    seed: int,
    preset: Preset,
    counts: tuple[int, int],
    rules: tuple[Rule, ...] = (),
) -> Iterator[tuple[Graph, Dice]]:
    """Yield the graphs that *seed* determines, until there were too many attempts."""
    menus = _menus(names - preset.lane.lacks if preset.lane.lacks else names, rules)
    for attempt in range(ATTEMPTS if menus.rules else 0):
        dice = Dice(random.Random(f"{seed}/{attempt}"), preset.sizes)  # noqa: S311 -- no secret
        graph = draw(menus, dice, preset, counts)
        if graph is not None:
            yield graph, dice


@lru_cache(maxsize=8)
def _menus(names: frozenset[str], rules: tuple[Rule, ...] = ()) -> Menus:
    """Rules of the catalogue that need nothing but *names* and views, then *rules* of *names*."""
    known = names & {op for rule in CATALOGUE for op in rule.ops}
    usable = known | VIEWS if known else known
    ours = [rule for rule in CATALOGUE if all(op in usable for op in rule.ops)]
    return Menus([*ours, *(rule for rule in rules if rule.name in names)])


@lru_cache(maxsize=8)
def _tell_once(said: str) -> None:
    logger.warning("a plug-in's rule raises %s: its draws are left to the built-in rules", said)
