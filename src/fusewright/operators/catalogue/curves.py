"""Mathematical functions of one tensor, drawn only where the operand lies in their domain."""

import math

import numpy as np

from fusewright.operators.catalogue.elementwise import Curve, unary
from fusewright.operators.catalogue.functions import (
    clipped,
    entropy,
    erf,
    exp,
    log_normal_cdf,
    normal_cdf,
)
from fusewright.operators.catalogue.rule import Rule
from fusewright.operators.catalogue.sample import Sample
from fusewright.operators.catalogue.value import Kind

POSITIVE = (0.0, math.inf)
BELOW = (-math.inf, 25.0)
"""Domain of exponentials, so that their squares still fit float32."""
WIDEST = 3.0
"""Greatest deviation worth exponentiating: TF32 errs by about 1e-3 of it."""
_POWER: frozenset[Kind] = frozenset({"perm", "scale"})
"""Facts that survive a power: it takes a factor to a factor."""


def _square(x: Sample) -> Sample:
    return x * x


def _clamp(low: float, high: float) -> tuple[str, Curve]:
    return f"min={low}, max={high}", Curve(lambda x: clipped(x, low, high))


_SQUARE = Curve(_square, turns=(0.0,), keeps=_POWER)
CURVES: tuple[Rule, ...] = (
    unary("torch.exp", ("", Curve(exp, domain=BELOW, widest=WIDEST)), verb="exponentiate"),
    unary("torch.expm1", ("", Curve(lambda x: exp(x) - 1, domain=BELOW, widest=WIDEST)),
          verb="exponentiate and subtract one"),
    unary("torch.exp2", ("", Curve(lambda x: exp(x * math.log(2)), domain=BELOW, widest=WIDEST)),
          verb="raise two to its power"),
    unary("torch.log1p", ("", Curve(np.log1p, domain=POSITIVE)), weight=3.0,
          verb="compress by log1p"),
    unary("torch.sqrt", ("", Curve(np.sqrt, domain=POSITIVE, keeps=_POWER)), weight=3.0,
          verb="take the root"),
    unary("torch.square", ("", _SQUARE), verb="square"),
    unary("torch.abs", ("", Curve(np.abs, turns=(0.0,), keeps=_POWER)), verb="take magnitudes"),
    unary("torch.pow", ("3", Curve(lambda x: x * x * x, keeps=_POWER)),
          ("2", _SQUARE), verb="raise to a power"),
    unary("torch.sin", ("", Curve(np.sin, bounds=(-1.0, 1.0), widest=WIDEST)),
          verb="take the sine"),
    unary("torch.cos", ("", Curve(np.cos, bounds=(-1.0, 1.0), widest=WIDEST)),
          verb="take the cosine"),
    unary("torch.sinc", ("", Curve(np.sinc, bounds=(-0.22, 1.0), widest=WIDEST)),
          verb="apply sinc"),
    unary("torch.erf", ("", Curve(erf)), verb="apply the error function"),
    unary("torch.atan", ("", Curve(np.arctan)), verb="take the arctangent"),
    unary("torch.asinh", ("", Curve(np.arcsinh)), slowness=2.0, verb="compress by asinh"),
    unary("torch.clamp", _clamp(-1.0, 1.0), _clamp(-2.0, 0.5), _clamp(0.0, 1.0), verb="clamp"),
    unary("torch.clamp_min", ("0.1", Curve(lambda x: np.maximum(x, 0.1))), verb="clamp from below"),
    unary("torch.special.entr", ("", Curve(entropy, domain=(0.0, 1.0), bounds=(0.0, 0.37))),
          verb="take entropies", weight=3.0),
    unary("torch.special.ndtr", ("", Curve(normal_cdf)),
          passes=8,
          verb="apply the normal distribution function"),
    unary("torch.special.log_ndtr", ("", Curve(log_normal_cdf)),
          slowness=5.0, verb="take the log of the normal distribution function"),
)  # fmt: skip
"""Functions of one tensor."""
