"""Convolutions of one, two and three dimensions, and their transposes."""

import math
from dataclasses import dataclass

from fusewright.operators.catalogue.products import WEIGHT_BOUND, biased, projected, root_text
from fusewright.operators.catalogue.rule import Act, Applied, Cost, Dice, Member, Refused, Rule
from fusewright.operators.catalogue.size import Size
from fusewright.operators.catalogue.value import PLACES, Fact, Shape, Value, others


@dataclass(frozen=True)
class Window:
    """How a convolution slides."""

    kernel: int
    stride: int = 1
    padding: int = 0
    dilation: int = 1

    def arguments(self) -> str:
        """Keyword arguments but for the kernel's size, defaults left out."""
        pairs = (("stride", self.stride, 1), ("padding", self.padding, 0),
                 ("dilation", self.dilation, 1))  # fmt: skip
        return "".join(f", {name}={value}" for name, value, default in pairs if value != default)

    def out(self, size: Size) -> Size | None:
        """Size of a dimension after the convolution; None where it leaves a remainder."""
        if self.stride > 1:
            return size // self.stride if size % self.stride == 0 else None
        lost = self.dilation * (self.kernel - 1) - 2 * self.padding
        return (size - lost if lost else size) if size > lost else None


_ODD = (Window(1), Window(3, padding=1), Window(3, padding=1), Window(3), Window(5, padding=2),
        Window(7, padding=3), Window(3, padding=2, dilation=2))  # fmt: skip
_HALVING = (Window(3, stride=2, padding=1), Window(5, stride=2, padding=2))
_SMALL = (Window(1), Window(3, padding=1), Window(3, padding=1), Window(3, stride=2, padding=1))
WINDOWS: dict[int, tuple[Window, ...]] = {1: _ODD + _HALVING, 2: _ODD + _HALVING, 3: _SMALL}
"""Windows by number of positional dimensions."""


def slid(x: Value, window: Window, features: Size) -> Shape | None:
    """Shape of *x* after *window* slid over it; None where it does not fit."""
    places = [window.out(size) for size in x.shape[1:]]
    known = tuple(size for size in places if size is not None and size > 0)
    return (features, *known) if len(known) == len(places) else None


def _groups(dice: Dice, x: Value) -> tuple[int, bool]:
    """Groups of a convolution, and whether there is one a channel."""
    if dice.chance(0.15):
        return int(x.feature), True
    return (4 if x.feature % 4 == 0 and dice.chance(0.1) else 1), False


def _module(n: int) -> Act:
    def act(dice: Dice, x: Value) -> Applied | Refused:
        if x.made_by[1] == "conv":
            return Refused("repeat")
        window = dice.one_of(WINDOWS[n])
        groups, depthwise = _groups(dice, x)
        out = x.feature if depthwise else dice.features(x)
        shape = slid(x, window, out)
        if shape is None or out % groups:
            return Refused("shape")
        fan_in = int(x.feature) // groups * window.kernel**n
        bound = 1 / math.sqrt(fan_in)
        grouped = f", groups={x.feature.text if depthwise else groups}" if groups > 1 else ""
        build = (
            f"nn.Conv{n}d({x.feature.text}, {out.text}, kernel_size={window.kernel}"
            f"{window.arguments()}{grouped}{{bias}})"
        )
        return Applied(
            call="{m0}({0})",
            members=(Member("conv", build),),
            shape=shape,
            facts=(Fact("bias", others(x, 1)), *_reordered(x), *_shifted(x)),
            params=(1,),
            lone=bound * x.peak,
            feel=lambda noise, s: biased(noise, projected(noise, s, fan_in, bound), bound),
            cost=_cost(x, shape, fan_in, groups),
        )

    return act


