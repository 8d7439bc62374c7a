"""Graphs, and the biases that later operators cancel."""

import pytest

from fusewright.operators.catalogue import Size

from .problems import canvas, rule

IMAGE = (Size(16, "channels0"), Size(16, "height1"), Size(16, "width2"))


def chain(layout, shape, *names):
    drawing = canvas()
    x = drawing.add_input(layout, shape)
    for name in names:
        for _ in range(40):
            made = drawing.place(rule(name), [x])
            if made is not None:
                break
        assert made is not None, name
        x = made
    return drawing.graph


@pytest.mark.parametrize(
    ("names", "has_bias"),
    [
        (("nn.Conv2d", "nn.BatchNorm2d"), False),
        (("nn.Conv2d", "nn.InstanceNorm2d"), False),
        (("nn.Conv2d", "F.avg_pool2d", "F.instance_norm"), False),
        (("nn.Conv2d", "nn.GroupNorm"), True),
        (("nn.Conv2d", "torch.relu", "nn.BatchNorm2d"), True),
        (("nn.Conv2d", "F.gelu"), True),
    ],
)
def test_a_convolution_has_a_bias_unless_a_norm_cancels_it(names, has_bias):
    assert chain("image", IMAGE, *names).nodes[0].bias is has_bias


def test_a_key_has_no_bias_for_softmax_does_not_see_it():
    drawing = canvas()
    shape = (Size(32, "seq_len0"), Size(32, "dims1"))
    x, value = drawing.add_input("tokens", shape), drawing.add_input("tokens", shape)
    projections = []
    while len(projections) < 2:
        made = drawing.place(rule("nn.Linear"), [x])
        if drawing.value(made).shape == drawing.value(x).shape:
            projections.append(made)
        else:
            drawing.back((2, len(projections)))
    query, key = projections
    assert drawing.place(rule("F.scaled_dot_product_attention"), [query, key, value]) is not None
    assert [node.bias for node in drawing.graph.nodes[:2]] == [True, False]


def test_a_graph_branches_where_two_operators_take_one_tensor():
    straight = chain("rows", (Size(64, "features0"),), "F.gelu", "nn.Linear")
    assert not straight.branching
    drawing = canvas()
    x = drawing.add_input("rows", (Size(64, "features0"),))
    gate = drawing.place(rule("torch.sigmoid"), [x])
    drawing.place(rule("torch.mul"), [x, gate])
    assert drawing.graph.branching


def test_ops_are_listed_as_they_run_with_repeats():
    graph = chain(
        "rows", (Size(64, "features0"),), "nn.Linear", "torch.square", "torch.add torch.log"
    )
    assert graph.ops == ("nn.Linear", "torch.square", "torch.add", "torch.log")
