"""Functions on arrays, against those of the standard library."""

import math

import numpy as np
import pytest

from fusewright.operators.catalogue import functions

X = np.linspace(-9, 9, 73)


@pytest.mark.parametrize(
    ("made", "exact"),
    [
        (functions.erf, math.erf),
        (functions.normal_cdf, lambda x: 0.5 * math.erfc(-x / math.sqrt(2))),
        (functions.log_normal_cdf, lambda x: math.log(0.5 * math.erfc(-x / math.sqrt(2)))),
        (functions.gelu, lambda x: 0.5 * x * math.erfc(-x / math.sqrt(2))),
        (functions.sigmoid, lambda x: 1 / (1 + math.exp(-x))),
        (functions.softplus, lambda x: math.log1p(math.exp(x))),
    ],
)
def test_a_function_is_right_to_six_digits(made, exact):
    assert made(X) == pytest.approx([exact(x) for x in X], rel=1e-6, abs=1e-6)


def test_the_tail_of_a_logarithm_is_right_far_out():
    # The first terms of its expansion.
    x = 30.0
    expected = -0.5 * x * x - math.log(x * math.sqrt(2 * math.pi)) + math.log1p(-1 / x**2)
    assert float(functions.log_normal_cdf(np.array(-x))) == pytest.approx(expected, rel=1e-6)


def test_entropy_of_nothing_is_nothing():
    assert functions.entropy(np.array([0.0, 1.0])).tolist() == [0.0, 0.0]


def test_exponentials_end_where_float32_does():
    assert np.isfinite(functions.exp(np.array([1e4]))).all()
    assert np.isfinite(functions.softplus(np.array([1e4]))).all()
