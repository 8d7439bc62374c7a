"""Normalizations. Their weights start random, so that leaving them out shows."""

import math
from dataclasses import dataclass

from fusewright.operators.catalogue.elementwise import kept
from fusewright.operators.catalogue.noise import Noise
from fusewright.operators.catalogue.rule import Act, Applied, Cost, Dice, Member, Refused, Rule
from fusewright.operators.catalogue.sample import Sample, affine, mapped, moments, power
from fusewright.operators.catalogue.scaling import GAIN, gains
from fusewright.operators.catalogue.value import (
    DIMENSIONED,
    FEATURE,
    NORMAL_BOUND,
    PLACES,
    ROWS_LAST,
    Dims,
    Fact,
    Kind,
    Layout,
    Value,
    others,
)

LEAST = 16
"""Fewest elements worth normalizing over."""

EPSILON = 1e-5
"""What torch adds to a variance; rarely less than that to a mean square."""

WEIGHT = "nn.init.uniform_({0}.weight, 0.5, 1.5)"
BIAS = "nn.init.normal_({0}.bias, std=0.5)"


def standard(sample: Sample) -> Sample:
    """Zero mean, unit variance."""
    mean, deviation = moments(sample)
    spread = math.sqrt(deviation * deviation + EPSILON)
    return affine(sample, -mean / spread, 1 / spread)


def unit_power(sample: Sample) -> Sample:
    """Mean square one."""
    return affine(sample, 0.0, 1 / math.sqrt(power(sample) + EPSILON / 10))


def learned(noise: Noise, sample: Sample) -> Sample:
    """Scale and shift by parameters that start as `WEIGHT` and `BIAS` make them."""
    return mapped(lambda x, w, b: x * w + 0.5 * b, sample, gains(noise, 0), noise.fixed(1))


@dataclass(frozen=True)
class Span:
    """What a norm works over, and what that makes of facts."""

    dims: Dims
    centres: bool = True
    """Whether it subtracts the mean too."""
    affine_dim: int | None = None
    """Dimension along which it then scales and shifts by parameters."""

    def facts(self, x: Value) -> tuple[Fact, ...]:
        """Facts of the result."""
        after = [Fact("mean0", self.dims)] if self.centres else []
        surviving: frozenset[Kind] = frozenset({"perm"} if self.centres else {"perm", "mean0"})
        after += [Fact("var1", self.dims), *kept(x.facts, surviving)]
        if self.affine_dim is not None:
            along = others(x, self.affine_dim)
            after += [Fact("shift", along)] if self.centres else []
            after.append(Fact("scale", along))
        return tuple(after)

    def peak(self, x: Value) -> float:
        """Greatest magnitude of the result: that of one element among zeros, or less."""
        mean, deviation = moments(x.sample)
        far = (x.peak + abs(mean)) / deviation if deviation else 0.0
        lone = math.sqrt(x.count(tuple(dim for dim in self.dims if dim)))
        highest = far if 0 in self.dims else min(far, lone)
        return highest if self.affine_dim is None else GAIN[1] * highest + 0.5 * NORMAL_BOUND

    @property
    def blind(self) -> tuple[Fact, ...]:
        """Facts of the operand that it undoes."""
        kinds: tuple[Kind, ...] = ("scale", "var1", *(("shift",) if self.centres else ()))
        return tuple(Fact(kind, self.dims) for kind in kinds)


def _layer_norm(_: Dice, x: Value) -> Applied | Refused:
    last = x.rank - 1
    if x.size(last) < LEAST:
        return Refused("constant")
    span = Span((last,), affine_dim=last)
    return Applied(
        call="{m0}({0})",
        members=(Member("norm", f"nn.LayerNorm({x.size(last).text})", (WEIGHT, BIAS)),),
        params=(0, 1),
        shape=x.shape,
        feel=lambda noise, sample: learned(noise, standard(sample)),
        cost=Cost(moved=2 * x.elements, params=2 * x.size(last), slowness=1.5),
        facts=span.facts(x),
        blind=span.blind,
        low=-span.peak(x),
        high=span.peak(x),
    )


