"""The self-test of one operator: what it turns away, and what it learns of the rest."""

import pytest

from fusewright.operators.selftest import self_test
from fusewright.records import Rejection, TensorSpec
from fusewright.testing.samples import make_operator

MATRIX = TensorSpec(shape=(4, 6))
INDICES = TensorSpec(shape=(3,), dtype="int64", low=0, high=3)
POSITIVE = TensorSpec(shape=(4, 6), low=0.5, high=2.0)


def _function(call, *inputs, **fields):
    return make_operator("x.y", call=call, inputs=inputs or (MATRIX,), **fields)


def _module(init, call="{m}({0})", *inputs):
    return _function(call, *inputs, kind="module", init=init)


@pytest.mark.parametrize(
    ("operator", "reason", "detail"),
    [
        (_function("torch.log({0})"), "nonfinite_output", "of 24 elements are not finite"),
        (_function("torch.mm({0}, {0})"), "forward_error", "RuntimeError"),
        (_function("F.nonesuch({0})"), "forward_error", "AttributeError"),
        (_function("torch.argmax({0})"), "invalid_operator", "returns torch.int64"),
        (_function("{0}.shape"), "invalid_operator", "returns no tensor"),
        (_function("torch.relu({0}"), "invalid_operator", "was never closed"),
        (_function("torch.add({0}, {1})"), "invalid_operator", "index"),
        (_function("torch.relu(1.0)"), "invalid_operator", "placeholders ['0']"),
        (_function("{m}({0})"), "invalid_operator", "placeholders"),
        (_function("{0}", family="curvy"), "invalid_operator", "'curvy'"),
        (
            _function("{0}", TensorSpec(shape=(2,), dtype="complex64")),
            "invalid_operator",
            "complex64",
        ),
        (make_operator(" "), "invalid_operator", "none that a person writes"),
        (_module(""), "invalid_operator", "init"),
        (_module("nn.Linear(6)"), "init_error", "TypeError"),
        (_module("torch.relu"), "init_error", "expected torch.nn.Module"),
        (_module("nn.Linear(5, 6)"), "forward_error", "RuntimeError"),
    ],
)
def test_a_broken_operator_is_turned_away(operator, reason, detail):
    verdict = self_test(operator)
    assert isinstance(verdict, Rejection)
    assert (verdict.stage, verdict.subject) == ("mine", f"functions:{operator.name}")
    assert verdict.reason == reason
    assert detail in verdict.detail


@pytest.mark.parametrize(
    "operator",
    [
        _function("torch.log({0})", POSITIVE),
        _function("torch.mm({0}, {0}.T)"),
        _function("torch.max({0}, dim=1)"),
        _module("nn.Linear(6, 5)"),
        _module("nn.LSTM(6, 5)"),
    ],
)
def test_a_sound_operator_is_kept(operator):
    verdict = self_test(operator)
    assert not isinstance(verdict, Rejection)
    assert verdict.signature


@pytest.mark.parametrize(
    ("operator", "flags"),
    [
        (_function("torch.relu({0})"), ()),
        (_function("{0}.T"), ("view",)),
        (_function("{0}.T.contiguous()"), ()),
        (_function("torch.rand_like({0})"), ("nondeterministic",)),
        (_function("{0}.index_add(0, {1}, {0}[:3])", MATRIX, INDICES), ("nondeterministic",)),
        (_function("{0}.index_select(0, {1})", MATRIX, INDICES), ()),
        (_function("{0}[{0} > 0]"), ("data_dependent",)),
        (_function("{0} * {0}.max().item()"), ("data_dependent",)),
        (_function("{0}.relu_() + 1"), ("mutates_input",)),
        (_function("torch.cdist({0}, {0} + 1)"), ("inductor_fallback",)),
        (_module("nn.BatchNorm1d(6)"), ("mode_dependent",)),
        (_module("nn.BatchNorm1d(6, track_running_stats=False)"), ()),
        (_module("nn.Dropout(0.5)"), ("nondeterministic", "mode_dependent")),
    ],
)
def test_traits_are_measured(operator, flags):
    assert self_test(operator).flags == flags


@pytest.mark.parametrize(
    ("call", "dtypes"),
    [
        ("torch.relu({0})", ("float32", "float64", "bfloat16", "float16")),
        ("torch.special.ndtri(torch.sigmoid({0}))", ("float32", "float64")),
    ],
)
def test_dtypes_are_those_that_ran(call, dtypes):
    assert self_test(_function(call)).dtypes == dtypes


@pytest.mark.parametrize(
    ("call", "domain"),
    [
        ("torch.exp({0})", (None, pytest.approx(88.72, abs=0.01))),
        ("torch.log({0})", (pytest.approx(0.0, abs=1e-6), None)),
        ("torch.acos({0})", (-1.0, 1.0)),
        ("torch.relu({0})", (None, None)),
        ("torch.softmax(torch.log({0}), 1)", (None, None)),  # not elementwise: not probed
    ],
)
def test_the_domain_of_an_elementwise_function_is_probed(call, domain):
    sample = TensorSpec(shape=(4, 6), low=0.1, high=0.9)
    assert self_test(_function(call, sample)).domain == domain


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("torch.relu({0})", "F.relu({0})", True),
        ("{0}.clamp(min=0)", "F.relu({0})", True),  # other calls, same values
        ("F.relu6({0})", "F.relu({0})", False),  # equal on a standard normal
        ("{0}.clamp(-50, 50)", "{0} * 1.0", False),  # equal within thirty
        ("{0}.mean(1)", "torch.mean({0}, dim=-1)", False),  # arguments as written
        ("{0}.mean(1)", "torch.mean({0}, dim=1)", True),
        ("{0}.sum(0)", "{0}.sum(1)", False),
        ("{0} - {0}.mean()", "{0}.mean() - {0}", False),  # the order of tensors counts
        ("{0} @ torch.ones(6, 2)", "{0} @ torch.zeros(6, 2).add(1).mul(1)", False),
        ("{0}.sum(1) * torch.tensor(2.0)", "{0}.sum(1) * torch.tensor(3.0)", False),
        ("{0}.sum(1) * torch.tensor(2.0)", "torch.sum({0}, 1) * torch.tensor(2.0)", True),
    ],
)
def test_equal_signatures_mean_equal_computations(one, other, equal):
    assert (self_test(_function(one)).signature == self_test(_function(other)).signature) is equal


def test_a_self_test_repeats_itself():
    operator = _module("nn.Linear(6, 5)")
    assert self_test(operator) == self_test(operator)
