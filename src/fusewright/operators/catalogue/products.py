"""Matrix products: with parameters, or of two tensors."""

import math
from dataclasses import dataclass

import numpy as np

from fusewright.operators.catalogue.noise import Noise
from fusewright.operators.catalogue.rule import Applied, Cost, Dice, Member, Refused, Rule
from fusewright.operators.catalogue.sample import Sample, average, moments, power
from fusewright.operators.catalogue.size import Size
from fusewright.operators.catalogue.value import (
    Fact,
    Kind,
    Layout,
    Shape,
    Value,
    others,
    resized,
)

LAST: tuple[Layout, ...] = ("rows", "tokens")
"""Layouts whose features come last."""
SEQUENCES: tuple[Layout, ...] = ("tokens", "signal")
"""Layouts of one matrix an item."""
WEIGHT_BOUND = 5.0
"""Greatest magnitude that a normal weight usually has."""
DOMINANT = 4.0
"""How far, in deviations, a tensor's products with itself may stand out from those with others."""
LEAST = 4
"""Fewest features worth projecting."""
LARGEST_SQUARE = 2048
"""Longest side of a product of two tensors of one length."""


def projected(noise: Noise, sample: Sample, fan_in: float, bound: float) -> Sample:
    """Sums of *fan_in* elements times weights that are uniform within *bound*, without bias.

    The mean of the operand meets the same weights each time, its deviation does not.
    """
    mean, deviation = moments(sample)
    width = bound * math.sqrt(fan_in / 3)
    return width * (mean * noise.fixed(0) + deviation * noise.drawn())


def biased(noise: Noise, sample: Sample, bound: float) -> Sample:
    """Add a bias that is uniform within *bound*."""
    return sample + bound / math.sqrt(3) * noise.fixed(1)


def contracted(noise: Noise, x: Sample, y: Sample, n: int) -> Sample:
    """Sums of *n* products of elements of *x* and *y*."""
    (mean, deviation), (other_mean, other) = moments(x), moments(y)
    variance = (deviation * other) ** 2 + (mean * other) ** 2 + (other_mean * deviation) ** 2
    return n * mean * other_mean + np.sqrt(n * variance) * noise.drawn(4, (0, 1))


def _linear(dice: Dice, x: Value) -> Applied | Refused:
    if x.made_by[1] == "matmul" or x.feature < LEAST:
        return Refused("repeat")
    last, out = x.rank - 1, dice.features(x)
    n, bound = int(x.feature), 1 / math.sqrt(x.feature)
    shape = resized(x.shape, last, out)
    return Applied(
        call="{m0}({0})",
        members=(Member("proj", f"nn.Linear({x.feature.text}, {out.text}{{bias}})"),),
        shape=shape,
        facts=(Fact("bias", others(x, last)), *_reordered(x)),
        params=(1,),
        lone=bound * x.peak,
        feel=lambda noise, sample: biased(noise, projected(noise, sample, n, bound), bound),
        cost=_cost(x, shape, n, params=n * out),
    )


def _reordered(x: Value) -> tuple[Fact, ...]:
    """Rows in another order give the same rows in another order."""
    return tuple(f for f in x.facts if f.kind == "perm" and x.rank - 1 not in f.dims)


def _weight(x: Value, out: Size, *, transposed: bool = False) -> Member:
    sides = (out.text, x.feature.text) if transposed else (x.feature.text, out.text)
    return Member(
        "weight", f"nn.Parameter(torch.randn({', '.join(sides)}) * {root_text(x.feature)})"
    )


def _weighted(
    name: str, call: str, layouts: tuple[Layout, ...] = LAST, *, transposed: bool = False
) -> Rule:
    """Make the rule of a product with a bare parameter."""

    def act(dice: Dice, x: Value) -> Applied | Refused:
        if x.made_by[1] == "matmul" or x.feature < LEAST:
            return Refused("repeat")
        out, n = dice.features(x), int(x.feature)
        shape = resized(x.shape, x.rank - 1, out)
        return Applied(
            call=call,
            members=(_weight(x, out, transposed=transposed),),
            shape=shape,
            facts=_reordered(x),
            lone=WEIGHT_BOUND * x.peak / math.sqrt(n),
            feel=lambda noise, sample: projected(noise, sample, n, math.sqrt(3 / n)),
            cost=_cost(x, shape, n, params=n * out),
        )

    return Rule(name, "matmul", act, layouts=layouts, noun="hidden", verb="project")


def _addmm(dice: Dice, x: Value) -> Applied | Refused:
    if x.made_by[1] == "matmul" or x.feature < LEAST:
        return Refused("repeat")
    out, n = dice.features(x), int(x.feature)
    shape = resized(x.shape, 1, out)

    def feel(noise: Noise, sample: Sample) -> Sample:
        sums = projected(noise, sample, n, math.sqrt(3 / n))
        return biased(noise, sums, 0.5 * math.sqrt(3))

    return Applied(
        call="torch.addmm({m0}, {0}, {m1})",
        members=(Member("bias", f"nn.Parameter(torch.randn({out.text}) * 0.5)"), _weight(x, out)),
        shape=shape,
        feel=feel,
        lone=WEIGHT_BOUND * x.peak / math.sqrt(n),
        facts=(Fact("shift", (0,)),),
        params=(1,),
        cost=_cost(x, shape, n, params=n * out),
    )


def likeness(x: Sample, y: Sample) -> float:
    """How far a product of elements at one place stands out from one of any two, a ratio."""
    paired = average(x * y)
    excess = abs(paired - moments(x)[0] * moments(y)[0])
    return float(excess / np.sqrt(np.maximum(power(x) * power(y), 1e-60)))


