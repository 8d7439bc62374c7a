"""What a normalization works over, and all that follows from that alone."""

import math
from dataclasses import dataclass

import numpy as np

from fusewright.operators.catalogue.elementwise import kept
from fusewright.operators.catalogue.noise import Noise
from fusewright.operators.catalogue.rule import Applied, Cost, Member
from fusewright.operators.catalogue.sample import Sample, moments, power
from fusewright.operators.catalogue.scaling import GAIN, gains
from fusewright.operators.catalogue.value import NORMAL_BOUND, Dims, Fact, Kind, Value, others

EPSILON = 1e-5
"""What torch adds to a variance; rarely less than that to a mean square."""
WEIGHT = "nn.init.uniform_({0}.weight, 0.5, 1.5)"
BIAS = "nn.init.normal_({0}.bias, std=0.5)"


def standard(sample: Sample) -> Sample:
    """Zero mean, unit variance."""
    mean, deviation = moments(sample)
    return (sample - mean) / np.sqrt(deviation * deviation + EPSILON)


def unit_power(sample: Sample) -> Sample:
    """Mean square one."""
    return sample / np.sqrt(power(sample) + EPSILON / 10)


@dataclass(frozen=True)
class Span:
    """Dimensions that a norm works over, and what it does beside scaling."""

    dims: Dims
    centres: bool = True
    """Whether it subtracts the mean too."""
    affine_dim: int | None = None
    """Dimension along which it then scales, and shifts if it centres, by parameters."""

    def applied(self, x: Value, call: str, cost: Cost, members: tuple[Member, ...] = ()) -> Applied:
        """Apply a norm over these dimensions to *x*."""
        peak = self._peak(x)
        learns = (0, 1) if self.centres else (0,)
        return Applied(
            call=call,
            members=members,
            params=learns if self.affine_dim is not None else (),
            shape=x.shape,
            low=-peak,
            high=peak,
            facts=self._facts(x),
            blind=self._blind(),
            feel=self._feel,
            cost=cost,
        )

    def initial(self) -> tuple[str, ...]:
        """Statements that make the parameters random."""
        return (WEIGHT, BIAS) if self.centres else (WEIGHT,)

    def _feel(self, noise: Noise, sample: Sample) -> Sample:
        plain = standard(sample) if self.centres else unit_power(sample)
        if self.affine_dim is None:
            return plain
        scaled = plain * gains(noise, 0)
        if not self.centres:
            return scaled
        return scaled + 0.5 * noise.fixed(1)

    def _facts(self, x: Value) -> tuple[Fact, ...]:
        surviving: frozenset[Kind] = frozenset({"perm"} if self.centres else {"perm", "mean0"})
        after = [Fact("var1", self.dims), *kept(x.facts, surviving)]
        after += [Fact("mean0", self.dims)] if self.centres else []
        if self.affine_dim is not None:
            along = others(x, self.affine_dim)
            after += [Fact("shift", along)] if self.centres else []
            after.append(Fact("scale", along))
        return tuple(after)

    def _blind(self) -> tuple[Fact, ...]:
        kinds: tuple[Kind, ...] = ("scale", "var1", *(("shift",) if self.centres else ()))
        return tuple(Fact(kind, self.dims) for kind in kinds)

    def _peak(self, x: Value) -> float:
        """Greatest magnitude of the result: that of one element among zeros, or less."""
        far = (x.peak + abs(x.mean)) / math.sqrt(x.deviation * x.deviation + EPSILON)
        lone = math.sqrt(x.count(tuple(dim for dim in self.dims if dim)))
        highest = far if 0 in self.dims else min(far, lone)
        return highest if self.affine_dim is None else GAIN[1] * highest + 0.5 * NORMAL_BOUND
