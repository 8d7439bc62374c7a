"""What an operator does to typed values: a rule, and what follows from applying it."""

import contextlib
import math
from bisect import bisect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal, NamedTuple, TypeVar

from fusewright.operators.catalogue.once import once
from fusewright.operators.catalogue.sample import Sample
from fusewright.operators.catalogue.size import Size
from fusewright.operators.catalogue.value import Fact, Layout, Shape, Value

T = TypeVar("T")

Feel = Callable[..., Sample]
"""`feel(noise, *samples)`: what the operator makes of a few elements of its operands."""


@dataclass(frozen=True)
class Refused:
    """Why an operator would be invalid, or would do nothing, for these operands."""

    reason: Literal["shape", "domain", "range", "constant", "dead", "repeat"]


class Cost(NamedTuple):
    """What eager execution of one operator costs; a person can follow it with a pencil."""

    moved: int
    """Elements read and written for one item of the batch."""
    flops: int = 0
    """Floating-point operations of products for one item of the batch."""
    params: int = 0
    """Elements of parameters, read once whatever the batch."""
    kernels: int = 1
    """Kernels that PyTorch launches."""
    unit: Literal["matmul", "conv", "attention"] = "matmul"
    """Which peak bounds the operations."""
    slowness: float = 1.0
    """Time over that of a plain copy of the same bytes."""


class Member(NamedTuple):
    """What `__init__` makes for an operator: a module, a parameter or a number."""

    name: str
    """Attribute that a person would choose: `conv`, `scale`."""
    build: str
    """Expression that makes it; `{bias}` is where `, bias=False` would go."""
    after: tuple[str, ...] = ()
    """Statements that follow, `{0}` being the attribute."""


class Applied(NamedTuple):
    """An operator with its operands chosen: everything that follows from that."""

    call: str
    """Expression: `{0}`, `{1}` are operands, `{m0}`, `{m1}` members."""
    shape: Shape
    feel: Feel
    cost: Cost
    layout: Layout | None = None
    """Layout of the result; None keeps the first operand's."""
    low: float | None = None
    """Least element; None leaves it to the sample, and so does `high`."""
    high: float | None = None
    params: tuple[int, ...] = ()
    """Columns of fixed noise that each stand for a parameter."""
    lone: float = 0.0
    """What one extreme element of the operands adds to a sum over many, at most."""
    members: tuple[Member, ...] = ()
    facts: tuple[Fact, ...] = ()
    blind: tuple[Fact, ...] = ()
    """Facts of the first operand that would make this do nothing, or give a constant."""
    blind_others: tuple[tuple[int, Fact], ...] = ()
    """The same for further operands, by index."""


Act = Callable[..., Applied | Refused]
"""`act(dice, *operands)`."""


@dataclass(frozen=True)
class Rule:
    """One way to use one operator."""

    name: str
    """Name as a person writes it, and as a trace shows it: `F.gelu`."""
    family: str
    act: Act
    arity: int = 1
    weight: float = 1.0
    """How often it is drawn, relative to others of its family."""
    uses: tuple[str, ...] = ()
    """Operators of the expression, in order of execution; empty means just `name`."""
    layouts: tuple[Layout, ...] = ()
    """Layouts that its first operand may have; empty means any."""
    noun: str = ""
    """What a person would call the result."""
    verb: str = ""
    """What it does, for a docstring: `apply GELU`; `{1}` is the second operand."""
    partner: Callable[["Dice", Value], tuple[Layout, Shape]] | None = None
    """Shape of an input that fits as the next operand; None means the first operand's."""

    @once
    def ops(self) -> tuple[str, ...]:
        """Operators that a trace of the expression shows."""
        return self.uses or (self.name,)


class Dice:
    """The random choices of one graph; equal seeds choose alike."""

    def __init__(self, random: Random, sizes: Mapping[str, Sequence[int]]) -> None:
        self._random = random
        self._sizes = sizes
        self._pinned: Size | None = None
        self.named: dict[str, int] = {}
        """Value of every size that was drawn, by its name."""

    def chance(self, probability: float) -> bool:
        """Whether something of this *probability* happens."""
        return self._random.random() < probability

    def one_of(self, options: Sequence[T]) -> T:
        """Choose among *options* alike."""
        return self._random.choice(options)

    def weighted(self, options: Sequence[T], weights: Sequence[float]) -> T:
        """Choose among *options* by *weights*."""
        return self._random.choices(options, weights)[0]

    def cumulated(self, options: Sequence[T], sums: Sequence[float]) -> T:
        """Choose as `weighted` does, by the running *sums* of the weights."""
        return options[bisect(sums, self._random.random() * sums[-1], 0, len(sums) - 1)]

    def between(self, low: float, high: float) -> float:
        """Choose between *low* and *high*, alike on a logarithmic scale."""
        return low * math.exp(self._random.random() * math.log(high / low))

    def shuffled(self, options: Sequence[T]) -> list[T]:
        """*options* in a random order."""
        return self._random.sample(options, len(options))

    def size(self, role: str, like: Size | None = None) -> Size:
        """Choose a size for *role*; half of the time *like*, where it is given."""
        if like is not None and self.chance(0.5):
            return like
        return self.name(role, self._random.choice(self._sizes[role]))

    def name(self, role: str, value: int) -> Size:
        """Give *value* a name of its own, for *role*."""
        name = f"{role}{len(self.named)}"
        self.named[name] = value
        return Size(value, name)

    @contextlib.contextmanager
    def pinned(self, features: Size) -> Iterator[None]:
        """Let every choice of *features* in the block be this one."""
        self._pinned = features
        try:
            yield
        finally:
            self._pinned = None

    def features(self, value: Value) -> Size:
        """Choose a number of features for what follows *value*."""
        if self._pinned is not None:
            return self._pinned
        role = {"rows": "features", "tokens": "dims", "heads": "head_dims"}
        like = value.feature if value.feature > 1 else None
        return self.size(role.get(value.layout, "channels"), like)
