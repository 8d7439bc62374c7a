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
ALIGNED = ("elementwise", "loss")
"""Families that join tensors of like shapes alone."""
SUMS = ("torch.add", "torch.sub", "torch.lerp", "torch.maximum", "torch.addcmul")
"""How branches come together again, but for products."""
ACTIVATIONS = frozenset(
    [
        *("relu", "gelu", "silu", "mish", "tanh", "elu", "selu", "celu", "leakyrelu", "hardtanh"),
        *("hardswish", "relu6", "prelu", "sigmoid", "hardsigmoid", "softplus", "softsign", "glu"),
    ]
)
"""Elementwise operators that a person puts after a norm or a convolution."""


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
        self.odd_joins = Menu((r for r in several if r.family not in ALIGNED), JOIN_WEIGHTS)
        """Those that may join tensors whose shapes differ in more than what broadcasts."""
        self.squashes = Menu((rule for rule in single if rule.noun == "gate"), STEP_WEIGHTS)
        """Operators that give numbers between zero and one, to multiply by."""
        self.activations = Menu((r for r in single if is_activation(r)), STEP_WEIGHTS)
        """What a person puts after a norm, a convolution or a projection."""
        self.gates = Menu((r for r in several if r.ops[-1] == "torch.mul"), JOIN_WEIGHTS)
        """Multiplication, alone or with what squashes one of its factors."""
        self.glus = Menu((r for r in single if r.name == "F.glu"), STEP_WEIGHTS)
        """One half of a tensor, gated by the other."""
        self.sums = Menu((r for r in several if r.name in SUMS), JOIN_WEIGHTS)
        """What closes a residual branch."""
        self.attentions = Menu((r for r in several if r.family == "attention"), JOIN_WEIGHTS)
        """Attention from given queries, keys and values."""
        self.losses = Menu((r for r in several if r.family == "loss"), JOIN_WEIGHTS)
        """What compares with a target."""
        self.heads = Menu((r for r in single if pools_all(r)), STEP_WEIGHTS)
        """What leaves little or nothing of the positions."""
        self._families = {
            family: Menu((rule for rule in single if rule.family == family), STEP_WEIGHTS)
            for family in STEP_WEIGHTS
        }
        self.flattens = Menu((r for r in single if r.name == "torch.flatten"), STEP_WEIGHTS)
        """Views as fewer dimensions."""
        self.anchored = any(rule.family != "elementwise" for rule in rules)
        """Whether anything computes more than elementwise operators do."""

    def of(self, family: str) -> Menu:
        """Operators of one tensor that belong to *family*."""
        return self._families[family]


def is_activation(rule: Rule) -> bool:
    """Whether a person calls *rule* an activation."""
    plain = rule.name.rpartition(".")[2].replace("_", "").lower()
    return rule.family == "elementwise" and plain in ACTIVATIONS


def pools_all(rule: Rule) -> bool:
    """Whether *rule* makes one number, or a few, of all positions."""
    return rule.family == "reduction" or "adaptive" in rule.name.lower()
