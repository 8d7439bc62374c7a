import pytest

from fusewright.filters.unused import Unused
from fusewright.protocols import ProblemFilter
from fusewright.testing import RELU_MEAN, check_filter, make_problem

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"


def problem(forward="return self.a(x)", init="self.a = nn.Linear(3, 3)", rest="", head=""):
    inits = "".join(f"        {line}\n" for line in init.split("; "))
    lines = "".join(f"        {line}\n" for line in forward.split("; "))
    return make_problem(
        f"{HEAD}{head}class Model(nn.Module):\n    def __init__(self, size):\n"
        f"        super().__init__()\n{inits}    def forward(self, x, y=None):\n"
        f"        x = x if y is None else x + y\n{lines}{rest}"
    )


def test_the_filter_satisfies_its_protocol():
    judge: ProblemFilter = Unused()
    check_filter(judge, make_problem(RELU_MEAN), reason=None)


def test_an_argument_that_is_never_read_is_named():
    code = RELU_MEAN.replace("forward(self, x)", "forward(self, x, mask, *rest)")
    found = check_filter(Unused(), make_problem(code), reason="unused_argument")

    assert found.detail == "forward never reads its argument mask, rest"


@pytest.mark.parametrize(
    ("init", "forward"),
    [
        ("self.a = nn.Linear(3, 3); self.b = nn.ReLU()", "return self.a(x)"),
        ("self.a = nn.Linear(3, 3); self.b = nn.Parameter(torch.ones(3))", "return self.a(x)"),
        ("self.a = nn.ReLU(); self.register_buffer('b', torch.ones(3))", "return self.a(x)"),
        (
            "self.a = nn.ReLU(); self.b = nn.Linear(3, 3); nn.init.ones_(self.b.weight)",
            "return self.a(x)",
        ),
        (
            "self.a = nn.ReLU(); self.b = nn.GELU(); self.c = nn.Sequential(self.b)",
            "return self.a(x)",
        ),
    ],
)
def test_a_module_that_is_built_and_left_alone_is_named(init, forward):
    found = check_filter(Unused(), problem(forward, init), reason="unused_module")

    assert "Model.b" in found.detail
    assert "Model.a" not in found.detail


def test_a_method_that_forward_never_calls_uses_nothing():
    rest = "    def extra(self, x):\n        return self.b(x)\n"
    init = "self.a = nn.ReLU(); self.b = nn.GELU()"

    check_filter(Unused(), problem(init=init, rest=rest), reason="unused_module")
    check_filter(Unused(), problem("return self.extra(self.a(x))", init, rest), reason=None)


@pytest.mark.parametrize(
    ("init", "forward"),
    [
        ("self.b = nn.ReLU(); self.a = nn.Sequential(self.b)", "return self.a(x)"),
        (
            "self.b = nn.ReLU(); parts = [self.b]; self.a = nn.Sequential(*parts)",
            "return self.a(x)",
        ),
        (
            "b = []; self.c = nn.ReLU(); b.append(self.c); self.a = nn.Sequential(*b)",
            "return self.a(x)",
        ),
        (
            "self.a = nn.Linear(3, 3); self.b = nn.Linear(3, 3); self.a.weight = self.b.weight",
            "return self.a(x)",
        ),
        ("self.a = nn.ReLU(); self.b = nn.ReLU()", "for m in self.children(): x = m(x); return x"),
        ("self.a = nn.ReLU(); self.b = nn.ReLU()", "return F.relu(self, x)"),
        (
            "self.a = nn.ReLU(); self.size = size; self.device = torch.device('cpu')",
            "return self.a(x)",
        ),
        ("self.a = nn.ParameterList([nn.Parameter(torch.ones(3))])", "return x * self.a[0]"),
    ],
)
def test_a_module_that_serves_in_any_way_is_used(init, forward):
    check_filter(Unused(), problem(forward, init), reason=None)


def test_helper_classes_are_looked_at_too():
    head = (
        "class Block(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.act = nn.ReLU()\n        self.bare = nn.GELU()\n"
        "    def forward(self, x):\n        return self.act(x)\n"
    )
    init = "self.a = Block()"

    found = check_filter(Unused(), problem(init=init, head=head), reason="unused_module")
    assert found.detail == "never used: Block.bare"
    outside = problem("return self.a.bare(self.a(x))", init, head=head)
    check_filter(Unused(), outside, reason=None)


def test_a_base_class_of_the_file_counts_with_its_heir():
    head = (
        "class Base(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.act = nn.ReLU()\n"
    )
    code = problem("return self.act(self.a(x))", head=head).code.replace(
        "Model(nn.Module)", "Model(Base)"
    )

    check_filter(Unused(), make_problem(code), reason=None)
    check_filter(
        Unused(),
        make_problem(code.replace("self.act(self.a(x))", "self.a(x)")),
        reason="unused_module",
    )


@pytest.mark.parametrize("line", ["z = x * 2", "x.relu()", "torch.exp(x)", "print(x)"])
def test_a_statement_whose_value_never_reaches_the_output_is_dead_code(line):
    found = check_filter(Unused(), problem(f"{line}; return self.a(x)"), reason="dead_code")

    assert found.detail == "what line 10 computes never reaches the output"


@pytest.mark.parametrize("line", ["x = x * 2", "x.relu_()", "x[0] = 1", "assert x.dim() == 2"])
def test_a_statement_that_matters_is_kept(line):
    check_filter(Unused(), problem(f"{line}; return self.a(x)"), reason=None)


def test_every_reason_that_applies_is_among_the_faults():
    code = problem("z = x * 2; return self.a(x)", "self.a = nn.ReLU(); self.b = nn.GELU()").code
    faults = Unused().faults(make_problem(code.replace("y=None", "y=None, w=None")))

    assert [f.reason for f in faults] == ["unused_argument", "unused_module", "dead_code"]
