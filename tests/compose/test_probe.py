"""What the probe finds in graphs whose every pair of neighbours is sound."""

import pytest

from fusewright.compose.probe import is_weak
from fusewright.operators.catalogue import Size

from .problems import canvas, rule


def chain(*names, features=1024):
    drawing = canvas()
    x = drawing.add_input("rows", (Size(features, "features0"),))
    for name in names:
        x = drawing.place(rule(name), [x])
        assert x is not None, name
    return drawing.graph


@pytest.mark.parametrize(
    "names",
    [
        ("torch.relu", "torch.amax"),
        ("F.elu", "torch.topk"),
        ("nn.Linear", "F.leaky_relu", "torch.amax"),
        ("F.celu", "F.softplus", "torch.topk"),
    ],
)
def test_an_operator_that_a_later_one_makes_pointless_is_found(names):
    assert is_weak(chain(*names))


@pytest.mark.parametrize(
    "names",
    [
        ("F.gelu", "torch.sort", "F.softplus"),
        ("torch.flip", "F.gelu", "torch.cumsum"),
        ("F.gelu", "torch.mean"),
        ("F.elu", "nn.Linear", "torch.topk"),
        ("nn.Linear", "F.gelu", "nn.Linear", "nn.LayerNorm"),
    ],
)
def test_a_graph_of_which_every_part_shows_is_kept(names):
    assert not is_weak(chain(*names))


def test_an_output_below_the_tolerance_is_found():
    assert is_weak(chain("F.gelu", "F.softmax", features=16384))
    assert not is_weak(chain("F.gelu", "F.softmax", features=64))


def test_an_input_that_is_drowned_is_found():
    drawing = canvas()
    x = drawing.add_input("rows", (Size(4096, "features0"),))
    y = drawing.add_input("rows", (Size(4096, "features0"),))
    weights = drawing.place(rule("F.softmax"), [y])
    assert drawing.place(rule("torch.lerp"), [x, weights]) is not None
    assert is_weak(drawing.graph)
