"""Sizes and the expressions that name them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusewright.operators.catalogue.size import Size

STEPS = {
    "plus": lambda size, other: size + other,
    "minus": lambda size, other: size - other,
    "times": lambda size, other: size * other,
    "scaled": lambda size, other: int(other) * size,
    "over": lambda size, _: size // 2,
    "own": lambda size, _: size + size,
}


@given(st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.integers(2, 5)), max_size=6))
def test_the_expression_evaluates_to_the_size(steps):
    names = {"channels": 48, "height": 64}
    size = Size(48, "channels")
    for name, number in steps:
        size = STEPS[name](size, Size(64, "height") if number == 5 else number)
    assert eval(size.text, {}, names) == size  # noqa: S307 -- our own arithmetic


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (Size(64), "64"),
        (Size(64, "width") // 2, "width // 2"),
        (Size(64, "width") // 2 // 2, "width // 4"),
        (2 * Size(64, "width"), "2 * width"),
        (Size(64, "width") - 2, "width - 2"),
        ((Size(64, "a") + Size(8, "b")) * 2, "(a + b) * 2"),
        (Size(64, "a") + Size(64, "a"), "2 * a"),
        (Size(64, "a") + 2 * Size(64, "a"), "3 * a"),
        (Size(64, "a") * (Size(8, "b") // 2) * Size(4, "c"), "a * (b // 2) * c"),
    ],
)
def test_expressions_read_as_a_person_writes_them(size, text):
    assert size.text == text
