"""Chains of two operators that do nothing, next to ones that do."""

import pytest

from fusewright.operators.catalogue import CATALOGUE

from .values import placed, rule, value, verdicts

POINTLESS = [
    # A constant comes out.
    ("F.softmax", "torch.sum", "dead"),
    ("F.softmax", "torch.mean", "dead"),
    ("F.log_softmax", "torch.logsumexp", "dead"),
    ("nn.LayerNorm", "torch.mean", "dead"),
    ("F.layer_norm", "torch.std", "dead"),
    ("F.rms_norm", "torch.linalg.vector_norm", "dead"),
    ("F.normalize", "torch.linalg.vector_norm", "dead"),
    ("F.normalize", "torch.var", "dead"),
    # The second leaves everything as it is.
    ("torch.relu", "F.leaky_relu", "dead"),
    ("torch.relu", "nn.ReLU", "dead"),
    ("torch.sigmoid", "torch.relu", "dead"),
    ("torch.sigmoid", "F.relu6", "dead"),
    ("torch.exp", "torch.abs", "dead"),
    ("F.hardsigmoid", "torch.abs", "dead"),
    ("torch.logsumexp", "F.gelu", "dead"),
    ("torch.logsumexp", "F.leaky_relu", "dead"),
    ("F.log_softmax", "F.log_softmax", "repeat"),
    ("F.log_softmax", "nn.LogSoftmax", "dead"),
    # The second undoes the first.
    ("F.layer_norm", "F.rms_norm", "dead"),
    ("F.rms_norm", "F.layer_norm", "dead"),
    ("nn.BatchNorm1d", "nn.BatchNorm1d", "repeat"),
    ("F.rms_norm", "F.normalize", "dead"),
    ("torch.flip", "torch.sum", "dead"),
    ("torch.roll", "torch.amax", "dead"),
    ("torch.flip", "torch.sort", "dead"),
    ("torch.sort", "torch.logsumexp", "dead"),
    # The second is far from its knee, or outside of its domain.
    ("torch.logsumexp", "torch.tanh", "constant"),
    ("torch.tanh", "torch.sqrt", "domain"),
    ("torch.cumsum", "F.softmax", "range"),
    ("torch.cumsum", "torch.sin", "range"),
    ("torch.cumsum", "torch.exp", "domain"),
]  # fmt: skip
SOUND = [
    ("torch.relu", "F.softmax"), ("F.gelu", "nn.LayerNorm"), ("nn.LayerNorm", "F.gelu"),
    ("F.softmax", "torch.log"), ("torch.sigmoid", "torch.sqrt"), ("F.softplus", "torch.rsqrt"),
    ("torch.square", "torch.mean"), ("torch.flip", "torch.cumsum"), ("nn.Linear", "nn.RMSNorm"),
    ("nn.Linear", "F.softmax"), ("torch.exp", "torch.reciprocal"), ("F.gelu", "torch.amax"),
    ("F.layer_norm", "torch.amax"), ("torch.tanh", "nn.BatchNorm1d"), ("F.normalize", "nn.Linear"),
]  # fmt: skip


@pytest.mark.parametrize(("first", "second", "reason"), POINTLESS)
def test_the_second_operator_is_refused(first, second, reason):
    made = placed(rule(first), value("rows"))
    assert verdicts(rule(second), made.value, place=1) == [reason]


@pytest.mark.parametrize(("first", "second"), SOUND)
def test_the_second_operator_is_accepted(first, second):
    made = placed(rule(first), value("rows"))
    assert "ok" in verdicts(rule(second), made.value, place=1)


def number(verb):
    return next(r for r in CATALOGUE if r.verb == verb)


