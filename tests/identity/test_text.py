import ast
import builtins
import keyword

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fusewright.identity import canonical, text_hash
from fusewright.testing import RELU_MEAN

TEMPLATE = """\
import torch
import torch.nn as {nn}
from torch.nn import functional as {F}
{size} = 8

def {helper}({value}, {scale}=2.0):
    return {F}.{op}({value}) * {scale}

class {Block}({nn}.Module):
    def __init__(self, {width}):
        super().__init__()
        self.{layer} = {nn}.Linear({width}, {width})
        self.register_buffer("{mask}", torch.ones({width}))

    def forward(self, {value}):
        return self.{layer}({value}) + self.{mask}

class Model({nn}.Module):
    def __init__(self, {width}):
        super().__init__()
        self.{block} = {Block}({width}={width})
        self.{layer} = {nn}.Linear({width}, {width})

    def {method}(self, {value}):
        return [{scale} for {scale} in {value}.mean(1) + self.{layer}.weight]

    def forward(self, {value}):
        {mask} = {helper}(self.{block}({value}), {scale}=3.0)
        return {mask}, self.{block}.{layer}.weight, self.{method}({value})

def get_inputs():
    return [torch.randn({size}, 4)]

def get_init_inputs():
    return [4]
"""
FREE = ["nn", "F", "size", "helper", "value", "scale"]
FREE += ["Block", "width", "layer", "mask", "block", "method"]
PLAIN = {name: name for name in FREE} | {"op": "relu"}
TAKEN = {*keyword.kwlist, *dir(builtins), "self", "torch", "weight", "mean", "forward", "ones"}

names = st.from_regex(r"[a-zA-Z][a-z_0-9]{1,6}", fullmatch=True).filter(lambda n: n not in TAKEN)
renamings = st.lists(names, min_size=len(FREE), max_size=len(FREE), unique=True).map(
    lambda new: dict(zip(FREE, new, strict=True))
)


@given(renamings)
def test_the_canonical_text_is_the_same_under_every_renaming(renaming):
    assume("Model" not in renaming.values())
    renamed = TEMPLATE.format(**renaming, op="relu")

    assert canonical(renamed) == canonical(TEMPLATE.format(**PLAIN))


@given(st.sampled_from(["relu", "gelu", "silu", "mish"]), st.sampled_from(["relu", "gelu", "silu"]))
def test_the_canonical_text_changes_exactly_when_an_operator_does(one, other):
    texts = [canonical(TEMPLATE.format(**PLAIN | {"op": op})) for op in (one, other)]

    assert (texts[0] == texts[1]) == (one == other)


@given(st.lists(st.integers(0, 60), max_size=8))
def test_comments_and_blank_lines_change_nothing(places):
    lines = RELU_MEAN.splitlines()
    outside = [i for i, line in enumerate(lines) if '"""' not in line]
    for place in sorted({place % len(outside) for place in places}, reverse=True):
        lines.insert(outside[place], "\n        # a note\n")

    assert canonical("\n".join(lines)) == canonical(RELU_MEAN)


@pytest.mark.parametrize("code", [RELU_MEAN, TEMPLATE.format(**PLAIN)])
def test_the_canonical_text_is_its_own_canonical_text(code):
    once = canonical(code)

    assert canonical(once) == once
    assert canonical(ast.unparse(ast.parse(code))) == once


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "import torch.nn as nn\ny = nn.ReLU()",
            "from torch import nn as layers\ny = layers.ReLU()",
        ),
        ("import torch\ny = torch.nn.ReLU()", "from torch.nn import ReLU as R\ny = R()"),
        ("import torch.nn.functional as F\nF.gelu", "import torch\ntorch.nn.functional.gelu"),
        (
            "def f(x: int = 2) -> int:\n    'text'\n    y: int = x\n    return y",
            "def f(a=2):\n    b = a\n    return b",
        ),
        (
            "class A:\n    def f(self):\n        super(A, self).f()",
            "class B:\n    def g(me):\n        super().f()",
        ),
        ("x = [i for i in range(3)]\ni = 1", "x = [j for j in range(3)]\nk = 1"),
        (
            "try:\n    pass\nexcept ValueError as e:\n    print(e)",
            "try:\n    'no'\nexcept ValueError as error:\n    print(error)",
        ),
        (
            "def f(x):\n    def g(y, *, z):\n        return x + y + z\n    return g(x, z=1)",
            "def h(a):\n    def k(b, *, c):\n        return a + b + c\n    return k(a, c=1)",
        ),
        ("f = lambda x, *y: x", "g = lambda a, *b: a"),
        (
            "class A:\n    def f(self, x): return self.g(x=x)\n    def g(self, x): return x",
            "class A:\n    def u(self, y): return self.v(z=y)\n    def v(self, z): return z",
        ),
    ],
)
def test_spelling_changes_nothing(one, other):
    assert canonical(one) == canonical(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x = 1", "x = 2"),
        ("x = 1", "x = 1.0"),
        ("x = 'sum'", "x = 'mean'"),
        ("def f(x, y): return x - y", "def f(x, y): return y - x"),
        (
            "def f(x):\n    def g(y): return x\n    return g",
            "def f(x):\n    def g(y): return y\n    return g",
        ),
        ("import torch\nf = torch.relu", "import torch.nn.functional as F\nf = F.relu"),
        ("class A:\n    def f(self): return self.a", "class A:\n    def f(self): return self.b"),
        ("f(a=1)", "f(b=1)"),
    ],
)
def test_meaning_changes_the_canonical_text(one, other):
    assert canonical(one) != canonical(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("x = [1, -2]", "x = [7, 3]"), ("x = 2 * 1024", "x = 9.5"), ("x = 1j", "x = 0")],
)
def test_numbers_can_be_left_out(one, other):
    assert canonical(one, numbers=False) == canonical(other, numbers=False)
    assert canonical(one) != canonical(other)


def test_flags_and_lengths_are_no_numbers():
    assert canonical("x = True", numbers=False) != canonical("x = False", numbers=False)
    assert canonical("x = [1]", numbers=False) != canonical("x = [1, 1]", numbers=False)


def test_a_text_hash_is_sixteen_hex_digits_that_never_change():
    assert text_hash("a") == "e6c632b61e964e1f"
    assert text_hash("\ud800") != text_hash("")


@pytest.mark.parametrize(
    "code",
    [
        "def f(:",
        "a\0b",
        "x = '\ud800'",
        "(" * 5000 + "1" + ")" * 5000,
        "-" * 90_000 + "1",
        "+".join(["1"] * 50_000),
        "a" + ".b" * 50_000,
        "if a: pass\n" + "elif a: pass\n" * 5_000,
        "x = 0x" + "f" * 10_000,
        "f(" * 150 + ")" * 150,
        "x = 1\n" * 50_000,
    ],
    ids=lambda code: code[:12].encode("unicode_escape").decode(),
)
def test_hostile_text_is_a_syntax_error_and_nothing_else(code):
    with pytest.raises(SyntaxError):
        canonical(code)


def test_a_tree_near_the_depth_limit_is_read():
    code = "x = " + "+".join(["a"] * 70)

    assert canonical(code) == canonical(code.replace("x", "y"))