def _function(n: int) -> Act:
    """Convolution by a bare parameter."""

    def act(dice: Dice, x: Value) -> Applied | Refused:
        if x.made_by[1] == "conv":
            return Refused("repeat")
        window, out = dice.one_of(WINDOWS[n]), dice.features(x)
        shape = slid(x, window, out)
        if shape is None:
            return Refused("shape")
        cells = window.kernel**n
        fan_in = int(x.feature) * cells
        sides = ", ".join([out.text, x.feature.text, *[str(window.kernel)] * n])
        scale = root_text(x.feature * cells if cells > 1 else x.feature)
        return Applied(
            call=f"F.conv{n}d({{0}}, {{m0}}{window.arguments()})",
            members=(Member("weight", f"nn.Parameter(torch.randn({sides}) * {scale})"),),
            shape=shape,
            facts=(*_reordered(x), *_shifted(x)),
            lone=WEIGHT_BOUND * x.peak / math.sqrt(fan_in),
            feel=lambda noise, s: projected(noise, s, fan_in, math.sqrt(3 / fan_in)),
            cost=_cost(x, shape, fan_in, 1),
        )

    return act


def _transposed(n: int) -> Act:
    def act(dice: Dice, x: Value) -> Applied | Refused:
        if x.made_by[1] == "conv":
            return Refused("repeat")
        kernel, settings = dice.one_of(
            ((2, ""), (4, ", padding=1"), (3, ", padding=1, output_padding=1"))
        )
        out = dice.features(x)
        shape = (out, *(2 * size for size in x.shape[1:]))
        # A stride of 2 lets each output see every other tap in each dimension.
        terms = x.feature * kernel**n / 2**n
        bound = 1 / math.sqrt(out * kernel**n)
        build = (
            f"nn.ConvTranspose{n}d({x.feature.text}, {out.text}, kernel_size={kernel}, "
            f"stride=2{settings}{{bias}})"
        )
        return Applied(
            call="{m0}({0})",
            members=(Member("upconv", build),),
            shape=shape,
            facts=(Fact("bias", others(x, 1)), *_reordered(x), *_shifted(x)),
            params=(1,),
            lone=bound * x.peak,
            feel=lambda noise, s: biased(noise, projected(noise, s, terms, bound), bound),
            cost=_cost(x, shape, math.ceil(terms), 1),
        )

    return act


def _shifted(x: Value) -> tuple[Fact, ...]:
    """What is constant along the positions stays so, but for the border."""
    places = tuple(range(2, x.rank))
    kinds = ("shift", "bias")
    held = any(fact.kind in kinds and set(places) <= set(fact.dims) for fact in x.facts)
    return (Fact("shift", places),) if held else ()


def _reordered(x: Value) -> tuple[Fact, ...]:
    """Positions in another order give sums in another order, but for those at the border."""
    return tuple(fact for fact in x.facts if fact.kind == "perm" and 1 not in fact.dims)


def _cost(x: Value, shape: Shape, fan_in: int, groups: int) -> Cost:
    out = math.prod(map(int, shape))
    return Cost(
        moved=x.elements + out,
        flops=2 * fan_in * out,
        params=fan_in * int(shape[0]),
        unit="conv",
        # Depthwise kernels reach a fraction of the bandwidth.
        slowness=1.0 if groups == 1 else 2.5,
    )


def _rule(name: str, n: int, act: Act, verb: str, weight: float) -> Rule:
    layouts = (PLACES[n - 1],)
    return Rule(name, "conv", act, weight=weight, layouts=layouts, noun="convolved", verb=verb)


CONVOLUTIONS: tuple[Rule, ...] = (
    *(_rule(f"nn.Conv{n}d", n, _module(n), "convolve", 1.8) for n in (1, 2, 3)),
    *(_rule(f"F.conv{n}d", n, _function(n), "convolve", 0.6) for n in (1, 2, 3)),
    *(_rule(f"nn.ConvTranspose{n}d", n, _transposed(n), "upsample by a transposed convolution", 0.8)
      for n in (1, 2, 3)),
)  # fmt: skip
"""Convolutions."""
