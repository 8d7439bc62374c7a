import pytest
import torch
import torch.nn.functional as F
from torch import nn

from fusewright.measure.trace import trace


def traced(forward, *inputs):
    """Operators and producers of a forward given as a function."""

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 4, 3)
            self.seq = nn.Sequential(nn.Linear(8, 8), nn.ReLU())

        def forward(self, *args):
            return forward(self, *args)

    # A fixed number of arguments, as problems have: tracing does not unpack a star.
    names = ", ".join(f"x{i}" for i in range(len(inputs)))
    space = {"Model": Model, "call": forward}
    exec(f"class Fixed(Model):\n    def forward(self, {names}): return call(self, {names})", space)
    return trace(space["Fixed"](), inputs)


X = torch.randn(4, 8)


@pytest.mark.parametrize(
    ("forward", "expected"),
    [
        (lambda m, x: m.seq(x), ["nn.Linear", "nn.ReLU"]),
        (lambda m, x: F.gelu(x), ["F.gelu"]),
        (lambda m, x: torch.logsumexp(x, 1), ["torch.logsumexp"]),
        (lambda m, x: torch.linalg.vector_norm(x, dim=1), ["torch.linalg.vector_norm"]),
        (lambda m, x: x.relu().mean(1), ["torch.relu", "torch.mean"]),
        (lambda m, x: x.relu_(), ["torch.relu"]),
        (lambda m, x: -(x * 2 + 1), ["torch.mul", "torch.add", "torch.neg"]),
        (lambda m, x: x / 3 - x, ["torch.div", "torch.sub"]),
        (lambda m, x: 1 - x, ["torch.sub"]),
        (lambda m, x: x @ x.transpose(0, 1), ["torch.transpose", "torch.matmul"]),
        (lambda m, x: torch.topk(x, 2).values, ["torch.topk"]),
        (lambda m, x: x.view(x.size(0), -1).contiguous().sin(), ["torch.Tensor.view", "torch.sin"]),
        (lambda m, x: torch.cat([x, x.sin()], 1), ["torch.sin", "torch.cat"]),
    ],
)  # fmt: skip
def test_operators_are_named_as_the_catalogue_names_them(forward, expected):
    assert [op for op, _ in traced(forward, X)] == expected


def test_the_graph_says_who_feeds_whom():
    graph = traced(lambda m, x, y: torch.cat([x.sin() * y, x], 1), X, X)

    assert graph == [("torch.sin", [-1]), ("torch.mul", [0, -2]), ("torch.cat", [1, -1])]


def test_values_of_a_pair_lead_back_to_the_operator_that_made_them():
    graph = traced(lambda m, x: torch.sort(x, 1).values.exp(), X)

    assert graph == [("torch.sort", [-1]), ("torch.exp", [0])]


def test_control_flow_is_followed_on_a_real_run():
    graph = traced(lambda m, x: x.sin() * x if x.sum() > -1e9 else x.cos(), X)

    assert [op for op, _ in graph] == ["torch.sum", "torch.gt", "torch.sin", "torch.mul"]
    assert graph[-1] == ("torch.mul", [2, -1])


def test_modules_on_a_real_run_are_named_by_their_functions():
    graph = traced(lambda m, x: m.conv(x) if x.sum() > -1e9 else x, torch.randn(1, 3, 8, 8))

    assert "F.conv2d" in [op for op, _ in graph]
