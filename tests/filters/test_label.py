import pytest

from fusewright.filters.label import Label
from fusewright.protocols import ProblemFilter
from fusewright.testing import RELU_MEAN, check_filter, make_problem


@pytest.mark.parametrize(
    "ops",
    [
        (),
        ("nn.Linear", "torch.relu", "torch.mean"),
        ("torch.relu", "torch.relu"),
        ("nn.ReLU", "F.linear"),
        ("Linear",),
    ],
)
def test_operators_that_the_text_uses_are_kept(ops):
    judge: ProblemFilter = Label()
    check_filter(judge, make_problem(RELU_MEAN, ops=ops), reason=None)


@pytest.mark.parametrize("ops", [("nn.Linear", "torch.tanh"), ("nn.Bilinear",), ("F.relu6",)])
def test_an_operator_that_the_text_does_not_use_is_a_mismatch(ops):
    check_filter(Label(), make_problem(RELU_MEAN, ops=ops), reason="operators_mismatch")


def test_case_and_underscores_do_not_count():
    code = RELU_MEAN.replace("torch.relu(", "torch.nn.functional.log_softmax(")

    check_filter(Label(), make_problem(code, ops=("nn.LogSoftmax",)), reason=None)


def test_the_detail_names_what_is_declared_and_what_is_used():
    problem = make_problem(RELU_MEAN, ops=("torch.tanh", "torch.relu"))
    found = check_filter(Label(), problem, reason="operators_mismatch")

    assert found.detail == "declares torch.tanh, but uses nn.Linear, torch.relu, torch.mean"
