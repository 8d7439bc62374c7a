"""The composer as the pipeline sees it."""

import os
import random
import subprocess
import sys

import pytest

from fusewright.compose.graph import GraphComposer
from fusewright.operators.catalogue import VIEWS
from fusewright.protocols import Composer
from fusewright.records import Problem, Rejection
from fusewright.registry import build
from fusewright.testing import make_operator

from .problems import NAMES, OPERATORS

ELSEWHERE = """
import sys
from fusewright.compose.graph import GraphComposer
from fusewright.testing import make_operator
operators = [make_operator(name) for name in {names!r}]
composer = GraphComposer(device={device!r})
for seed in range(12):
    print(composer.compose(operators, seed).model_dump_json())
sys.exit("torch" in sys.modules)
"""


def composed(seed, operators=OPERATORS, **settings):
    problem = GraphComposer(**settings).compose(operators, seed)
    assert isinstance(problem, Problem), problem
    return problem


@pytest.mark.parametrize(("device", "hash_seed"), [("cuda", "1"), ("cpu", "2")])
def test_another_process_writes_the_same_bytes_and_never_loads_torch(device, hash_seed):
    names = sorted(NAMES, key=str.lower, reverse=hash_seed == "1")
    code = ELSEWHERE.format(names=names, device=device)
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    here = [composed(seed, device=device).model_dump_json() for seed in range(12)]
    assert ran.stdout.splitlines() == here


def test_the_order_of_the_operators_changes_nothing():
    shuffled = random.Random(0).sample(OPERATORS, len(OPERATORS))
    assert [composed(s, shuffled) for s in range(10)] == [composed(s) for s in range(10)]


def test_another_seed_writes_another_problem():
    assert len({composed(seed).code for seed in range(100)}) == 100


@pytest.mark.parametrize("broken", ["torch.mul", "nn.Linear", "F.conv2d"])
def test_an_operator_that_was_not_mined_is_never_drawn(broken):
    rest = [operator for operator in OPERATORS if operator.name != broken]
    assert not any(broken in composed(seed, rest).ops for seed in range(60))


def test_an_operator_may_be_mined_under_another_name():
    mined = [make_operator("torch.special.expit", aliases=("torch.sigmoid",))]
    mined.append(make_operator("torch.tanh"))
    assert {"torch.sigmoid", "torch.tanh"} | VIEWS >= set(composed(0, mined).ops)


@pytest.mark.parametrize("names", [[], ["torch.nowhere"], ["F.relu6"]])
def test_too_few_operators_are_a_rejection_with_its_numbers(names):
    operators = [make_operator(name) for name in names]
    verdict = GraphComposer(min_operators=4).compose(operators, 7)
    assert isinstance(verdict, Rejection)
    assert (verdict.stage, verdict.reason) == ("compose", "no_draw")
    assert "4 to 8 operators" in verdict.detail


@pytest.mark.parametrize(("least", "most"), [(2, 2), (3, 4), (6, 8), (1, 1)])
def test_the_number_of_operators_is_within_the_settings(least, most):
    problems = [
        composed(seed, min_operators=least, max_operators=most, device="cpu") for seed in range(15)
    ]
    assert all(len(problem.ops) <= most for problem in problems)
    assert all(sum(op not in VIEWS for op in p.ops) >= least for p in problems)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"device": "tpu"}, r"device 'tpu' is unknown \(valid: cuda, cpu\)"),
        ({"dtype": "int8"}, r"dtype 'int8' is unknown \(valid: float32, bfloat16, float16\)"),
        ({"min_operators": 5, "max_operators": 4}, "min_operators 5 and max_operators 4"),
        ({"min_operators": 0}, "expected 1 <= min_operators <= max_operators"),
    ],
)
def test_a_wrong_setting_names_what_is_valid(settings, message):
    with pytest.raises(ValueError, match=message):
        GraphComposer(**settings)


def test_it_comes_through_the_door_of_plug_ins():
    composer: Composer = build("composers", "graph", {"device": "cpu"})
    assert composer == GraphComposer(device="cpu")


def test_a_problem_says_who_wrote_it():
    problem = composed(11)
    assert (problem.composer, problem.model, problem.seed) == ("graph", None, 11)