def _rms_norm(_: Dice, x: Value) -> Applied | Refused:
    last = x.rank - 1
    if x.size(last) < LEAST:
        return Refused("constant")
    span = Span((last,), centres=False, affine_dim=last)
    return Applied(
        call="{m0}({0})",
        members=(Member("norm", f"nn.RMSNorm({x.size(last).text}, eps=1e-6)", (WEIGHT,)),),
        params=(0,),
        shape=x.shape,
        feel=lambda noise, sample: mapped(lambda a, w: a * w, unit_power(sample), gains(noise)),
        cost=Cost(moved=6 * x.elements, params=x.size(last), kernels=4),
        facts=span.facts(x),
        blind=span.blind,
        low=-span.peak(x),
        high=span.peak(x),
    )


def _plain_layer_norm(name: str) -> Act:
    """Act of a functional norm over the last dimension, without parameters."""
    centres = name == "F.layer_norm"

    def act(_: Dice, x: Value) -> Applied | Refused:
        last = x.rank - 1
        if x.size(last) < LEAST:
            return Refused("constant")
        span = Span((last,), centres)
        return Applied(
            call=f"{name}({{0}}, ({{m0}},))",
            members=(Member("normalized_size", x.size(last).text),),
            shape=x.shape,
            feel=lambda _, sample: standard(sample) if centres else unit_power(sample),
            cost=Cost(moved=2 * x.elements, slowness=1.5 if centres else 3.0),
            facts=span.facts(x),
            blind=span.blind,
            low=-span.peak(x),
            high=span.peak(x),
        )

    return act


def _group_norm(dice: Dice, x: Value) -> Applied | Refused:
    groups = dice.one_of((2, 4, 8, 16))
    if x.feature % groups or x.feature < 2 * groups or x.elements // groups < LEAST:
        return Refused("shape")
    span = Span(tuple(range(1, x.rank)), affine_dim=1)
    member = Member("norm", f"nn.GroupNorm({groups}, {x.feature.text})", (WEIGHT, BIAS))
    return Applied(
        call="{m0}({0})",
        members=(member,),
        params=(0, 1),
        shape=x.shape,
        feel=lambda noise, sample: learned(noise, standard(sample)),
        cost=Cost(moved=2 * x.elements, params=2 * x.feature, slowness=2.0),
        facts=span.facts(x),
        blind=span.blind,
        low=-span.peak(x),
        high=span.peak(x),
    )


def _plain_group_norm(dice: Dice, x: Value) -> Applied | Refused:
    groups = dice.one_of((2, 4, 8))
    if x.feature % groups or x.feature < 2 * groups or x.elements // groups < LEAST:
        return Refused("shape")
    span = Span(tuple(range(1, x.rank)))
    return Applied(
        call=f"F.group_norm({{0}}, {groups})",
        shape=x.shape,
        feel=lambda _, sample: standard(sample),
        cost=Cost(moved=2 * x.elements, slowness=2.0),
        facts=span.facts(x),
        blind=span.blind,
        low=-span.peak(x),
        high=span.peak(x),
    )


def _spatial_norm(kind: str, rank: int) -> Act:
    """Act of batch or instance norm over *rank* positional dimensions."""
    batch = kind == "BatchNorm"
    settings = "track_running_stats=False" if batch else "affine=True"

    def act(_: Dice, x: Value) -> Applied | Refused:
        places = tuple(range(2, x.rank))
        if not batch and x.count(places) < LEAST:
            return Refused("constant")
        span = Span((0, *places) if batch else places, affine_dim=1)
        build = f"nn.{kind}{rank}d({x.feature.text}, {settings})"
        return Applied(
            call="{m0}({0})",
            members=(Member("norm", build, (WEIGHT, BIAS)),),
            params=(0, 1),
            shape=x.shape,
            feel=lambda noise, sample: learned(noise, standard(sample)),
            cost=Cost(moved=3 * x.elements, params=2 * x.feature, slowness=1.3),
            facts=span.facts(x),
            blind=span.blind,
            low=-span.peak(x),
            high=span.peak(x),
        )

    return act


