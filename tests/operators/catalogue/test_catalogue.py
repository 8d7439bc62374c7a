"""The catalogue as a whole."""

import subprocess
import sys

from fusewright.operators.catalogue import CATALOGUE, VIEWS
from fusewright.operators.families import FAMILIES, family

OPERATORS = {op for rule in CATALOGUE for op in rule.ops}


def test_it_covers_far_more_than_the_sixty_operators_that_a_release_needs():
    assert len(OPERATORS) >= 150


def test_names_are_qualified_as_a_trace_qualifies_them():
    prefixes = ("torch.", "torch.special.", "torch.linalg.", "F.", "nn.")
    assert all(op.startswith(prefixes) for op in OPERATORS)


def test_each_family_is_one_that_statistics_know():
    assert {rule.family for rule in CATALOGUE} <= set(FAMILIES)


def test_a_rule_of_one_operator_has_the_family_that_its_name_tells():
    single = [rule for rule in CATALOGUE if not rule.uses and rule.name not in VIEWS]
    wrong = {r.name: r.family for r in single if r.family != family(r.name)}
    assert wrong == {}


def test_every_rule_says_what_it_does():
    assert all(rule.verb for rule in CATALOGUE)


def test_views_are_operators_of_some_rule():
    assert VIEWS <= OPERATORS


def test_importing_it_leaves_torch_out():
    code = "import sys, fusewright.operators.catalogue; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
