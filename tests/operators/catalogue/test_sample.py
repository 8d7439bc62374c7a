"""The few elements that stand for a tensor, against what many really do."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusewright.operators.catalogue.sample import (
    COUNT,
    GRID,
    column,
    correlation,
    largest,
    moments,
    moved,
    quantile,
    rolled,
    upper,
)


def test_a_column_is_standard_normal():
    mean, deviation = moments(column(3))
    assert math.isclose(mean, 0, abs_tol=1e-12)
    assert math.isclose(deviation, 1)


def test_a_column_is_the_same_each_time_and_another_is_independent():
    assert column(3) == column(3)
    assert abs(correlation(column(3), column(4))) < 0.3


@given(st.integers(0, COUNT))
def test_rolling_keeps_the_elements(places):
    assert sorted(rolled(column(0), places)) == sorted(column(0))


def test_an_element_moves_when_it_leaves_the_tolerance():
    zeros = (0.0,) * COUNT
    assert moved((0.9e-3,) * COUNT, zeros) == 0
    assert moved((1.1e-3,) * COUNT, zeros) == 1
    assert moved((100.05,) * COUNT, (100.0,) * COUNT) == 0


def test_correlation_follows_sign_and_is_zero_for_a_constant():
    sample = column(0)
    assert math.isclose(correlation(sample, tuple(-x for x in sample)), -1)
    assert correlation(sample, (2.0,) * COUNT) == 0


@pytest.mark.parametrize("n", [4, 64, 4096])
def test_the_greatest_of_many_is_about_what_drawing_them_gives(n):
    generator = random.Random(n)
    drawn = [max(generator.gauss(0, 1) for _ in range(n)) for _ in range(200)]
    mean, deviation = moments(largest(column(0), n, column(1)))
    assert math.isclose(mean, sum(drawn) / 200, rel_tol=0.15)
    assert 0.05 < deviation < 1


def test_the_greatest_of_many_clipped_elements_is_the_clip():
    clipped = tuple(min(x, 1.0) for x in column(0))
    assert set(largest(clipped, 4096, column(1))) == {1.0}


def test_quantiles_at_the_grid_are_the_elements_in_order():
    assert [quantile(list(GRID), z) for z in GRID] == pytest.approx(list(GRID))


def test_a_maximum_does_not_see_what_happens_below():
    sample = column(0)
    assert upper(tuple(max(x, 0.0) for x in sample)) == upper(sample)