def _plain_instance_norm(_: Dice, x: Value) -> Applied | Refused:
    places = tuple(range(2, x.rank))
    if x.count(places) < LEAST:
        return Refused("constant")
    span = Span(places)
    return Applied(
        call="F.instance_norm({0})",
        shape=x.shape,
        feel=lambda _, sample: standard(sample),
        cost=Cost(moved=3 * x.elements, slowness=1.3),
        facts=span.facts(x),
        blind=span.blind,
        low=-span.peak(x),
        high=span.peak(x),
    )


def _normalize(dice: Dice, x: Value) -> Applied | Refused:
    dim = FEATURE[x.layout] if dice.chance(0.7) else x.rank - 1
    n = int(x.size(dim))
    if n < LEAST:
        return Refused("constant")
    return Applied(
        call=f"F.normalize({{0}}, dim={dim})",
        shape=x.shape,
        low=-1.0 if x.low < 0 else 0.0,
        high=1.0 if x.high > 0 else 0.0,
        facts=(Fact("norm1", (dim,)), *kept(x.facts, frozenset({"perm"}))),
        blind=(Fact("scale", (dim,)), Fact("norm1", (dim,)), Fact("var1", (dim,))),
        feel=lambda _, sample: affine(unit_power(sample), 0.0, 1 / math.sqrt(n)),
        cost=Cost(moved=4 * x.elements, kernels=3),
    )


def _local_response(dice: Dice, x: Value) -> Applied | Refused:
    if x.feature < LEAST:
        return Refused("shape")
    size, alpha = dice.one_of((3, 5)), dice.one_of((1.0, 0.5))
    return Applied(
        call="{m0}({0})",
        members=(Member("norm", f"nn.LocalResponseNorm({size}, alpha={alpha}, beta=0.75)"),),
        shape=x.shape,
        low=min(x.low, 0.0),
        high=max(x.high, 0.0),
        feel=lambda noise, sample: mapped(
            lambda a, m: a / (1 + alpha * abs(m)) ** 0.75,
            sample,
            affine(noise.drawn(), power(sample), power(sample) * math.sqrt(2 / size)),
        ),
        cost=Cost(moved=14 * x.elements, kernels=7),
    )


def _rule(name: str, act: Act, verb: str, layouts: tuple[Layout, ...], weight: float = 1.0) -> Rule:
    return Rule(name, "norm", act, weight=weight, layouts=layouts, verb=verb)


NORMS: tuple[Rule, ...] = (
    _rule("nn.LayerNorm", _layer_norm, "layer-normalize", ROWS_LAST, 1.5),
    _rule("nn.RMSNorm", _rms_norm, "RMS-normalize", ROWS_LAST, 1.3),
    _rule("F.layer_norm", _plain_layer_norm("F.layer_norm"), "layer-normalize",
          (*ROWS_LAST, "signal"), 0.7),
    _rule("F.rms_norm", _plain_layer_norm("F.rms_norm"), "RMS-normalize",
          (*ROWS_LAST, "signal"), 0.7),
    _rule("nn.GroupNorm", _group_norm, "normalize groups of channels", PLACES, 1.3),
    _rule("F.group_norm", _plain_group_norm, "normalize groups of channels", PLACES, 0.6),
    _rule("nn.BatchNorm1d", _spatial_norm("BatchNorm", 1), "batch-normalize", ("rows", "signal")),
    _rule("nn.BatchNorm2d", _spatial_norm("BatchNorm", 2), "batch-normalize", ("image",)),
    _rule("nn.BatchNorm3d", _spatial_norm("BatchNorm", 3), "batch-normalize", ("volume",)),
    *(_rule(f"nn.InstanceNorm{n}d", _spatial_norm("InstanceNorm", n), "instance-normalize",
            (PLACES[n - 1],), 0.8) for n in (1, 2, 3)),
    _rule("F.instance_norm", _plain_instance_norm, "instance-normalize", PLACES, 0.5),
    _rule("F.normalize", _normalize, "normalize to unit length", DIMENSIONED),
    _rule("nn.LocalResponseNorm", _local_response, "normalize across channels",
          ("image", "signal"), 0.5),
)  # fmt: skip
"""Normalizations."""
