"""Real functions on arrays, as accurate as telling dead operators from live ones needs."""

import math

import numpy as np

from fusewright.operators.catalogue.sample import Sample

_ERFC = (
    -1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806,
    0.27886807, -1.13520398, 1.48851587, -0.82215223, 0.17087277,
)  # fmt: skip
"""Chebyshev coefficients of `log(erfc(x) / t) + x * x`, right to 1.2e-7 of erfc. Source: Numerical
Recipes, section 6.2, `erfcc`."""
_HALF_ROOT = 1 / math.sqrt(2)
_GELU_ROOT = math.sqrt(2 / math.pi)
_STRAIGHT = 30.0
"""From where softplus is as straight as float32 sees it."""
_GREATEST = 88.7
"""Logarithm of float32's greatest value."""


def exp(x: Sample) -> Sample:
    """Exponential that ends at float32's greatest value."""
    return np.exp(np.minimum(x, _GREATEST))


def sigmoid(x: Sample) -> Sample:
    """Logistic curve."""
    return 1 / (1 + np.exp(np.minimum(-x, _GREATEST)))


def softplus(x: Sample) -> Sample:
    """Smooth rectifier, `log(1 + exp(x))`."""
    return np.where(x > _STRAIGHT, x, np.log1p(np.exp(np.minimum(x, _STRAIGHT))))


def relu(x: Sample) -> Sample:
    """Rectifier."""
    return np.maximum(x, 0.0)


def expm1(x: Sample) -> Sample:
    """`exp(x) - 1` of what is not positive, as in ELU; 0 of what is."""
    return np.expm1(np.minimum(x, 0.0))


def clipped(x: Sample, low: float, high: float) -> Sample:
    """*x* within *low* and *high*."""
    return np.minimum(np.maximum(x, low), high)


def normal_cdf(x: Sample) -> Sample:
    """Distribution function of the standard normal."""
    t, logarithm = _upper_tail(abs(x))
    tail = 0.5 * t * np.exp(logarithm)
    return np.where(x > 0, 1 - tail, tail)


def log_normal_cdf(x: Sample) -> Sample:
    """Its logarithm, right as far down as it goes."""
    t, logarithm = _upper_tail(abs(x))
    tail = 0.5 * t * np.exp(logarithm)
    return np.where(x > 0, np.log1p(-tail), np.log(0.5 * t) + logarithm)


def erf(x: Sample) -> Sample:
    """Error function."""
    return 2 * normal_cdf(x / _HALF_ROOT) - 1


def gelu(x: Sample) -> Sample:
    """Gaussian error linear unit."""
    return x * normal_cdf(x)


def gelu_tanh(x: Sample) -> Sample:
    """Its approximation by a hyperbolic tangent."""
    inner = _GELU_ROOT * x * (1 + 0.044715 * np.minimum(x * x, 1e6))
    found: Sample = 0.5 * x * (1 + np.tanh(inner))
    return found


def entropy(x: Sample) -> Sample:
    """`-x * log(x)`, and 0 of 0."""
    found: Sample = -x * np.log(np.maximum(x, 1e-300))
    return found


def _upper_tail(x: Sample) -> tuple[Sample, Sample]:
    """*t* and the logarithm of `erfc(x / sqrt(2)) / t`, for what is not negative."""
    y = x * _HALF_ROOT
    t = 1 / (1 + 0.5 * y)
    terms: Sample = t * _ERFC[-1]
    for coefficient in _ERFC[-2:0:-1]:
        terms = t * (terms + coefficient)
    return t, terms + _ERFC[0] - y * y
