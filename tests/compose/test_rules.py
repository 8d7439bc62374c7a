"""Each rule of the catalogue alone, against what torch makes of real tensors."""

import pytest

from fusewright.compose.rulecheck import ANY, fault_on
from fusewright.operators.catalogue import CATALOGUE

CASES = [
    pytest.param(made, layout, id=f"{number}-{made.name}-{layout}")
    for number, made in enumerate(CATALOGUE)
    for layout in made.layouts or ANY
]


@pytest.mark.parametrize(("made", "layout"), CASES)
def test_shape_bounds_and_elements_are_as_the_rule_says(made, layout):
    assert fault_on(made, layout) is None
