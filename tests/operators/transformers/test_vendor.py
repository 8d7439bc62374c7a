"""The command: what it keeps of a small library, and what each fault in it costs."""

import pytest

from fusewright.operators.selftest import self_test
from fusewright.operators.transformers.vendored import read, written
from fusewright.records import Operator


def test_what_is_sound_and_distinct_is_kept(vendored):
    assert list(vendored.rows) == [
        "transformers.bird.BirdMLP",
        "transformers.bird.BirdHalf",
        "transformers.bird.BirdSquare",
        "transformers.broken.BrokenNorm",
    ]


@pytest.mark.parametrize(
    ("name", "reason", "detail"),
    [
        ("bird.BirdTwin", "alias", "equal to transformers.bird.BirdMLP by its text"),
        ("bird.BirdSquareToo", "alias", "equal to transformers.bird.BirdSquare by its"),
        ("bird.BirdLeaves", "crash", "exit code 3"),
        ("bird.BirdCrashes", "crash", "SIGSEGV"),
        ("bird.BirdReads", "invalid_operator", "'os' comes from os"),
        ("bird.BirdIdles", "invalid_operator", "unfit"),
        ("bird.BirdRolls", "invalid_operator", "nondeterministic"),
        ("bird.BirdRaises", "invalid_operator", "no guess at its input runs"),
        ("broken.BrokenMLP", "invalid_operator", "No module named 'nonesuch'"),
        ("dying.DyingMLP", "invalid_operator", "died of SIGABRT"),
    ],
)
def test_each_fault_costs_its_own_class_and_says_why(vendored, name, reason, detail):
    rejection = vendored.rejections[f"transformers:transformers.{name}"]
    assert (rejection.stage, rejection.reason) == ("mine", reason)
    assert detail in rejection.detail


def test_nothing_is_turned_away_beside(vendored):
    assert len(vendored.rejections) == 10


def test_text_under_another_licence_is_not_read(vendored):
    assert not any("OtherNorm" in name for name in (*vendored.rows, *vendored.rejections))


def test_licence_version_and_holders_are_carried(vendored):
    edition = vendored.edition
    assert (edition.library, edition.version, edition.revision) == ("toyformers", "1.2", "v1.2")
    assert edition.license == "Apache-2.0"
    assert "changed" in edition.notice
    copyrights = {name: row.copyright for name, row in vendored.rows.items()}
    assert copyrights["transformers.bird.BirdMLP"] == (
        "Copyright 2024 The Bird Authors. All rights reserved."
    )
    assert copyrights["transformers.broken.BrokenNorm"] == edition.copyright


def test_a_configuration_is_spelled_out_with_its_defaults(vendored):
    assert vendored.rows["transformers.bird.BirdMLP"].source_code == MLP


MLP = """\
from torch import nn
import math
import torch


class QuickGELUActivation(nn.Module):

    def forward(self, x):
        return x * torch.sigmoid(1.702 * x)


class BirdMLP(nn.Module):

    def __init__(self, layer_idx, hidden_size=4096, intermediate_size=11008, mlp_bias=False):
        super().__init__()
        self.hidden_size = hidden_size
        self.up = nn.Linear(hidden_size, intermediate_size, bias=mlp_bias)
        self.act = QuickGELUActivation()
        self.down = nn.Linear(intermediate_size, hidden_size)

    def forward(self, hidden_states):
        return self.down(self.act(self.up(hidden_states))) / math.sqrt(self.hidden_size)
"""


def test_a_helper_of_another_file_stands_before_the_class(vendored):
    text = vendored.rows["transformers.bird.BirdHalf"].source_code
    assert text.index("def halved(x):") < text.index("class BirdHalf(")
    assert "docstring" not in text


def test_every_row_passes_the_self_test(vendored):
    for row in vendored.rows.values():
        assert isinstance(self_test(row.operator(vendored.edition, "transformers")), Operator)


def test_a_row_survives_the_file(vendored, tmp_path):
    file = tmp_path / "again.jsonl"
    file.write_text(written(vendored.edition, list(vendored.rows.values())))
    assert read(file) == (vendored.edition, list(vendored.rows.values()))
