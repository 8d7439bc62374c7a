"""The few elements that stand for a tensor, against what many really do."""

import math
import random

import numpy as np
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
    power,
    quantile,
    rolled,
    rows_moved,
    slack,
    upper,
)


def filled(number):
    return np.full(COUNT, number)


def test_a_column_is_standard_normal():
    mean, deviation = moments(column(3))
    assert math.isclose(mean, 0, abs_tol=1e-12)
    assert math.isclose(deviation, 1)


def test_a_column_is_the_same_each_time_and_another_is_independent():
    assert (column(3) == column(3)).all()
    assert abs(correlation(column(3), column(4))) < 0.3


@given(st.integers(0, COUNT))
def test_rolling_keeps_the_elements(places):
    assert sorted(rolled(column(0), places)) == sorted(column(0))


def test_an_element_moves_when_it_leaves_the_tolerance():
    assert moved(filled(0.9e-3), filled(0.0)) == 0
    assert moved(filled(1.1e-3), filled(0.0)) == 1
    assert moved(filled(100.05), filled(100.0)) == 0


def test_each_row_moves_by_itself_and_what_is_no_number_has_moved():
    base = column(0)
    rows = np.stack([base, base + 1, np.where(np.arange(COUNT) < 20, math.nan, base)])
    assert rows_moved(rows, base, slack(base)) == pytest.approx([0, 1, 20 / COUNT])


def test_rows_have_the_moments_of_each():
    rows = np.stack([column(0), 3 + 2 * column(1), filled(5.0)])
    mean, deviation = moments(rows)
    assert mean[:, 0] == pytest.approx([0, 3, 5], abs=1e-12)
    assert deviation[:, 0] == pytest.approx([1, 2, 0])
    assert power(rows)[:, 0] == pytest.approx([1, 13, 25])


def test_rows_have_the_order_statistics_of_each():
    rows = np.stack([column(0), np.minimum(column(1), 1.0)])
    both = largest(rows, 64, column(2))
    assert both == pytest.approx(np.stack([largest(row, 64, column(2)) for row in rows]))


def test_correlation_follows_sign_and_is_zero_for_a_constant():
    sample = column(0)
    assert math.isclose(correlation(sample, -sample), -1)
    assert correlation(sample, filled(2.0)) == 0
    rows = np.stack([sample, -sample, filled(2.0)])
    assert correlation(sample, rows)[:, 0] == pytest.approx([1, -1, 0])


@pytest.mark.parametrize("n", [4, 64, 4096])
def test_the_greatest_of_many_is_about_what_drawing_them_gives(n):
    generator = random.Random(n)
    drawn = [max(generator.gauss(0, 1) for _ in range(n)) for _ in range(200)]
    mean, deviation = moments(largest(column(0), n, column(1)))
    assert math.isclose(mean, sum(drawn) / 200, rel_tol=0.15)
    assert 0.05 < deviation < 1


def test_the_greatest_of_many_clipped_elements_is_the_clip():
    clipped = np.minimum(column(0), 1.0)
    assert set(largest(clipped, 4096, column(1))) == {1.0}


def test_quantiles_at_the_grid_are_the_elements_in_order():
    assert quantile(GRID, GRID) == pytest.approx(GRID)


def test_a_maximum_does_not_see_what_happens_below():
    sample = column(0)
    assert (upper(np.maximum(sample, 0.0)) == upper(sample)).all()
