"""Pooling and resampling."""

import math
from collections.abc import Callable

from fusewright.operators.catalogue.elementwise import kept
from fusewright.operators.catalogue.noise import Noise
from fusewright.operators.catalogue.reductions import averaged, greatest, norms
from fusewright.operators.catalogue.rule import Act, Applied, Cost, Dice, Member, Refused, Rule
from fusewright.operators.catalogue.sample import Sample, rolled
from fusewright.operators.catalogue.size import ONE, Size
from fusewright.operators.catalogue.value import PLACES, WITHIN, Dims, Fact, Kind, Shape, Value

LEAST = 4
"""Fewest positions worth enlarging."""

SUMMED: tuple[Kind, ...] = ("perm", "mean0", "sum1")
"""Facts along the positions that leave nothing to learn from pooling all of them."""

Feel = Callable[[Noise, Sample, int], Sample]


def _shrunk(x: Value, kernel: int) -> Shape | None:
    """Shape after pooling by windows of *kernel* that do not overlap."""
    if any(size % kernel for size in x.shape[1:]):
        return None
    return (x.feature, *(size // kernel for size in x.shape[1:]))


def pooled_facts(x: Value, feel: Feel) -> tuple[Fact, ...]:
    """Facts that pooling by *feel* leaves, and the one that it adds."""
    extreme = (Fact("extreme", tuple(range(2, x.rank))),) if feel is greatest else ()
    return (*kept(x.facts, WITHIN | {"perm"}), *extreme)


def _windowed(name: str, n: int, feel: Feel) -> Act:
    """Act of a pool over windows side by side, or overlapping ones that keep the size."""

    def act(dice: Dice, x: Value) -> Applied | Refused:
        same = dice.chance(0.25)
        kernel = 3 if same else dice.one_of((2, 2, 4))
        shape = x.shape if same else _shrunk(x, kernel)
        if shape is None or min(map(int, x.shape[1:])) < kernel:
            return Refused("shape")
        settings = f"{kernel}, stride=1, padding=1" if same else str(kernel)
        module, cells = name.startswith("nn."), kernel**n
        return Applied(
            call="{m0}({0})" if module else f"{name}({{0}}, {settings})",
            members=(Member("pool", f"{name}({settings})"),) if module else (),
            shape=shape,
            # Averages over a border count its zeros.
            low=min(x.low, 0.0) if same else x.low,
            high=max(x.high, 0.0) if same else x.high,
            facts=pooled_facts(x, feel),
            feel=lambda noise, sample: feel(noise, sample, cells),
            cost=Cost(
                # A maximum is written with its index, eight bytes wide.
                moved=x.elements + (3 if feel is greatest else 1) * math.prod(map(int, shape)),
                slowness=n + (2.0 if same else 0.0),
            ),
        )

    return act


def _power_windowed(name: str, n: int, feel: Feel) -> Act:
    """Act of a pool that takes the norm over windows side by side."""

    def act(dice: Dice, x: Value) -> Applied | Refused:
        kernel = dice.one_of((2, 4))
        shape = _shrunk(x, kernel)
        if shape is None:
            return Refused("shape")
        if x.low < 0:
            return Refused("domain")
        out = math.prod(map(int, shape))
        return Applied(
            call=f"{name}({{0}}, 2.0, {kernel})",
            shape=shape,
            low=0.0,
            high=x.peak * kernel ** (n / 2),
            facts=kept(x.facts, frozenset({"scale"})),
            feel=lambda noise, sample: feel(noise, sample, kernel**n),
            cost=Cost(moved=3 * x.elements + 15 * out, kernels=8),
        )

    return act


def _adaptive(name: str, n: int, feel: Feel) -> Act:
    """Act of a pool to a given size: one, or a quarter of each dimension."""

    def act(dice: Dice, x: Value) -> Applied | Refused:
        target = 1 if dice.chance(0.6) else dice.one_of((4, 8))
        if any(size % target or size < 2 * target for size in x.shape[1:]):
            return Refused("shape")
        places: Dims = tuple(range(2, x.rank))
        cells = x.count(places) // target**n
        module = name.startswith("nn.")
        side = ONE if target == 1 else Size(target)
        return Applied(
            call="{m0}({0})" if module else f"{name}({{0}}, {target})",
            members=(Member("pool", f"{name}({target})"),) if module else (),
            shape=(x.feature, *(side for _ in places)),
            low=x.low,
            high=x.high,
            blind=tuple(Fact(kind, places) for kind in SUMMED) if target == 1 else (),
            facts=pooled_facts(x, feel),
            feel=lambda noise, sample: feel(noise, sample, cells),
            cost=Cost(moved=x.elements + int(x.feature) * target**n, slowness=2.0),
        )

    return act


def _resampled(name: str) -> Act:
    """Act of an enlargement by two."""

    def act(dice: Dice, x: Value) -> Applied | Refused:
        if min(map(int, x.shape[1:])) < LEAST:
            return Refused("shape")
        smooth = ("linear", "bilinear", "trilinear")[x.rank - 3]
        mode = dice.one_of(("nearest", smooth))
        settings = f"scale_factor=2, mode='{mode}'"
        module, n = name.startswith("nn."), x.rank - 2
        return Applied(
            call="{m0}({0})" if module else f"{name}({{0}}, {settings})",
            members=(Member("upsample", f"{name}({settings})"),) if module else (),
            shape=(x.feature, *(2 * size for size in x.shape[1:])),
            low=x.low,
            high=x.high,
            facts=kept(x.facts, WITHIN | {"perm", "extreme"}),
            feel=lambda noise, s: rolled(s) if mode == "nearest" else averaged(noise, s, 2),
            cost=Cost(moved=x.elements * (1 + 2**n), slowness=1.5 if mode == "nearest" else 3.0),
        )

    return act


def _pools(name: str, made: Callable[..., Act], feel: Feel, weight: float = 1.0) -> list[Rule]:
    """Make the rules of a pool of one, two and three dimensions."""
    plain = name.lower().replace("_", "")
    how = "average" if "avg" in plain else "max" if "max" in plain else "power-average"
    return [
        Rule(f"{name}{n}d", "pool", made(f"{name}{n}d", n, feel), weight=weight, noun="pooled",
             layouts=(PLACES[n - 1],), verb=f"{how}-pool")
        for n in (1, 2, 3)
    ]  # fmt: skip


def _resample(name: str) -> Rule:
    return Rule(
        name, "resample", _resampled(name), layouts=PLACES, noun="upsampled", verb="upsample"
    )


POOLS: tuple[Rule, ...] = (
    *_pools("F.max_pool", _windowed, greatest),
    *_pools("F.avg_pool", _windowed, averaged),
    *_pools("nn.MaxPool", _windowed, greatest, 0.6),
    *_pools("nn.AvgPool", _windowed, averaged, 0.6),
    *_pools("F.lp_pool", _power_windowed, norms)[:2],
    *_pools("F.adaptive_avg_pool", _adaptive, averaged, 0.7),
    *_pools("F.adaptive_max_pool", _adaptive, greatest, 0.5),
    *_pools("nn.AdaptiveAvgPool", _adaptive, averaged, 0.5),
)
"""Pools."""

RESAMPLES: tuple[Rule, ...] = (_resample("F.interpolate"), _resample("nn.Upsample"))
"""Enlargements."""
