"""What is found out without data is what a real run finds."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from fusewright.measure import survey as survey_module
from fusewright.measure.candidate import Candidate, fresh
from fusewright.measure.survey import survey


class Lease:
    """Notes the phases for which the device was taken."""

    def __init__(self):
        self.phases = []

    def acquire(self, phase):
        self.phases.append(phase)


class Forward(nn.Module):
    """A model with some parameters, whose forward a test gives."""

    def __init__(self, forward):
        super().__init__()
        self._forward = forward
        self.linear = nn.Linear(16, 16)
        self.register_buffer("scale", torch.full((16,), 2.0))
        self.shift = torch.ones(16)

    def forward(self, x):
        return self._forward(self, x)


def candidate(model, *inputs):
    return Candidate(model.eval(), None, list(inputs), 1e-3)


def both(model, *inputs):
    """What a survey without data finds, and one with; whether the first took the device."""
    lease, built = Lease(), candidate(model, *inputs)
    with torch.no_grad():
        found = survey(built, lease)
        real = survey_module._survey(built, built.model, fresh(built.inputs))
    return found, real, lease.phases


X = torch.randn(4, 8, 16)
IMAGE = torch.randn(2, 3, 8, 8)
MODELS = {
    "linear": (nn.Linear(16, 8), X),
    "convolution": (nn.Conv2d(3, 4, 3), IMAGE),
    "batch norm": (nn.BatchNorm2d(3), IMAGE),
    "group norm": (nn.GroupNorm(4, 8), X),
    "recurrent": (nn.GRU(16, 8), X),
    "transformer": (nn.TransformerDecoderLayer(16, 4, 32), X, X),
    "pooling": (nn.MaxPool1d(2), X),
    "buffer and attribute": (Forward(lambda m, x: (m.linear(x) + m.shift) * m.scale), X),
    "softmax": (Forward(lambda m, x: torch.softmax(x, -1)), X),
    "attention": (Forward(lambda m, x: F.scaled_dot_product_attention(x, x, x)), X[None]),
    "einsum": (Forward(lambda m, x: torch.einsum("bij,bkj->bik", x, x)), X),
    "index": (Forward(lambda m, x: x[:, [0, 2]] * torch.arange(16)), X),
    "in place": (Forward(lambda m, x: x.clone().add_(1).relu_()), X),
    "copying reshape": (Forward(lambda m, x: x.transpose(0, 1).reshape(8, 64).sin()), X),
    "reductions": (Forward(lambda m, x: torch.gradient(x)[0].quantile(0.5, 1)), X),
    "two outputs": (Forward(lambda m, x: (x.sin(), torch.topk(x, 2).values)), X),
    "other dtype": (Forward(lambda m, x: x.to(torch.bfloat16).exp().float()), X),
    "complex": (Forward(lambda m, x: torch.fft.rfft(x).abs()), X),
    "an input that is expanded": (Forward(lambda m, x: x.sin()), torch.ones(8, 1).expand(8, 100)),
    "an input given twice": (nn.MultiheadAttention(16, 4), X, X, X),
    "inputs that are no tensors": (Forward(lambda m, x: x[0] * x[1]["by"]), (X, {"by": 2.5})),
}


@pytest.mark.parametrize("name", MODELS)
def test_without_data_the_same_graph_and_the_same_cost_are_found(name):
    found, real, _ = both(*MODELS[name])

    assert found == real


@pytest.mark.parametrize("name", MODELS)
def test_the_device_is_not_taken_where_no_value_matters(name):
    _, _, phases = both(*MODELS[name])

    assert phases == []


VALUES = {
    "item": lambda m, x: x * x.sum().item(),
    "branch": lambda m, x: x.sin() if x.sum() > -1e9 else x,
    "shape by value": lambda m, x: x[x > 0].sum() + x,
    "list": lambda m, x: x * sum(x[0, 0].tolist()),
    "numpy": lambda m, x: x * float(x.numpy().sum()),
    "a key by value": lambda m, x: x * {torch.Tensor: 2.0}[type(x)],
}


@pytest.mark.parametrize("name", VALUES)
def test_a_forward_that_asks_for_a_value_gets_the_device_and_a_real_run(name):
    found, real, phases = both(Forward(VALUES[name]), X)

    assert found == real
    assert phases == ["eager"]


def test_a_forward_that_fails_with_data_too_fails():
    lease = Lease()
    with torch.no_grad(), pytest.raises(RuntimeError, match="cannot be multiplied"):
        survey(candidate(Forward(lambda m, x: x[0] @ x[0]), X), lease)

    assert lease.phases == ["eager"]


def test_a_survey_leaves_the_model_as_it_is():
    model = Forward(lambda m, x: m.linear(x) + m.scale.add_(1))
    parameters = dict(model.named_parameters())
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    with torch.no_grad():
        survey(candidate(model, X), Lease())

    assert all(parameters[name] is kept for name, kept in model.named_parameters())
    assert all(torch.equal(model.state_dict()[name], before[name]) for name in before)
