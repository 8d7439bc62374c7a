import pytest

from fusewright.filters.contract import Contract
from fusewright.protocols import ProblemFilter
from fusewright.testing import RELU_MEAN, check_filter, make_problem


def test_the_filter_satisfies_its_protocol():
    judge: ProblemFilter = Contract()
    assert judge.name == "contract"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(nn.Module)", "(torch.nn.Module)"),
        ("import torch.nn as nn", "from torch import nn"),
        ("class Model(nn.Module)", "class Base(nn.Module):\n    pass\n\nclass Model(Base)"),
        ("get_inputs()", "get_inputs(size=3, *args, seed=0, **kwargs)"),
    ],
)
def test_the_form_may_be_spelled_in_other_ways(old, new):
    check_filter(Contract(), make_problem(RELU_MEAN.replace(old, new)), reason=None)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("class Model", "class Net", "no class Model"),
        ("(nn.Module)", "", "does not derive"),
        ("(nn.Module)", "(nn.Linear)", "does not derive"),
        ("import torch.nn as nn", "import nn", "does not derive"),
        ("def forward", "def backward", "no forward"),
        ("def forward(self, x)", "def forward()", "does not take self"),
        ("    def forward", "    async def forward", "no forward"),
        ("def get_inputs()", "def inputs()", "no function get_inputs"),
        ("def get_init_inputs():", "if True:\n  def get_init_inputs():", "no function get_init"),
        ("get_inputs()", "get_inputs(size)", "requires size"),
        ("get_init_inputs()", "get_init_inputs(*, size)", "requires size"),
    ],
)
def test_a_part_that_is_missing_or_of_the_wrong_form_is_named(old, new, says):
    code = RELU_MEAN.replace(old, new)
    found = check_filter(Contract(), make_problem(code), reason="contract_missing")

    assert says in found.detail


@pytest.mark.parametrize(
    "code",
    ["", "def f(:", "return 1", "x = '\ud800'", "a\0", "(" * 3000, "x = 1\n" * 99_999, "await x"],
)
def test_text_that_does_not_compile_is_a_syntax_error(code):
    reason = "syntax_error" if code else "contract_missing"
    check_filter(Contract(), make_problem().model_copy(update={"code": code}), reason=reason)


def test_a_syntax_error_says_where():
    found = check_filter(Contract(), make_problem("x = 1\ny = ("), reason="syntax_error")

    assert found.detail == "the text is not Python in line 2: '(' was never closed"
