import ast

import pytest

from fusewright.identity import read
from fusewright.identity.liveness import dead_in_forward, unread_parameters

HEAD = """\
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.ReLU(inplace=True)
        self.seen = 0

    def pure(self, x):
        return x + 1

    def impure(self, x):
        x[0] = self.seen

    def forward(self, x, y):
"""


def program(body):
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    return read(HEAD + lines)


@pytest.mark.parametrize(
    "body",
    [
        "z = y * 2\nreturn x",
        "a = y + 1\nb = a * 2\nc, d = b.chunk(2)\nreturn x",
        "x.relu()\nreturn x",
        "F.relu(x)\nprint(x)\nself.pure(x)\nreturn x",
        "x = y\nx = y + 1\nreturn x",
        "if y.sum() > 0:\n    z = y\nreturn x",
        "for i in range(3):\n    z = x * i\nreturn x",
        "z = x.clone()\nz += 1\nz[0] = 2\nz.add_(1)\nreturn x",
        "self.kept = x\nreturn x",
        "def f(a):\n    return a\nreturn x",
        "with torch.no_grad():\n    z = x\nreturn x",
        "z: int = 1\nreturn x",
        "try:\n    z = x\nexcept ValueError:\n    z = y\nreturn x",
    ],
)
def test_what_never_reaches_the_output_is_dead(body):
    expected = [i for i, line in enumerate(body.splitlines(), HEAD.count("\n") + 1) if _dead(line)]
    found = [statement.lineno for statement in dead_in_forward(program(body))]

    assert found == expected


def _dead(line):
    alive = ("return", "x = y + 1", "if ", "for ", "with ", "try", "except", "    return")
    return not line.startswith(alive)


@pytest.mark.parametrize(
    "body",
    [
        "z = x * 2\nreturn z + y",
        "z = x.view(-1)\nz += 1\nreturn x",
        "z = x\nz[0] = y\nreturn x",
        "a, b = x.chunk(2)\na.mul_(y)\nreturn x",
        "for row in x:\n    row.add_(1)\nreturn x",
        "out = torch.empty(3)\ntorch.add(x, y, out=out)\nreturn out",
        "parts = []\nfor i in range(3):\n    parts.append(x * i)\nreturn torch.stack(parts)",
        "F.relu(x, inplace=True)\nreturn x",
        "self.act(x)\nself.impure(x)\nreturn x",
        "self.seen = x\nreturn x + self.seen",
        "h = y\nfor i in range(3):\n    x = x + h\n    h = x * i\nreturn x",
        "while x.sum() > 0:\n    y = x\n    if y.min() > 1: break\n    x = y - 1\nreturn x, y",
        "assert x.dim() == 2\nn = x.size(0)\nif n > 3:\n    raise ValueError(n)\nreturn x",
        "z = 1\ntry:\n    z = x.item()\n    z = y.item()\nexcept ValueError: return z\nreturn z",
        "def f(a):\n    return a * y\nreturn f(x)",
        "g = lambda a: a * y\nreturn g(x)",
        "if (n := x.size(0)) > 1:\n    x = x * n\nreturn x",
        "z: torch.Tensor\nz = x\nreturn z",
        "match x.dim():\n    case 2:\n        z = x\n    case _:\n        z = y\nreturn z",
        '"""Text."""\nreturn x',
    ],
)
def test_what_reaches_the_output_by_any_way_is_alive(body):
    assert dead_in_forward(program(body)) == []


def test_what_follows_a_return_is_dead():
    dead = dead_in_forward(program("return x\ny = x\nreturn y"))

    assert [ast.unparse(statement) for statement in dead] == ["y = x", "return y"]


@pytest.mark.parametrize(
    ("body", "unread"),
    [
        ("return x + y", []),
        ("return x", ["y"]),
        ("y = x\nreturn y", ["y"]),
        ("z = y\nreturn x", []),
        ("y += x\nreturn x", []),
        ("return (lambda: y)() + x", []),
        ("if x.sum() > 0:\n    y = x\nreturn y", []),
    ],
)
def test_a_parameter_is_read_where_its_value_is(body, unread):
    found = program(body)

    assert unread_parameters(found, found.methods(found.classes["Model"])["forward"]) == unread


def test_statements_in_deep_loops_are_decided_in_reasonable_time():
    body = "".join("    " * depth + f"for i{depth} in range(3):\n" for depth in range(18))
    body += "    " * 18 + "x = x + y\nreturn x"

    assert dead_in_forward(program(body)) == []
