"""Each operator and each rule by fusewright's own checks, and one value that is known."""

import pytest
import torch
from fusewright_gates.rules import RULES
from fusewright_gates.source import Gates

from fusewright.compose.rulecheck import fault
from fusewright.operators.expression import Runnable
from fusewright.operators.selftest import self_test
from fusewright.records import Operator

OPERATORS = {operator.name: operator for operator in Gates().operators()}


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_passes_the_self_test_of_mining(name):
    verdict = self_test(OPERATORS[name])
    assert isinstance(verdict, Operator), verdict
    assert "float32" in verdict.dtypes


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_says_what_torch_does(rule):
    assert fault(rule) is None


def test_every_operator_has_a_rule():
    assert [rule.name for rule in RULES] == list(OPERATORS)


@pytest.mark.parametrize(
    ("name", "operands", "expected"),
    [
        ("gates.squared_relu", [[-3.0, 3.0]], [0.0, 9.0]),
        ("gates.quick_gelu", [[0.0, 1.0]], [0.0, 0.8458]),
        ("gates.reglu", [[-3.0, 3.0], [5.0, 5.0]], [0.0, 15.0]),
    ],
)
def test_an_operator_computes_what_its_paper_says(name, operands, expected):
    given = Runnable(OPERATORS[name]).run([torch.tensor(values) for values in operands], None)
    assert given.tolist() == pytest.approx(expected, abs=1e-4)
