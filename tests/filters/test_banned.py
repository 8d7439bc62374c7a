import inspect

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from fusewright.filters.banned import Banned
from fusewright.filters.forbidden import is_forbidden
from fusewright.protocols import ProblemFilter
from fusewright.testing import RELU_MEAN, check_filter, make_problem

HEAD = "import math\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"


def problem(forward="return x", init="pass", rest=""):
    return make_problem(
        f"{HEAD}class Model(nn.Module):\n"
        f"    def __init__(self, size, rate=0.0):\n        super().__init__()\n        {init}\n"
        f"    def helper(self, x):\n        return x\n"
        f"    def forward(self, x):\n        {forward}\n"
        f"def get_inputs():\n    return [torch.rand(8), torch.randn(8).normal_()]\n"
        f"def get_init_inputs():\n    return [8]\n{rest}\n"
    )


def test_the_filter_satisfies_its_protocol():
    judge: ProblemFilter = Banned()
    check_filter(judge, make_problem(RELU_MEAN), reason=None)


@pytest.mark.parametrize(
    "forward",
    [
        "return math.sqrt(2) * x.chunk(2)[0].select(0, 1)",
        "return getattr(self, 'helper')(x)",
        "return torch.fft.fft(x).real + torch.linalg.vector_norm(x) + torch.special.entr(x)",
        "return x.to(torch.float64) * torch.finfo(torch.float32).eps",
        "input = x; compile = input; return compile",
        "return (lambda open: open + 1)(x)",
        "return F.dropout(x, 0.0) + F.dropout(x, training=False)",
        "return x if torch.cuda.is_available() else -x",
        "return nn.init.zeros_(x)",
        "nn.Module.__init__(self); return x",
    ],
)
def test_what_only_computes_is_kept(forward):
    check_filter(Banned(), problem(forward), reason=None)


@pytest.mark.parametrize(
    "line",
    [
        *("import os", "import numpy as np", "import torch.cuda", "from torch import load"),
        *("from torch import *", "from . import x", "from torch.utils import cpp_extension"),
        *("import math as torch", "from torch.nn.functional import importlib"),
        *("from typing import sys", "import typing\ntyping.sys.exit()"),
        "open = 1\nopen('x')",
        "@torch.jit.script\ndef f(x): return x",
        "class A(nn.Module):\n    @property\n    def x(self): return 1",
        "async def f(): pass",
    ],
)
def test_imports_and_definitions_that_no_problem_needs_are_banned(line):
    check_filter(Banned(), problem(rest=line), reason="banned_call")


@pytest.mark.parametrize(
    "expression",
    [
        *("open('x')", "eval('x')", "[exec][0]('x')", "__import__('os')", "globals()"),
        *("getattr(x, self.name)", "getattr(x, '__class__')", "setattr(x, 'a' + 'b', 1)"),
        *("getattr(torch, 'load')('x')", "getattr", "x.__class__", "super().__getattribute__('a')"),
        *("__builtins__", "torch.load('x')", "torch.save(x, 'y')", "torch.hub.load('a', 'b')"),
        *("torch.ops.load_library('x')", "torch.utils.cpp_extension.load('x')", "torch.os.system"),
        *("torch.cuda.synchronize()", "torch.cuda.set_device(0)", "torch.manual_seed(0)"),
        *("torch.set_default_dtype(torch.float64)", "torch.set_num_threads(1)"),
        *("torch.backends.cudnn", "torch.compile(self)", "torch.jit.trace", "torch._C"),
        *("x.data_ptr()", "x.numpy()", "self.register_forward_hook(x)", "x.untyped_storage()"),
        *(
            "(i for i in x).gi_frame.f_builtins",
            "[torch][0].load",
            "F.importlib",
            "torch.fft.torch",
        ),
    ],
)
def test_calls_that_no_problem_needs_are_banned(expression):
    check_filter(Banned(), problem(f"return {expression}"), reason="banned_call")


def test_a_global_statement_is_banned():
    check_filter(Banned(), problem("global a; a = x; return a"), reason="banned_call")


def test_the_first_line_that_is_at_fault_is_named():
    found = check_filter(Banned(), problem("y = x.numpy(); return eval(y)"), reason="banned_call")

    assert found.detail == "line 12: attribute numpy is not allowed"


