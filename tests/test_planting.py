import ast

import pytest

from fusewright.filters.benchmark import NearBenchmark
from fusewright.filters.fingerprint import fingerprint
from fusewright.planting import DISGUISES, planted
from fusewright.testing import RELU_MEAN, make_problem

HEAD = "import torch\nimport torch.nn as nn\n\n"
BLOCK = f'''{HEAD}
SIZE = 512


class Gate(nn.Module):
    """One gate."""

    def __init__(self, width: int, scale: float = 2.0):
        super().__init__()
        self.fc = nn.Linear(width, width)
        self.act = nn.Sigmoid()
        self.scale = scale

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.act(self.fc(x)) * self.scale


class Model(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.gate = Gate(width, scale=1.5)
        self.norm = nn.LayerNorm(width)
        self.depth = depth

    def forward(self, x, y):
        """Two gates."""
        a = self.gate(x)
        b = self.norm(y)
        return a * b + x


def get_inputs():
    return [torch.rand(16, SIZE), torch.rand(16, SIZE)]


def get_init_inputs():
    return [SIZE, 2]
'''
EVERY = {"verbatim", *DISGUISES}


def built(code):
    """Run a copy of our own text: it must still be a problem that computes something."""
    names = {}
    exec(compile(code, "copy", "exec"), names)
    inputs = names["get_inputs"]()
    return names["Model"](*names["get_init_inputs"]()), inputs


@pytest.fixture(scope="module")
def judge(tmp_path_factory):
    path = tmp_path_factory.mktemp("planted") / "ours.parquet"
    texts = [("block", BLOCK), ("relu_mean", RELU_MEAN)]
    fingerprint(texts, "ours", "r1", "MIT").write_parquet(path)
    return NearBenchmark(benchmarks=[str(path)])


def test_each_kind_that_changes_a_text_makes_a_copy():
    assert set(planted(BLOCK)) == EVERY
    copies = planted(BLOCK)
    assert copies["verbatim"] == BLOCK
    assert len(set(copies.values())) == len(copies)


@pytest.mark.parametrize("kind", sorted(EVERY))
def test_a_copy_runs_and_computes_what_the_problem_computes(kind):
    import torch

    model, inputs = built(planted(BLOCK)[kind])
    original, _ = built(BLOCK)
    if kind == "resized":
        assert inputs[0].shape != (16, 512)
        assert model(*inputs).shape == inputs[0].shape
        return
    if kind == "reordered":
        model.load_state_dict(original.state_dict())
    for own, other in zip(original.parameters(), model.parameters(), strict=True):
        if kind != "reordered":
            other.data = own.data
    if kind == "recast":
        model = model.bfloat16()
    torch.testing.assert_close(model(*inputs), original(*inputs), rtol=0.05, atol=0.05)


def test_what_a_kind_cannot_change_gives_no_copy_of_that_kind():
    plain = "class Model:\n\n    def forward(self, x):\n        return x\n"

    assert "functional" not in planted(plain)
    assert "resized" not in planted(plain)


def test_a_copy_that_is_renamed_keeps_no_name_that_was_free():
    code = planted(BLOCK)["renamed"]
    names = {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}

    assert names.isdisjoint({"SIZE", "Gate", "x", "y", "a", "b", "width", "depth", "scale"})
    assert ".gate" not in code


@pytest.mark.parametrize("kind", sorted(EVERY))
@pytest.mark.parametrize("code", [BLOCK, RELU_MEAN], ids=["block", "relu_mean"])
def test_the_filter_finds_every_kind_of_copy(judge, code, kind):
    if kind in (copies := planted(code)):
        rejection = judge.judge(make_problem(copies[kind]))
        assert rejection.reason == "near_benchmark"
