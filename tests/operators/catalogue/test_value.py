"""Facts, shapes, and what the two make of each other."""

import pytest

from fusewright.operators.catalogue.size import ONE, Size
from fusewright.operators.catalogue.value import (
    Fact,
    broadcast,
    constant_along,
    mapped_facts,
    spread_dims,
)

A, B = Size(8, "a"), Size(16, "b")


@pytest.mark.parametrize(
    ("blind", "given", "defeated"),
    [
        (Fact("sum1", (2,)), Fact("sum1", (2,)), True),
        (Fact("sum1", (1, 2)), Fact("sum1", (2,)), True),
        (Fact("sum1", (1,)), Fact("sum1", (2,)), False),
        (Fact("mean0", (2,)), Fact("mean0", (1, 2)), False),
        (Fact("shift", (2,)), Fact("shift", (1, 2)), True),
        (Fact("shift", (1, 2)), Fact("shift", (2,)), False),
        (Fact("shift", (2,)), Fact("scale", (2,)), False),
        (Fact("shift", (2,)), Fact("bias", (2,)), False),
    ],
)
def test_a_fact_defeats_a_rule_that_is_blind_to_it(blind, given, defeated):
    assert blind.defeats(given) is defeated


@pytest.mark.parametrize(
    ("shape", "other", "expected"),
    [
        ((A, B), (A, B), (A, B)),
        ((A, B), (A, ONE), (A, B)),
        ((ONE, B), (A, ONE), (A, B)),
        ((A, B), (B, B), None),
        ((A, B), (A,), None),
    ],
)
def test_shapes_broadcast_as_torch_does_it(shape, other, expected):
    assert broadcast(shape, other) == expected


def test_a_small_shape_is_repeated_along_the_dimensions_that_it_lacks():
    assert spread_dims((A, ONE), (A, B)) == (2,)


def test_facts_move_with_their_dimensions_and_whole_ones_do_not_survive_a_loss():
    facts = (Fact("shift", (1, 2)), Fact("mean0", (1, 2)), Fact("sum1", (2,)))
    assert mapped_facts(facts, {2: 1}) == (Fact("shift", (1,)), Fact("sum1", (1,)))


def test_only_a_constant_along_a_dimension_survives_choosing_along_it():
    facts = (Fact("shift", (1, 2)), Fact("shift", (1,)), Fact("perm", (2,)))
    assert constant_along(facts, 2) == facts[:1]
