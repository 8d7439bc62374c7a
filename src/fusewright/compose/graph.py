"""The graph composer: problems that are valid by construction, and the same for the same seed."""

import logging
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from fusewright.compose.draw import draw
from fusewright.compose.menu import Menus
from fusewright.compose.plan import Graph
from fusewright.compose.render import render
from fusewright.compose.size import PRESETS, Preset, choose_batch
from fusewright.operators.catalogue import CATALOGUE, VIEWS, Dice, Rule
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
    min_operators: int = 2
    """Fewest operators of a problem, views not counted."""
    max_operators: int = 6
    """Most operators of a problem, views and all."""
    name: str = "graph"
    rules: tuple[Rule, ...] = ()
    """Rules of plug-ins, drawn beside the catalogue's; `with_rules` sets them."""

    def __post_init__(self) -> None:
        if self.device not in PRESETS:
            raise ValueError(f"device '{self.device}' is unknown (valid: {', '.join(PRESETS)})")
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
        names = frozenset(
            name for operator in operators for name in (operator.name, *operator.aliases)
        )
        try:
            return self._compose(names, seed)
        except Exception as error:
            # The rule of a plug-in is foreign code: where one raises, the catalogue's own serve.
            if not self.rules:
                raise
            _tell_once(f"{type(error).__name__}: {error}")
            return self.with_rules(()).compose(operators, seed)

    def _compose(self, names: frozenset[str], seed: int) -> Problem | Rejection:
        counts = self.min_operators, self.max_operators
        drawn = draw_sized(names, seed, PRESETS[self.device], counts, self.rules)
        if drawn is None:
            return Rejection.of(
                Draw(composer=self.name, seed=seed), "compose", "no_draw",
                f"no graph of {self.min_operators} to {self.max_operators} operators could be "
                f"drawn from the {len(_menus(names, self.rules).rules)} rules that the mined "
                "operators allow",
            )  # fmt: skip
        graph, batch, dice = drawn
        code = render(graph, batch, dice)
        return Problem(code=code, ops=graph.ops, composer=self.name, seed=seed)


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
    menus = _menus(names, rules)
    for attempt in range(ATTEMPTS if menus.rules else 0):
        dice = Dice(random.Random(f"{seed}/{attempt}"), preset.sizes)  # noqa: S311 -- no secret
        graph = draw(menus, dice, preset, counts)
        batch = None if graph is None else choose_batch(graph, dice, preset)
        if graph is not None and batch is not None:
            return graph, batch, dice
    return None


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
