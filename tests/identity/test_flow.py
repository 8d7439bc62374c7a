import time

import pytest

from fusewright.identity import flow

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"


def model(forward, init="pass", extra="", inputs="x"):
    """Text of a model whose constructor and forward hold the given lines."""
    lines = "\n        ".join
    return (
        f"{HEAD}{extra}\nclass Model(nn.Module):\n"
        f"    def __init__(self, width=8):\n        super().__init__()\n"
        f"        {lines(init.splitlines())}\n"
        f"    def forward(self, {inputs}):\n        {lines(forward.splitlines())}\n"
    )


LINEAR = "self.fc = nn.Linear(width, width)"
INNER = """
class Inner(nn.Module):
    def __init__(self, width, act):
        super().__init__()
        self.fc = nn.Linear(width, width)
        self.act = act

    def forward(self, x):
        return self.act(self.fc(x))
"""
SAME = {
    "module or function": (
        model("return self.act(x)", "self.act = nn.ReLU()"),
        model("return F.relu(x)"),
    ),
    "method or function": (model("return torch.tanh(x)"), model("return x.tanh()")),
    "in place": (model("x = x * 2\nx.relu_()\nreturn x"), model("return torch.relu(x * 3)")),
    "augmented": (model("x += 1\nreturn x"), model("return x + 1")),
    "infix or function": (model("return x @ y", inputs="x, y"),
                          model("return torch.matmul(x, y)", inputs="x, y")),
    "operands that commute": (
        model("return torch.sin(x) * torch.cos(x)"),
        model("return torch.cos(x) * torch.sin(x)"),
    ),
    "order of lines": (
        model("a = x.sin()\nb = x.cos()\nreturn a - b"),
        model("b = x.cos()\na = x.sin()\nreturn a - b"),
    ),
    "casts": (
        model("return F.gelu(x)"),
        model("x = x.to(torch.bfloat16)\ny = F.gelu(x.contiguous())\nreturn y.float()"),
    ),
    "weights of a module": (
        model("return self.fc(x)", LINEAR),
        model("return F.linear(x, self.w, self.b)",
              "self.w = nn.Parameter(torch.randn(8, 8))\nself.b = nn.Parameter(torch.zeros(8))"),
    ),
    "dead lines": (
        model("return x.exp()"),
        model("unused = x * 2\nx + 1\nassert x.dim() >= 0\nreturn x.exp()"),
    ),
    "a container or its parts": (
        model("return self.net(x)", "self.net = nn.Sequential(nn.Linear(8, 8), nn.ReLU())"),
        model("return torch.relu(self.fc(x))", LINEAR),
    ),
    "a list of modules": (
        model("for f in self.fs:\n    x = f(x)\nreturn x",
              "self.fs = nn.ModuleList([nn.Linear(8, 8), nn.ReLU()])"),
        model("return torch.relu(self.fc(x))", LINEAR),
    ),
    "a list that is appended to": (
        model("return self.net(x)",
              "parts = []\nparts.append(nn.Linear(8, 8))\nparts += [nn.ReLU()]\n"
              "self.net = nn.Sequential(*parts)"),
        model("return torch.relu(self.fc(x))", LINEAR),
    ),
    "a class of the file": (
        model("return self.inner(x)", "self.inner = Inner(width, nn.ReLU())", INNER),
        model("return torch.relu(self.fc(x))", LINEAR),
    ),
    "any number of inputs": (
        model("return self.inner(*inputs)", "self.inner = Inner(width, act=nn.ReLU())", INNER,
              inputs="*inputs"),
        model("return torch.relu(self.fc(x))", LINEAR),
    ),
    "a helper": (
        model("return both(x, 2)", extra="def both(a, n):\n    return a.sin() + n\n"),
        model("return torch.sin(x) + 5"),
    ),
    "a lambda": (model("f = lambda a: a.sin()\nreturn f(x)"), model("return torch.sin(x)")),
    "a method of self": (
        model("return self.act(x)") + "\n    def act(self, a):\n        return a.sin()\n",
        model("return torch.sin(x)"),
    ),
    "what a tuple holds": (
        model("a, b = x.sin(), x.cos()\nreturn a / b"),
        model("return torch.sin(x) / torch.cos(x)"),
    ),
    "sizes": (model("return x.reshape(x.shape[0], 4).sum(1)"),
              model("n = x.size(0) // 2\nreturn x.view(n, -1).sum(dim=-1)")),
}  # fmt: skip
OTHER = {
    "another operator": (model("return x.sin()"), model("return x.cos()")),
    "the other way about": (model("return x.sin().cos()"), model("return x.cos().sin()")),
    "operands that do not commute": (model("return 1 - x"), model("return x - 1")),
    "another input": (model("return x - y.sin()", inputs="x, y"),
                      model("return x - x.sin()", inputs="x, y")),
    "one more": (model("return x.sin()"), model("return x.sin().sin()")),
    "a name that hides an import": (model("return F.relu(x)"),
                                    model("F = x\nreturn F.relu()[0]")),
}  # fmt: skip


@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=SAME)
def test_the_same_computation_has_the_same_graph_however_it_is_written(one, other):
    assert flow(one).digest == flow(other).digest != 0
    assert flow(one) == flow(other)


@pytest.mark.parametrize(("one", "other"), OTHER.values(), ids=OTHER)
def test_another_computation_has_another_graph(one, other):
    assert flow(one).digest != flow(other).digest


def test_an_if_gives_both_outcomes_and_a_loop_counts_once():
    branches = flow(model("if width:\n    x = x.sin()\nelse:\n    x = x.cos()\nreturn x"))
    loop = flow(model("for _ in range(9):\n    x = x.sin()\nreturn x"))

    assert branches.operators == ("cos", "either", "sin")
    assert loop.operators == ("sin",)


def test_pieces_tell_how_much_two_graphs_share():
    one = flow(model("return x.sin().cos().exp().tanh()")).pieces
    near = flow(model("return x.sin().cos().exp().log()")).pieces
    far = flow(model("return x.log().tanh().erf().sigmoid()")).pieces

    assert len(one & near) > len(one & far)


@pytest.mark.parametrize("code", [HEAD, model("return 3"), model("pass"), "class Model: pass"])
def test_what_computes_nothing_has_no_graph(code):
    assert flow(code) == type(flow(code))(0, frozenset(), ())


BOMBS = {
    "a list that doubles": "a = [x]\n" + "a = a + a\n" * 60 + "return torch.cat(a)",
    "a list in a list": "a = [x]\n" + "a = [a, a]\n" * 60 + "return torch.cat(a)",
    "loops in loops": "".join(
        f"{'    ' * depth}for v{depth} in [1] * 9, 2, 3, 4, 5, 6, 7, 8:\n" for depth in range(9)
    )
    + "    " * 9
    + "x = x.sin()\nreturn x",
    "a value used by all": "".join(f"x = torch.cat([{'x, ' * 200}])\n" for _ in range(30))
    + "return x",
}


@pytest.mark.parametrize("forward", BOMBS.values(), ids=BOMBS)
def test_a_text_made_to_be_costly_is_cut_off(forward):
    began = time.process_time()
    flow(model(forward))
    assert time.process_time() - began < 3


def test_functions_that_call_one_another_without_end_are_cut_off():
    code = model(
        "return a(x)",
        extra="def a(x):\n    return b(x) + b(x)\ndef b(x):\n    return a(x) * a(x)\n",
    )
    began = time.process_time()
    flow(code)
    assert time.process_time() - began < 3
