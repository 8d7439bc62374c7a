"""Rules of plug-ins: what is sound is used, and what is not costs itself and one line."""

import dataclasses
import logging

import pytest

from fusewright.compose import rulebook
from fusewright.compose.graph import GraphComposer
from fusewright.compose.rulebook import has_rules, sound_rules
from fusewright.compose.rulecheck import fault
from fusewright.config import Plugin
from fusewright.operators.catalogue import CATALOGUE, Curve, Rule, unary
from fusewright.protocols import Ruled
from fusewright.records import Problem
from fusewright.testing import make_operator

CUBE = unary(
    "my.cube",
    ("", Curve(lambda x: x * x * x)),
    call="torch.pow({0}, 3)",
    uses=("torch.pow",),
    verb="cube",
)
HEAD = """
import dataclasses, os
from fusewright.operators.catalogue import Curve, unary

def rule(name="my.cube", at=lambda x: x * x * x, call="torch.pow({0}, 3)", **fields):
    made = unary(name, ("", Curve(at)), call=call, uses=("torch.pow",), verb="cube")
    return dataclasses.replace(made, **fields)

def raising(dice, x):
    raise KeyError("no such thing")

def leaving(dice, x):
    os._exit(5)

"""


@pytest.fixture
def lines():
    """Lines of warning so far."""
    said: list[str] = []

    class Listening(logging.Handler):
        def emit(self, record):
            said.append(record.getMessage())

    logger, listening = logging.getLogger("fusewright.stage"), Listening(logging.WARNING)
    logger.addHandler(listening)
    yield lambda: said
    logger.removeHandler(listening)


@pytest.fixture
def written(tmp_path):
    """Write a plug-in file with these rules after the usual head."""

    def writing(text):
        (tmp_path / "mine.py").write_text(HEAD + text)
        return Plugin(name=str(tmp_path / "mine.py"))

    return writing


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"family": "nonsense"}, "its family is 'nonsense': expected one of elementwise"),
        ({"family": "loss"}, "its family is 'loss': expected one of"),
        ({"arity": 7}, "its arity is 7: expected 1 to 3"),
        ({"weight": 0.0}, "its weight is 0.0: expected a number above 0"),
        ({"layouts": ("cube",)}, "its layout is 'cube': expected some of rows"),
        ({"name": "F.gelu"}, "the catalogue has a rule of that name"),
        ({"uses": ("torch.exp",)}, "`uses` and the expression differ in exp, pow"),
    ],
)
def test_a_field_that_nothing_can_be_drawn_by_is_a_fault(changes, complaint):
    found = fault(dataclasses.replace(CUBE, **changes))
    assert found is not None
    assert complaint in found


@pytest.mark.parametrize(
    ("curve", "call", "complaint"),
    [
        (Curve(lambda x: x * x * x, bounds=(-1.0, 1.0)), "torch.pow({0}, 3)", "its bounds are"),
        (
            Curve(lambda x: x * x * x, bounds=(-1e4, 1e4)),
            "torch.pow({0}, 3) * 9.0",
            "`uses` and the expression differ in mul",
        ),
        (
            Curve(lambda x: x * x * x * 0.1, bounds=(-1e4, 1e4)),
            "torch.pow({0}, 3)",
            "its elements have mean",
        ),
        (Curve(lambda x: x * x * x), "torch.pow({0}, 'three')", "what it writes does not run"),
        (Curve(lambda x: x * x * x), "torch.pow({0}[:2], 3)", "its shape is (16, "),
        (Curve(lambda x: x), "torch.pow({0}, 1)", "it refuses every operand of layout 'rows'"),
    ],
)
def test_a_rule_that_says_what_torch_does_not_is_a_fault(curve, call, complaint):
    found = fault(unary("my.cube", ("", curve), call=call, uses=("torch.pow",), verb="cube"))
    assert found is not None
    assert complaint in found


def test_a_sound_rule_has_no_fault():
    assert fault(CUBE) is None


def test_what_is_sound_of_a_plug_in_is_kept_and_the_rest_is_one_line(written, lines):
    source = written(
        "rules = [rule('a'), 3, rule('b', act=leaving), rule('c', act=raising), rule('d')]"
    )
    rules = sound_rules([Plugin(name="functions"), source])
    (line,) = lines()

    assert [rule.name for rule in rules] == ["a", "d"]
    assert all(isinstance(rule, Rule) for rule in rules)
    assert "3 of 5 left out; the first, ?: it is int: expected fusewright" in line


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("rules = 3", "are int: expected a tuple of fusewright.operators.catalogue.Rule"),
        ("def rules():\n    return 1 / 0", "cannot be made: ZeroDivisionError: division by zero"),
        ("import no_such_package\nrules = ()", "No module named 'no_such_package'; install it"),
        ("rules = os._exit(4)", "cannot be checked: its process left with exit code 4"),
        (
            "rules = [rule('a', act=leaving)]",
            "1 of 1 left out; the first, a: its process left with",
        ),
    ],
)
def test_rules_that_cannot_be_had_are_one_line(written, lines, text, complaint):
    assert sound_rules([written(text)]) == ()
    (line,) = lines()
    assert complaint in line
    assert "\n" not in line


def test_a_rule_that_never_ends_is_given_up(written, lines, monkeypatch):
    monkeypatch.setattr(rulebook, "DEADLINE_S", 20.0)
    text = "def forever(dice, x):\n    while True: pass\nrules = rule('a', act=forever), rule('b')"
    assert [rule.name for rule in sound_rules([written(text)])] == ["b"]
    assert "the first, a: it took over 20 s" in lines()[0]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("rules = ()", True),
        ("rules: tuple = ()", True),
        ("def rules():\n    return ()", True),
        ("class source:\n    rules = ()", False),
        ("source = 3", False),
        ("def (", False),
    ],
)
def test_a_file_without_rules_is_not_run(tmp_path, text, found):
    (tmp_path / "mine.py").write_text(text)
    assert has_rules(str(tmp_path / "mine.py")) is found


@pytest.mark.parametrize("name", ["functions", "nowhere.py", "owner/name"])
def test_other_sources_have_no_rules(name):
    assert not has_rules(name)


def _composed(rules, names=("my.cube", "torch.tanh", "nn.Linear")):
    operators = [make_operator(name) for name in names]
    composer = GraphComposer(device="cpu").with_rules(rules)
    return [composer.compose(operators, seed) for seed in range(30)]


def test_the_composer_draws_by_a_rule_whose_operator_was_mined():
    assert isinstance(GraphComposer(), Ruled)
    assert any("torch.pow(" in problem.code for problem in _composed([CUBE]))
    assert _composed([CUBE], ("torch.tanh", "nn.Linear")) == _composed(
        [], ("torch.tanh", "nn.Linear")
    )


def test_where_a_rule_raises_the_built_in_ones_serve(lines):
    def act(dice, x):
        raise KeyError("sometimes")

    composed = _composed([dataclasses.replace(CUBE, act=act)])
    assert composed == _composed([])
    assert all(isinstance(problem, Problem) for problem in composed)
    assert lines() == [
        "a plug-in's rule raises KeyError: 'sometimes': its draws are left to the built-in rules"
    ]


def test_the_catalogue_is_no_plug_in():
    assert CUBE.name not in {rule.name for rule in CATALOGUE}
