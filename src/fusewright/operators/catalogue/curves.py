"""Mathematical functions of one tensor, drawn only where the operand lies in their domain."""

import math

from fusewright.operators.catalogue.activations import exp
from fusewright.operators.catalogue.elementwise import Curve, unary
from fusewright.operators.catalogue.rule import Rule
from fusewright.operators.catalogue.value import Kind

POSITIVE = (0.0, math.inf)
BELOW = (-math.inf, 25.0)
"""Domain of exponentials, so that their squares still fit float32."""
WIDEST = 3.0
"""Greatest deviation worth exponentiating: TF32 errs by about 1e-3 of it."""
_POWER: frozenset[Kind] = frozenset({"perm", "scale"})
"""Facts that survive a power: it takes a factor to a factor."""


def _square(x: float) -> float:
    return x * x


def _entropy(x: float) -> float:
    return -x * math.log(x) if x > 0 else 0.0


def _sinc(x: float) -> float:
    return math.sin(math.pi * x) / (math.pi * x) if x else 1.0


def _log_normal_cdf(x: float) -> float:
    if x < -10:  # noqa: PLR2004 -- erfc has no digits left; the first terms of its expansion do
        return -0.5 * x * x - math.log(-x * math.sqrt(2 * math.pi))
    return math.log(0.5 * math.erfc(-x / math.sqrt(2)))


def _clamp(low: float, high: float) -> tuple[str, Curve]:
    return f"min={low}, max={high}", Curve(lambda x: min(max(x, low), high))


_SQUARE = Curve(_square, turns=(0.0,), keeps=_POWER)
CURVES: tuple[Rule, ...] = (
    unary("torch.exp", ("", Curve(exp, domain=BELOW, widest=WIDEST)), verb="exponentiate"),
    unary("torch.expm1", ("", Curve(lambda x: exp(x) - 1, domain=BELOW, widest=WIDEST)),
          verb="exponentiate and subtract one"),
    unary("torch.exp2", ("", Curve(lambda x: exp(x * math.log(2)), domain=BELOW, widest=WIDEST)),
          verb="raise two to its power"),
    unary("torch.log1p", ("", Curve(math.log1p, domain=POSITIVE)), weight=3.0,
          verb="compress by log1p"),
    unary("torch.sqrt", ("", Curve(math.sqrt, domain=POSITIVE, keeps=_POWER)), weight=3.0,
          verb="take the root"),
    unary("torch.square", ("", _SQUARE), verb="square"),
    unary("torch.abs", ("", Curve(abs, turns=(0.0,), keeps=_POWER)), verb="take magnitudes"),
    unary("torch.pow", ("3", Curve(lambda x: x**3, keeps=_POWER)),
          ("2", _SQUARE), verb="raise to a power"),
    unary("torch.sin", ("", Curve(math.sin, bounds=(-1.0, 1.0), widest=WIDEST)),
          verb="take the sine"),
    unary("torch.cos", ("", Curve(math.cos, bounds=(-1.0, 1.0), widest=WIDEST)),
          verb="take the cosine"),
    unary("torch.sinc", ("", Curve(_sinc, bounds=(-0.22, 1.0), widest=WIDEST)), verb="apply sinc"),
    unary("torch.erf", ("", Curve(math.erf)), verb="apply the error function"),
    unary("torch.atan", ("", Curve(math.atan)), verb="take the arctangent"),
    unary("torch.asinh", ("", Curve(math.asinh)), slowness=2.0, verb="compress by asinh"),
    unary("torch.clamp", _clamp(-1.0, 1.0), _clamp(-2.0, 0.5), _clamp(0.0, 1.0), verb="clamp"),
    unary("torch.clamp_min", ("0.1", Curve(lambda x: max(x, 0.1))), verb="clamp from below"),
    unary("torch.special.entr", ("", Curve(_entropy, domain=(0.0, 1.0), bounds=(0.0, 0.37))),
          verb="take entropies", weight=3.0),
    unary("torch.special.ndtr", ("", Curve(lambda x: 0.5 * math.erfc(-x / math.sqrt(2)))),
          passes=8,
          verb="apply the normal distribution function"),
    unary("torch.special.log_ndtr", ("", Curve(_log_normal_cdf)),
          slowness=5.0, verb="take the log of the normal distribution function"),
)  # fmt: skip
"""Functions of one tensor."""
