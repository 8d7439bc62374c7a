"""Calls as text, and text as calls."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fusewright.operators.expression import (
    Rendering,
    Runnable,
    UnrenderableError,
    attempt,
    malformed,
)
from fusewright.operators.samples import draw
from fusewright.records import TensorSpec
from fusewright.testing.samples import make_operator

TENSOR = torch.ones(2, 3)
LITERALS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple),
    max_leaves=6,
)


@pytest.mark.parametrize(
    ("args", "kwargs", "text"),
    [
        ([TENSOR], {}, "f({0})"),
        ([TENSOR, TENSOR], {"stride": (2,)}, "f({0}, {1}, stride=(2,))"),
        ([[TENSOR, TENSOR], 1], {}, "f([{0}, {1}], 1)"),
        ([TENSOR], {"eps": 1e-5, "mode": "max", "dtype": torch.float32}, None),
        ([TENSOR], {"lambd": 0.30000001192092896}, "f({0}, lambd=0.3)"),
    ],
)
def test_a_call_is_written_out(args, kwargs, text):
    text = text or "f({0}, eps=1e-05, mode='max', dtype=torch.float32)"
    assert Rendering().call("f", args, kwargs) == text


@pytest.mark.parametrize(
    "value",
    [
        len,
        float("nan"),
        slice(1),
        torch.eye(2).to_sparse(),
        torch.ones(2, dtype=torch.complex64),
        {"a": 1},
    ],
)
def test_what_has_no_literal_is_refused(value):
    with pytest.raises(UnrenderableError):
        Rendering().call("f", [TENSOR, value], {})


@given(LITERALS)
def test_a_literal_comes_back_as_it_was(value):
    text = Rendering().call("", [value], {})
    assert eval(text) == value  # noqa: S307


def test_a_module_is_built_alike_from_one_seed():
    operator = make_operator("nn.Linear", kind="module", init="nn.Linear(3, 2)", call="{m}({0})")
    runnable, tensors = Runnable(operator), draw([TensorSpec(shape=(2, 3))])
    one, same, other = (runnable.run(tensors, runnable.build(seed)) for seed in (0, 0, 1))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


def test_an_attempt_gives_the_result_or_the_error():
    assert attempt(lambda: 3) == 3
    assert isinstance(attempt(lambda: 1 // 0), ZeroDivisionError)


TEXT = """
COUNT = []

class Half(nn.Module):
    def forward(self, x):
        COUNT.append(1)
        return halved(x)

def halved(x):
    return x / 2
"""


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"kind": "source_module", "init": "Half()", "call": "{m}({0})"}, 0.5),
        ({"call": "halved({0}) * 3"}, 1.5),
    ],
)
def test_expressions_see_the_text_of_their_record(fields, expected):
    runnable = Runnable(make_operator("x.half", source_code=TEXT, **fields))
    output = runnable.run([torch.ones(2)], runnable.build())
    assert output.tolist() == [expected, expected]


def test_a_text_runs_once_and_for_its_own_record_alone():
    half = make_operator(
        "x", source_code=TEXT, kind="source_module", init="Half()", call="{m}({0})"
    )
    runnable = Runnable(half)
    module = runnable.build()
    for _ in range(3):
        runnable.run([torch.ones(2)], module)
    assert len(runnable.value("COUNT")) == 3
    assert Runnable(half).value("COUNT") == []
    with pytest.raises(NameError):
        Runnable(make_operator("y", call="halved({0})")).run([torch.ones(2)], None)


def test_a_text_that_is_no_python_is_malformed():
    fault = malformed(make_operator("x", source_code="def ("))
    assert fault is not None
    assert "invalid syntax" in fault


def test_source_code_defines_what_the_expressions_name():
    operator = make_operator(
        "x.Twice",
        kind="source_module",
        source_code="class Twice(nn.Module):\n    def forward(self, x):\n        return x * 2",
        init="Twice()",
        call="{m}({0})",
    )
    runnable, tensors = Runnable(operator), draw(operator.inputs)
    assert torch.equal(runnable.run(tensors, runnable.build()), tensors[0] * 2)


def test_no_check_of_a_record_executes_its_source_code():
    operator = make_operator(
        kind="source_module", source_code="1 / 0", init="nn.GELU()", call="{m}({0})"
    )
    assert malformed(operator) is None
    with pytest.raises(ZeroDivisionError):
        Runnable(operator).build()
