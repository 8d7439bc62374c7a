import inspect

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from fusewright.identity import operator_names
from fusewright.identity.vocabulary import CONTAINERS, method_operator, spelled
from fusewright.testing import RELU_MEAN

HEAD = "import math\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"


def model(forward, init="", rest=""):
    inits = "".join(f"\n        {line}" for line in init.split("; ") if line)
    lines = "".join(f"\n        {line}" for line in forward.split("; "))
    return (
        f"{HEAD}class Model(nn.Module):\n    def __init__(self, size, rate=0.5):"
        f"\n        super().__init__(){inits}\n    def forward(self, x, y):{lines}\n{rest}"
    )


@pytest.mark.parametrize(
    ("forward", "names"),
    [
        ("return x * y + 1", "torch.mul torch.add"),
        ("return -x @ y / 2 - 3", "torch.neg torch.matmul torch.div torch.sub"),
        ("return (x > 0) & ~y", "torch.gt torch.logical_not torch.logical_and"),
        ("x += y; x **= 2; return x", "torch.add torch.pow"),
        ("return x.relu().mean(1).view(-1)", "torch.relu torch.mean torch.Tensor.view"),
        ("return x.add_(y).clamp_(0)", "torch.add torch.clamp"),
        ("return F.gelu(torch.linalg.vector_norm(x))", "torch.linalg.vector_norm F.gelu"),
        ("return torch.special.entr(x) + abs(y)", "torch.special.entr torch.abs torch.add"),
        ("return torch.nn.functional.relu_(x)", "F.relu"),
        ("return nn.ReLU()(x)", "nn.ReLU"),
        ("return torch.stack([x[:, i] * 2 for i in range(3)])", "torch.mul torch.stack"),
    ],
)
def test_operators_are_named_in_the_order_in_which_they_are_evaluated(forward, names):
    assert operator_names(model(forward)) == tuple(names.split())


@pytest.mark.parametrize(
    ("init", "forward", "names"),
    [
        ("self.a = nn.Linear(size, size)", "return self.a(self.a(x))", "nn.Linear nn.Linear"),
        (
            "self.a = nn.Sequential(nn.Conv2d(1, 1, 1), nn.ReLU())",
            "return self.a(x)",
            "nn.Conv2d nn.ReLU",
        ),
        ("self.a = nn.ModuleList([nn.Tanh()])", "for f in self.a: x = f(x); return x", "nn.Tanh"),
        ("b = []; b.append(nn.ELU()); self.a = nn.Sequential(*b)", "return self.a(x)", "nn.ELU"),
        ("self.a = F.silu", "return self.a(x)", "F.silu"),
        ("self.unused = nn.GELU()", "return x.exp()", "torch.exp"),
        ("self.w = nn.Parameter(torch.randn(size))", "return x * self.w", "torch.mul"),
    ],
)
def test_modules_are_resolved_through_the_constructor(init, forward, names):
    assert operator_names(model(forward, init)) == tuple(names.split())


@pytest.mark.parametrize(
    "forward",
    [
        "n = x.size(0) // 2 + 1; return x",
        "b, c = x.shape; k = b * c; return x if k > 3 else y",
        "return x[: len(x) - 1]",
        "s = math.sqrt(self.size) * 2; return x",
        "z = self.rate * self.size; return x",
    ],
)
def test_arithmetic_on_sizes_and_settings_is_no_operator(forward):
    assert operator_names(model(forward, "self.size = size; self.rate = rate")) == ()


def test_helpers_are_followed_each_in_its_place():
    rest = (
        "    def tail(self, x): return torch.exp(x)\n"
        "def helper(x): return F.silu(x)\n"
        "class Block(nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n        self.act = nn.Mish()\n"
        "    def forward(self, x): return self.act(x).sum()\n"
    )
    code = model("return self.tail(helper(self.block(x)))", "self.block = Block()", rest)

    assert operator_names(code) == ("nn.Mish", "torch.sum", "F.silu", "torch.exp")


def test_a_builder_of_modules_is_read_without_its_arithmetic():
    rest = (
        "    def make(self, width):\n        layers = [nn.Conv2d(width * 2, width, 1)]\n"
        "        layers.append(nn.ReLU())\n        return nn.Sequential(*layers)\n"
    )
    assert operator_names(model("return self.a(x)", "self.a = self.make(3)", rest)) == (
        "nn.Conv2d",
        "nn.ReLU",
    )


def test_texts_that_unfold_without_end_are_cut_off():
    doubling = "".join(f"def f{i}(x): return f{i + 1}(f{i + 1}(x))\n" for i in range(40))
    circular = "def g(x): return g(x) + 1\n"

    assert (
        len(operator_names(model("return f0(x)", rest=doubling + "def f40(x): return -x"))) < 5_000
    )
    assert operator_names(model("return g(x)", rest=circular)) == ("torch.add",)


def test_a_text_without_a_model_has_no_operators():
    assert operator_names("import torch\ntorch.relu(x)") == ()


def test_the_sample_reads_as_a_person_reads_it():
    assert operator_names(RELU_MEAN) == ("nn.Linear", "torch.relu", "torch.mean")


def test_every_module_class_and_function_of_torch_is_spelled_by_the_convention():
    classes = [n for n, c in vars(nn).items() if inspect.isclass(c) and issubclass(c, nn.Module)]

    assert {n for n in classes if spelled(f"torch.nn.{n}") != f"nn.{n}"} == CONTAINERS & {*classes}
    for name in ("gelu", "conv2d", "scaled_dot_product_attention"):
        assert hasattr(F, name)
        assert spelled(f"torch.nn.functional.{name}") == f"F.{name}"


def test_a_method_is_named_after_torch_exactly_when_torch_has_the_function():
    methods = [name for name in dir(torch.Tensor) if name[0] != "_" and name[-1] != "_"]
    callables = [name for name in methods if callable(getattr(torch.Tensor, name))]
    named = {name: operator for name in callables if (operator := method_operator(name))}

    assert len(named) > 300
    for name, operator in named.items():
        assert operator == f"torch.{'' if _is_function(name) else 'Tensor.'}{name}"


def _is_function(name):
    found = getattr(torch, name, None)
    return callable(found) and not inspect.isclass(found)