@pytest.mark.parametrize(
    ("verb", "second", "reason"),
    [
        ("shift", "F.softmax", "dead"),
        ("shift", "F.layer_norm", "dead"),
        ("shift", "torch.std", "dead"),
        ("shift", "F.rms_norm", "ok"),
        ("scale", "F.rms_norm", "dead"),
        ("scale", "F.normalize", "dead"),
        ("scale", "F.softmax", "ok"),
        ("add a bias", "nn.BatchNorm1d", "dead"),
        ("add a bias", "F.layer_norm", "ok"),
        ("scale each feature", "nn.BatchNorm1d", "dead"),
        ("scale each feature", "F.layer_norm", "ok"),
    ],
)
def test_what_a_norm_undoes_may_not_come_before_it(verb, second, reason):
    made = placed(number(verb), value("rows"))
    assert verdicts(rule(second), made.value, place=1) == [reason]


@pytest.mark.parametrize("name", ["torch.mean", "F.softmax", "F.normalize", "torch.cumsum"])
def test_one_element_is_nothing_to_reduce_or_to_scan(name):
    assert "ok" not in verdicts(rule(name), value("rows", (1,)))


@pytest.mark.parametrize("name", ["torch.maximum", "torch.minimum"])
def test_choosing_between_a_tensor_and_its_own_greatest_is_refused(name):
    x = value("image")
    peak = placed(rule("F.max_pool2d"), x, place=0).value
    assert verdicts(rule(name), x, peak, place=1) in (["dead"], ["shape"], ["dead", "shape"])


@pytest.mark.parametrize("name", ["torch.add", "torch.mul", "torch.maximum", "F.mse_loss"])
def test_a_tensor_is_not_joined_with_itself(name):
    x = value("tokens")
    join = next(r for r in CATALOGUE if r.name == name and r.arity == 2)
    assert verdicts(join, x, x) == ["shape"]


def test_attention_of_a_tensor_to_what_resembles_it_is_refused():
    attention, tanh = rule("F.scaled_dot_product_attention"), rule("torch.tanh")
    x, other, third = (placed(tanh, value("tokens", number=n)).value for n in (0, 1, 2))
    alike = placed(rule("F.gelu"), x).value
    assert verdicts(attention, x, alike, third, place=2) == ["dead"]
    assert verdicts(attention, x, other, third, place=2) == ["ok"]


def test_squashing_what_hardly_varies_is_refused():
    weights = placed(rule("F.softmax"), value("rows", (4096,))).value
    assert verdicts(rule("torch.sigmoid"), weights, place=1) == ["constant"]


def test_a_gate_that_the_inner_operator_does_not_change_is_refused():
    x = value("rows", (4096,))
    weights = placed(rule("F.softmax"), x).value
    gate = next(r for r in CATALOGUE if r.ops == ("torch.tanh", "torch.mul"))
    assert verdicts(gate, x, weights, place=1) == ["dead"]


def test_what_is_the_same_at_every_position_is_nothing_beside_an_instance_norm():
    x, norm = value("image"), rule("nn.InstanceNorm2d")
    channel = value("image", (16, 1, 1), number=1)
    for name in ("torch.add", "torch.lerp"):
        join = next(r for r in CATALOGUE if r.ops == (name,) and r.arity == 2)
        assert verdicts(norm, placed(join, x, channel).value, place=1) == ["dead"]


def bias_of(made):
    return [fact for fact in made.facts if fact.kind == "bias"]


def test_a_bias_is_still_one_once_the_positions_are_unrolled():
    conv = placed(rule("nn.Conv3d"), value("volume"))
    flat = next(r for r in CATALOGUE if r.name == "torch.flatten" and "image" in r.layouts)
    assert [fact.dims for fact in bias_of(placed(flat, conv.value, place=1).value)] == [(0, 2)]


def test_a_bias_before_a_second_convolution_is_a_shift_that_a_norm_over_positions_undoes():
    conv, upsample = rule("nn.Conv2d"), rule("F.interpolate")
    first = placed(upsample, placed(conv, value("image")).value, place=1).value
    second = placed(conv, first, place=2).value
    assert verdicts(rule("nn.InstanceNorm2d"), second, place=3) == ["dead"]
    assert "ok" in verdicts(rule("F.gelu"), second, place=3)