def test_further_imports_can_be_allowed():
    text = problem(rest="import einops\nfrom collections.abc import Sequence")
    allowed = (*Banned().imports, "einops", "collections.abc")

    check_filter(Banned(), text, reason="banned_call")
    check_filter(Banned(imports=allowed), text, reason=None)


@pytest.mark.parametrize(
    "forward",
    [
        *("return x + torch.rand(8)", "return torch.randn_like(x)", "return torch.bernoulli(x)"),
        *("return x.normal_()", "return torch.multinomial(x, 1)", "return F.dropout(x)"),
        *("return F.dropout(x, 0.5, True)", "return F.dropout2d(x, p=0.1)", "return F.rrelu(x)"),
        *("return nn.Dropout()(x)", "return F.gumbel_softmax(x)", "return nn.init.normal_(x)"),
        "return F.fractional_max_pool2d(x, 2, 1)",
        "return F.scaled_dot_product_attention(x, x, x, dropout_p=0.1)",
        "return F.dropout(x, self.rate, training=self.training)",
    ],
)
def test_randomness_in_forward_is_named(forward):
    check_filter(Banned(), problem(forward, "self.rate = 0.2"), reason="random_forward")


@pytest.mark.parametrize(
    "init",
    [
        *("self.drop = nn.Dropout()", "self.drop = nn.Dropout2d(p=0.2)", "self.act = nn.RReLU()"),
        *("self.enc = nn.TransformerEncoderLayer(8, 2)", "self.rnn = nn.LSTM(8, 8, dropout=0.1)"),
        *("self.drop = nn.Dropout(size)", "self.noise = lambda x: x + torch.rand_like(x)"),
        "self.pool = nn.FractionalMaxPool2d(2, 1)",
    ],
)
def test_random_modules_are_named(init):
    check_filter(Banned(), problem(init=init), reason="random_forward")


@pytest.mark.parametrize(
    "init",
    [
        *("self.drop = nn.Dropout(0.0)", "self.drop = nn.Dropout(p=rate)"),
        *("self.w = nn.Parameter(torch.randn(8))", "nn.init.normal_(self.w)"),
        "self.enc = nn.TransformerEncoderLayer(8, 2, dropout=0)",
    ],
)
def test_random_weights_and_a_rate_of_zero_are_kept(init):
    check_filter(Banned(), problem(init=init), reason=None)


def test_randomness_in_what_forward_calls_is_found_and_elsewhere_is_not():
    noisy = "def noise(x):\n    return x + torch.rand(8)"

    check_filter(Banned(), problem("return noise(x)", rest=noisy), reason="random_forward")
    check_filter(Banned(), problem("return x", rest=noisy), reason=None)


def test_every_reason_that_applies_is_among_the_faults():
    faults = Banned().faults(problem("return F.dropout(eval('x'))"))

    assert [fault.reason for fault in faults] == ["banned_call", "random_forward"]


def test_no_operator_of_torch_is_banned_by_its_path():
    functions = [f"torch.nn.functional.{n}" for n, f in vars(F).items() if callable(f)]
    modules = [f"torch.nn.{n}" for n, c in vars(nn).items() if inspect.isclass(c)]
    linalg = [f"torch.linalg.{name}" for name in dir(torch.linalg)]
    methods = [f"torch.{n}" for n in dir(torch.Tensor) if callable(getattr(torch, n, None))]
    public = [p for p in functions + modules + linalg + methods if "._" not in p]

    assert len(public) > 700
    assert [path for path in public if is_forbidden(path)] == []


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("F.relu = torch.sigmoid", "banned_call"),
        ("nn.Linear.forward = None", "banned_call"),
        ("G = F\n        G.relu = None", "banned_call"),
        ("type(self).forward = None", "banned_call"),
        ("setattr(F, 'relu', None)", "banned_call"),
        ("del torch.relu", "banned_call"),
        ("self.seen = x", None),
        ("self.proj.scale = x", None),
    ],
)
def test_nothing_but_the_model_itself_is_assigned_to(line, reason):
    code = RELU_MEAN.replace("import torch.nn as nn\n", "import torch.nn as nn\n" + FUNCTIONAL)
    marker = "        x = torch.relu"

    check_filter(
        Banned(), make_problem(code.replace(marker, f"        {line}\n{marker}")), reason=reason
    )


FUNCTIONAL = "import torch.nn.functional as F\n"
