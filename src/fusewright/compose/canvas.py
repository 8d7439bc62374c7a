"""A graph in the making: operators are tried on it, and kept or taken back."""

from collections.abc import Sequence

from fusewright.compose.menu import Menu, Menus
from fusewright.compose.plan import Graph, Node, without_idle_biases
from fusewright.operators.catalogue import Dice, Layout, Refused, Rule, Shape, Value, apply
from fusewright.operators.catalogue.lane import FLOAT32, Lane
from fusewright.operators.catalogue.sample import column
from fusewright.operators.catalogue.value import NORMAL_BOUND, broadcast

INPUT_COLUMN = 900
"""First column of the samples of inputs, beyond those of operators."""
MAX_INPUTS = 3
TRIES = 10
"""Draws of an operator before it is given up."""


class Canvas:
    """Inputs and nodes so far, with at most *limit* operators and *elements* in a tensor."""

    def __init__(
        self, dice: Dice, menus: Menus, limit: int, elements: int, lane: Lane = FLOAT32
    ) -> None:
        self.dice = dice
        self.menus = menus
        self.inputs: list[Value] = []
        self.nodes: list[Node] = []
        self.room = limit
        """Operators that may still be placed."""
        self._elements = elements
        self._lane = lane
        self._known: dict[int, Value] = {}

    @property
    def graph(self) -> Graph:
        """What was drawn, as it stands."""
        return without_idle_biases(
            Graph(tuple(self.inputs), tuple(self.nodes), dict(self.dice.named))
        )

    def value(self, reference: int) -> Value:
        """The tensor at *reference*."""
        return self._known[reference]

    def others(self, *references: int) -> list[int]:
        """Every tensor so far but *references*, shuffled."""
        known = [*range(-len(self.inputs), 0), *range(len(self.nodes))]
        return self.dice.shuffled([r for r in known if r not in references])

    def add_input(self, layout: Layout, shape: Shape) -> int | None:
        """Add a standard normal input; None where there are enough."""
        if len(self.inputs) >= MAX_INPUTS or layout == "scalars":
            return None
        sample = column(INPUT_COLUMN + len(self.inputs))
        value = Value(layout, shape, sample, -NORMAL_BOUND, NORMAL_BOUND)
        self.inputs.append(value)
        self._known[-len(self.inputs)] = value
        return -len(self.inputs)

    def place(self, rule: Rule, operands: Sequence[int]) -> int | None:
        """Place *rule* on *operands*; None where it does not fit or would do nothing."""
        if len(rule.ops) > self.room or len(operands) != rule.arity:
            return None
        values = tuple([self._known[operand] for operand in operands])
        placed = apply(rule, self.dice, values, len(self.nodes), self._lane)
        if isinstance(placed, Refused) or placed.value.elements > self._elements:
            return None
        self.nodes.append(Node(*placed, tuple(operands)))
        self._known[len(self.nodes) - 1] = placed.value
        self.room -= len(rule.ops)
        return len(self.nodes) - 1

    def step(self, x: int, menu: Menu) -> int | None:
        """Place an operator of *menu* on *x* alone."""
        for _ in range(TRIES):
            rule = menu.draw(self.dice, self.value(x).layout)
            made = None if rule is None else self.place(rule, [x])
            if made is not None:
                return made
        return None

    def join(self, x: int, y: int, menu: Menu) -> int | None:
        """Join *x* and *y* by an operator of *menu*, with tensors from before where it asks."""
        for _ in range(TRIES):
            rule = menu.draw(self.dice, self.value(x).layout)
            if rule is None:
                return None
            pair = [x, y] if self.dice.chance(0.7) else [y, x]
            more = self.others(x, y)[: rule.arity - 2] if rule.arity > 2 else ()  # noqa: PLR2004
            made = self.place(rule, [*pair, *more])
            if made is not None:
                return made
        return None

    def fits(self, x: int, y: int) -> bool:
        """Whether *x* and *y* can be joined element by element."""
        return broadcast(self.value(x).shape, self.value(y).shape) is not None

    def mark(self) -> tuple[int, int]:
        """Where the drawing stands, for `back`."""
        return len(self.inputs), len(self.nodes)

    def back(self, mark: tuple[int, int]) -> None:
        """Take back everything since *mark*."""
        del self.inputs[mark[0] :]
        self.room += sum(len(node.rule.ops) for node in self.nodes[mark[1] :])
        del self.nodes[mark[1] :]
