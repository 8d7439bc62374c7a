"""Functions of torch: which are mined, how they are called, which are left out."""

import pytest
import torch

from fusewright.operators.sampled import VERSION


def test_every_function_passes_its_self_test(functions):
    assert [v for v in functions.values() if not hasattr(v, "signature")] == []


def test_three_hundred_different_functions_are_found(functions):
    assert len({operator.signature for operator in functions.values()}) >= 300


def test_every_family_is_known(functions):
    assert [name for name, operator in functions.items() if operator.family == "other"] == []


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("torch.add", "torch.add({0}, {1})"),
        ("torch.cat", "torch.cat([{0}, {1}], dim=-2)"),
        ("torch.var", "torch.var({0}, dim=1)"),
        ("torch.where", "torch.where({0}, {1}, {2})"),
        ("torch.fft.rfft", "torch.fft.rfft({0}, norm='ortho').abs()"),
        ("torch.masked.sum", "torch.masked.sum({0}, 1, mask={1})"),
        ("F.conv2d", "F.conv2d({0}, {1}, {2}, padding=1)"),
        ("F.batch_norm", "F.batch_norm({0}, None, None, {1}, {2}, training=True)"),
        (
            "F.scaled_dot_product_attention",
            "F.scaled_dot_product_attention({0}, {1}, {2}, dropout_p=0.0)",
        ),
    ],
)
def test_a_call_reads_as_a_person_writes_it(functions, name, call):
    assert functions[name].call == call


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("torch.zeros", "creation"),
        ("torch.rand_like", "random"),
        ("F.dropout", "random"),
        ("F.rrelu", "random"),
        ("torch.linalg.qr", "factorisation"),
        ("torch.linalg.inv", "factorisation"),
        ("torch.permute", "view"),
        ("torch.chunk", "view"),
        ("torch.clone", "identity"),
        ("torch.argmax", "no floating output"),
        ("torch.eq", "no floating output"),
        ("torch.zero_", "in place"),
        ("torch.masked.argmax", "no floating output"),
        ("torch.complex", "complex"),
        ("torch.unique", "size depends on values"),
        ("torch.__radd__", "spelled as an operator"),
        ("F.max_unpool2d", "atomic writes"),
    ],
)
def test_what_is_no_work_for_a_kernel_is_left_out(functions, name, why):
    assert name not in functions, why


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [("torch.log", 0.0, None), ("torch.acos", -1.0, 1.0), ("torch.acosh", 1.0, None)],
)
def test_samples_stay_where_the_function_is_finite(functions, name, low, high):
    spec = functions[name].inputs[0]
    assert spec.low >= low
    assert high is None or spec.high <= high


def test_indices_keep_the_range_of_the_table(functions):
    indices, table = functions["F.embedding"].inputs
    assert (indices.dtype, indices.low, indices.high) == ("int64", 0, table.shape[0] - 1)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("F.relu", "torch.relu"),
        ("torch.sigmoid", "torch.special.expit"),
        ("torch.log_softmax", "F.log_softmax"),
        ("torch.cat", "torch.concat"),
        ("F.conv2d", "torch.conv2d"),
        ("torch.lgamma", "torch.special.gammaln"),
    ],
)
def test_another_spelling_has_the_same_signature(functions, name, other):
    assert functions[name].signature == functions[other].signature


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("F.relu", "F.relu6"),
        ("F.elu", "F.celu"),
        ("torch.sum", "torch.mean"),
        ("torch.sub", "torch.add"),
        ("F.conv1d", "F.conv2d"),
        ("torch.max", "torch.maximum"),
        ("F.hardtanh", "torch.clamp"),
    ],
)
def test_different_functions_have_different_signatures(functions, name, other):
    assert functions[name].signature != functions[other].signature


def test_version_and_licence_are_those_of_torch(functions):
    assert {(o.version, o.license) for o in functions.values()} == {(VERSION, "BSD-3-Clause")}
    assert f"torch {torch.__version__}".startswith(VERSION)
    assert "+" not in VERSION
