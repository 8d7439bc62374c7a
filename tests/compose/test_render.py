"""The text of a problem: what a person reads."""

import ast
import re

import pytest

from fusewright.compose.preset import PRESETS
from fusewright.compose.wrapping import WIDTH

from .problems import drawn

TEXTS = [drawn(seed, PRESETS[device])[2] for device in ("cuda", "cpu") for seed in range(60)]


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_what_formatters_would_make_of_it(text):
    assert text.endswith("]\n")
    assert max(map(len, text.splitlines())) <= WIDTH
    assert "'" not in text
    assert "\n\n\n\n" not in text


@pytest.mark.parametrize("text", TEXTS)
def test_only_what_is_used_is_imported(text):
    assert ("import torch.nn.functional as F" in text) is bool(re.search(r"\bF\.", text))


@pytest.mark.parametrize("text", TEXTS)
def test_the_model_says_in_one_sentence_what_it_does(text):
    model = next(node for node in ast.parse(text).body if isinstance(node, ast.ClassDef))
    assert re.fullmatch(r"[A-Z][^\n]*\.", ast.get_docstring(model))


@pytest.mark.parametrize("text", TEXTS)
def test_the_constructor_takes_what_get_init_inputs_returns(text):
    constructor = re.search(r"def __init__\(\s*([^)]*?),?\s*\)", text)[1]
    init_inputs = text[text.index("def get_init_inputs") :]
    returned = re.search(r"return \[\s*(.*?),?\s*\]", init_inputs, re.DOTALL)[1]
    taken = [name for name in re.split(r",\s*", constructor) if name != "self"]
    assert taken == [name for name in re.split(r",\s*", returned) if name]


@pytest.mark.parametrize("text", TEXTS)
def test_every_constant_has_a_use(text):
    for name in re.findall(r"^(\w+) = ", text, re.MULTILINE):
        assert len(re.findall(rf"\b{name}\b", text)) > 1, name
