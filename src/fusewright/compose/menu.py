"""Which operators a graph is drawn from, and how often."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

from fusewright.operators.catalogue import Dice, Layout, Rule

STEP_WEIGHTS = {
    "elementwise": 24.0, "reduction": 10.0, "softmax": 6.0, "scan": 3.0, "sort": 1.5, "norm": 14.0,
    "matmul": 16.0, "conv": 20.0, "pool": 16.0, "resample": 2.5, "layout": 7.0, "attention": 4.0,
}  # fmt: skip
"""How often each family of operators of one tensor is drawn, before the rules have their say."""
JOIN_WEIGHTS = {
    "elementwise": 26.0, "layout": 2.5, "matmul": 10.0, "attention": 4.0, "loss": 4.0,
    "distance": 4.0,
}  # fmt: skip
"""The same for operators that join tensors."""


class Menu:
    """Rules to draw from, by layout of the first operand.

    A family is weighed first, so that it is drawn no more for being large.
    """

    def __init__(self, rules: Iterable[Rule], weights: Mapping[str, float]) -> None:
        self.rules = tuple(rules)
        self._family_weights = weights
        self._listed: dict[Layout, tuple[list[Rule], list[float]]] = {}

    def draw(self, dice: Dice, layout: Layout) -> Rule | None:
        """Draw a rule that takes *layout*; None where none does."""
        if layout not in self._listed:
            self._listed[layout] = self._weighed(layout)
        rules, sums = self._listed[layout]
        return dice.cumulated(rules, sums) if rules else None

    def _weighed(self, layout: Layout) -> tuple[list[Rule], list[float]]:
        rules = [rule for rule in self.rules if not rule.layouts or layout in rule.layouts]
        totals: dict[str, float] = {}
        for rule in rules:
            totals[rule.family] = totals.get(rule.family, 0.0) + rule.weight
        weights = [self._family_weights[r.family] * r.weight / totals[r.family] for r in rules]
        return rules, list(accumulate(weights))


class Menus:
    """The menus of one set of rules."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = tuple(rules)
        single = [rule for rule in rules if rule.arity == 1]
        several = [rule for rule in rules if rule.arity > 1]
        self.steps = Menu(single, STEP_WEIGHTS)
        """Operators of one tensor."""
        self.joins = Menu(several, JOIN_WEIGHTS)
        """Operators that join tensors."""
        self.squashes = Menu((rule for rule in single if rule.noun == "gate"), STEP_WEIGHTS)
        """Operators that give numbers between zero and one, to multiply by."""
        self.products = Menu((rule for rule in single if rule.family == "matmul"), STEP_WEIGHTS)
        """Projections."""
        self.gates = Menu((r for r in several if r.ops == ("torch.mul",)), JOIN_WEIGHTS)
        """Multiplication."""
        self.attentions = Menu((r for r in several if r.family == "attention"), JOIN_WEIGHTS)
        """Attention from given queries, keys and values."""
        self.anchored = any(rule.family != "elementwise" for rule in rules)
        """Whether anything computes more than elementwise operators do."""