@dataclass(frozen=True)
class Product:
    """How a product of two batches of matrices is written."""

    call: str
    transposed: bool = False
    """Whether it multiplies by the second operand's transpose."""
    scaled: bool = False
    """Whether it divides by the root of the number of terms."""
    rank: int | None = None
    """Rank that both operands must have; None takes matrices with any leading dimensions."""

    def width(self, x: Value, y: Value) -> Size | None:
        """Columns of the product; None where the operands do not fit."""
        if x is y or x.rank != y.rank or x.rank not in (self.rank or 3, self.rank or 4):
            return None
        if x.shape[:-2] != y.shape[:-2]:
            return None
        rows, columns = y.shape[-2:] if not self.transposed else (y.shape[-1], y.shape[-2])
        fits = x.shape[-1] == rows and max(int(x.shape[-2]), int(columns)) <= LARGEST_SQUARE
        return columns if fits else None


def product(name: str, made: Product, *, uses: tuple[str, ...] = (), weight: float = 1.0) -> Rule:
    """Make the rule of a product of two batches of matrices."""

    def act(_: Dice, x: Value, y: Value) -> Applied | Refused:
        width = made.width(x, y)
        if width is None:
            return Refused("shape")
        terms = x.shape[-1]
        n, factor = int(terms), terms**-0.5 if made.scaled else 1.0
        shape = resized(x.shape, x.rank - 1, width)
        if made.transposed and likeness(x.sample, y.sample) * math.sqrt(n) > DOMINANT:
            return Refused("range")
        return Applied(
            call=made.call,
            members=(Member("scale", root_text(terms)),) if made.scaled else (),
            shape=shape,
            layout="heads" if x.layout == "heads" else "tokens",
            lone=factor * x.peak * y.peak,
            feel=lambda noise, a, b: factor * contracted(noise, a, b, n),
            facts=_product_facts(made, y),
            cost=_cost(x, shape, n, other=y.elements + 2 * made.scaled * math.prod(shape)),
        )

    noun = "scores" if made.transposed else "mixed"
    verb = "correlate with {1}" if made.transposed else "multiply by {1} as matrices"
    return Rule(
        name, "matmul", act, 2, weight=weight, uses=uses, noun=noun, verb=verb,
        layouts=SEQUENCES if made.rank else (*SEQUENCES, "heads"),
        partner=_sequence if made.transposed else _columns,
    )  # fmt: skip


def _product_facts(made: Product, y: Value) -> tuple[Fact, ...]:
    """A shift of every row of *y* alike shifts every column of a product with its transpose."""
    facts = [Fact("scale", tuple(range(y.rank)))] if made.scaled else []
    shifted = {fact.kind for fact in y.facts if made.transposed and y.rank - 2 in fact.dims}
    kinds: tuple[Kind, ...] = ("shift", "bias")
    facts += [Fact(kind, (y.rank - 1,)) for kind in kinds if kind in shifted]
    return tuple(facts)


def _sequence(dice: Dice, x: Value) -> tuple[Layout, Shape]:
    """Another sequence with the same features, of the same length or another."""
    return x.layout, resized(x.shape, max(x.rank - 2, 1), dice.size("context_len", x.shape[0]))


def _columns(dice: Dice, x: Value) -> tuple[Layout, Shape]:
    """A matrix with as many rows as *x* has columns."""
    return x.layout, (*x.shape[:-2], x.shape[-1], dice.features(x))


def root_text(size: Size) -> str:
    """Write one over the root of *size*, as formatters space it."""
    return f"{size.text}**-0.5" if size.text.isidentifier() else f"({size.text}) ** -0.5"


def _cost(x: Value, shape: Shape, n: int, params: int = 0, other: int = 0) -> Cost:
    out = math.prod(map(int, shape))
    return Cost(moved=x.elements + other + out, flops=2 * n * out, params=params)


_CROSS = "{1}.transpose(-2, -1)"
PRODUCTS: tuple[Rule, ...] = (
    Rule("nn.Linear", "matmul", _linear, weight=1.6, layouts=LAST, noun="hidden", verb="project"),
    _weighted("F.linear", "F.linear({0}, {m0})", transposed=True),
    _weighted("torch.matmul", "{0} @ {m0}"),
    _weighted("torch.einsum", "torch.einsum('btd,df->btf', {0}, {m0})", ("tokens",)),
    Rule("torch.addmm", "matmul", _addmm, layouts=("rows",), noun="hidden",
         verb="project and add a bias"),
    product("torch.bmm", Product("torch.bmm({0}, {1})", rank=3)),
    product("torch.bmm", Product(f"torch.bmm({{0}}, {_CROSS})", transposed=True, rank=3),
            uses=("torch.transpose", "torch.bmm")),
    product("torch.bmm", Product(f"torch.bmm({{0}}, {_CROSS}) * {{m0}}", transposed=True,
                                 scaled=True, rank=3),
            uses=("torch.transpose", "torch.bmm", "torch.mul"), weight=0.3),
    product("torch.matmul", Product("{0} @ {1}")),
    product("torch.matmul", Product(f"{{0}} @ {_CROSS} * {{m0}}", transposed=True, scaled=True),
            uses=("torch.transpose", "torch.matmul", "torch.mul"), weight=0.3),
    product("torch.einsum", Product("torch.einsum('bts,bsd->btd', {0}, {1})", rank=3)),
    product("torch.einsum", Product("torch.einsum('btd,bsd->bts', {0}, {1})", transposed=True,
                                    rank=3)),
)  # fmt: skip
"""Matrix products."""
