"""What a prompt is told of an operator."""

import torch
from torch import nn

from fusewright.operators.snippet import LIMIT, snippet


def test_a_snippet_opens_with_the_signature():
    assert snippet("F.relu", nn.functional.relu).startswith("relu(input, inplace=False)")
    assert snippet("nn.ReLU", nn.ReLU).startswith("ReLU(inplace=False)\n\nApplies the rectified")
    assert snippet("torch.lerp", torch.lerp).startswith("lerp(input, end, weight,")


def test_no_address_and_no_markup_gets_into_a_snippet():
    text = snippet("nn.TransformerEncoderLayer", nn.TransformerEncoderLayer)
    assert "activation=relu" in text
    assert "0x" not in text
    assert ":class:" not in snippet("F.relu", nn.functional.relu)


def test_no_mined_snippet_is_empty_or_too_long(functions, modules):
    lengths = [len(o.snippet) for found in (functions, modules) for o in found.values()]
    assert min(lengths) > 0
    assert max(lengths) <= LIMIT


def test_a_function_without_documentation_has_its_signature():
    assert snippet("f", lambda x, *, y=1: x) == "f(x, *, y=1)"
    assert snippet("x.dict", dict).startswith("dict(")
