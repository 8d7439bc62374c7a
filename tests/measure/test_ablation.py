import types

import pytest
import torch

from fusewright.measure import ablation
from fusewright.measure.ablation import dead_operator
from fusewright.measure.candidate import build
from fusewright.measure.device import Cpu

from .programs import program

DEAD = {
    "a second relu": ("return torch.relu(torch.relu(x)).sum(1)", "relu"),
    "a relu in place of itself": ("y = x.relu()\ny.relu_()\nreturn y.sum(1)", "relu"),
    "a clamp wider than its input": ("return torch.tanh(x).clamp(-2, 2)", "clamp"),
    "a gate that is one": ("return x * torch.sigmoid(torch.tanh(x) + 30)", "tanh"),
    "a result that nothing uses": ("torch.sin(x)\nreturn torch.cos(x)", "sin"),
    "a branch that is never taken": ("return torch.where(x > -100, x.exp(), x.sin())", "sin"),
    "a shift that softmax takes back": (
        "return torch.softmax(x + x.mean(1, keepdim=True), 1)",
        "mean",
    ),
    "one of several results": ("v, i = torch.max(x, 1)\nw, _ = x.sort(1)\nreturn v", "sort"),
}
SOUND = {
    "each shows": "return torch.relu(x).sum(1)",
    "in place": "y = x * 2\ny.relu_()\nreturn y.sum(1)",
    "a guard and its small term": "return torch.log(torch.relu(x.exp()) + 1e-6)",
    "moves": "return x.t().contiguous().reshape(-1, 8).clone().tanh()",
    "several results": "v, _ = torch.max(x, 1)\nreturn v * 3",
    "a number that forward asks for": "return torch.sin(x) if x.sum() > -1e9 else x",
    "a number that forward turns into one": "return x * 2 if float(x.max()) > -9 else x",
    "a mask": "return torch.where(x > 0, x.exp(), x.sin())",
}


def made(forward, **given):
    module = types.ModuleType("problem")
    exec(program(forward, **given), module.__dict__)
    return build(module, Cpu())


def found(candidate):
    with torch.no_grad():
        return dead_operator(candidate, candidate.draw(7))


@pytest.mark.parametrize(("forward", "name"), DEAD.values(), ids=DEAD)
def test_an_operator_that_does_not_show_is_dead(forward, name):
    finding = found(made(forward))

    assert finding.reason == "dead_operator"
    assert f"({name})" in finding.detail
    assert finding.value < finding.limit == 0.01


@pytest.mark.parametrize("forward", SOUND.values(), ids=SOUND)
def test_an_operator_that_shows_is_not(forward):
    assert found(made(forward)) is None


@pytest.mark.parametrize(("rows", "is_dead"), [(99, False), (101, True)])
def test_one_element_of_a_hundred_has_to_move(rows, is_dead):
    # Clamping moves the one value of each column that is over the bound.
    inputs = f"torch.cat([torch.rand({rows - 1}, 16), torch.full((1, 16), 5.0)])"
    finding = found(made("return x.clamp(max=2.0)", inputs=inputs))

    assert (finding is not None) == is_dead


def test_modules_of_several_results_are_operators_too():
    candidate = made(
        "o, _ = self.rnn(x)\nreturn torch.tanh(o)",
        init="self.rnn = nn.LSTM(16, 8, batch_first=True)",
        inputs="torch.randn(4, 5, 16)",
    )
    assert found(candidate) is None


def test_a_forward_that_takes_another_way_for_other_inputs_is_judged_by_bypass_alone():
    forward = "if x[0, 0] > 0.3:\n    x = x.sin()\nreturn torch.relu(x.exp())"
    finding = found(made(forward, inputs="torch.rand(8, 16)"))

    assert "(relu)" in finding.detail


def test_values_beyond_what_may_be_kept_are_not_exchanged(monkeypatch):
    candidate = made("torch.sum(x, 1)\nreturn torch.cos(x)")
    assert found(candidate).reason == "dead_operator"
    monkeypatch.setattr(ablation, "LARGEST_KEPT_BYTES", 0)
    assert found(candidate) is None


def test_examining_leaves_inputs_and_parameters_as_they_were():
    candidate = made("return self.fc(x).relu_()", init="self.fc = nn.Linear(16, 16)")
    before = [t.clone() for t in (candidate.inputs[0], *candidate.model.parameters())]
    found(candidate)
    after = [candidate.inputs[0], *candidate.model.parameters()]

    assert all(torch.equal(a, b) for a, b in zip(before, after, strict=True))
