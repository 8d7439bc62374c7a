"""Configurations spelled out: each form in which a class may read one."""

import ast

import pytest

from fusewright.operators.transformers.arguments import spell_out
from fusewright.operators.transformers.library import Definition, Library
from fusewright.operators.transformers.settings import Settings
from fusewright.operators.transformers.unfit import UnfitError

SETTINGS = Settings(
    {"width": 8, "bias": True, "act": "silu", "vision_config.width": 4},
    frozenset({"vision_config"}),
)
CLASSES = """
from torch import nn
class Inner(nn.Module):
    def __init__(self, config, scale):
        super().__init__()
        self.inner = nn.Linear(config.width, scale)
class Outer(nn.Module):
    def __init__(self, config):
        super().__init__()
        {body}
    def forward(self, x):
        return {result}
"""


@pytest.fixture
def spelled(tmp_path):
    def spell(body, result="x"):
        (tmp_path / "m.py").write_text(CLASSES.format(body=body, result=result))
        library = Library("m", tmp_path)
        root = library.resolve("m", "Outer")
        assert isinstance(root, Definition)
        return spell_out(library, root, SETTINGS)

    return spell


@pytest.mark.parametrize(
    ("body", "line", "defaults"),
    [
        ("self.a = config.width", "self.a = width", {"width": 8}),
        ("width = config.width; self.a = width", "self.a = width", {"width": 8}),
        ("width = 2 * config.width", "width = 2 * config_width", {"config_width": 8}),
        ("self.a = config.vision_config.width", "self.a = vision_width", {"vision_width": 4}),
        ("self.a = getattr(config, 'width', 3)", "self.a = width", {"width": 8}),
        ("self.a = getattr(config, 'depth', 3)", "self.a = 3", {}),
        ("self.a = hasattr(config, 'depth')", "self.a = False", {}),
        ("self.a = Inner(config, 2)", "self.a = Inner(2, width=width)", {"width": 8}),
        (
            "self.a = Inner(config.vision_config, scale=2)",
            "self.a = Inner(scale=2, width=vision_width)",
            {"vision_width": 4},
        ),
        ("self.a = ACT2FN[config.act]", "self.a = nn.SiLU()", {}),
        (
            "self.a = ACT2FN[config.act] if isinstance(config.act, str) else config.act",
            "self.a = nn.SiLU()",
            {},
        ),
    ],
)
def test_a_use_becomes_an_argument(spelled, body, line, defaults):
    found = spelled(body)
    assert line in ast.unparse(found.classes[found.root])
    assert found.defaults == defaults


def test_a_method_reads_what_the_constructor_kept(spelled):
    found = spelled("self.config = config", "x * self.config.width")
    text = ast.unparse(found.classes[found.root])
    assert "self.width = width" in text
    assert "x * self.width" in text


@pytest.mark.parametrize(
    ("body", "result", "message"),
    [
        ("self.a = config.depth", "x", "no value 'depth'"),
        ("self.a = open(config)", "x", "hands its configuration to open"),
        ("self.a = [config]", "x", "hands its configuration on"),
        ("self.a = ACT2FN[name]", "x", "the activation is name"),
        ("self.a = 1", "x * self.config.width", "does not keep"),
        ("self.a = Outer(config)", "x", "builds itself"),
    ],
)
def test_what_no_text_can_follow_is_turned_away(spelled, body, result, message):
    with pytest.raises(UnfitError, match=message):
        spelled(body, result)
