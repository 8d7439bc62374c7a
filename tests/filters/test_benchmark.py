import ast

import pytest

from fusewright.errors import ConfigError
from fusewright.filters.benchmark import NearBenchmark
from fusewright.filters.fingerprint import fingerprint
from fusewright.identity import class_shingles, jaccard
from fusewright.protocols import ProblemFilter
from fusewright.testing import RELU_MEAN, check_filter, make_problem

GATED = '''\
import torch
import torch.nn as nn
import torch.nn.functional as F


class Gate(nn.Module):
    def __init__(self, width, rate=2.0):
        super().__init__()
        self.up = nn.Linear(width, 4 * width)
        self.rate = rate

    def forward(self, x):
        a, b = self.up(x).chunk(2, dim=-1)
        a = F.silu(a) * self.rate
        return a * b.sigmoid()


class Model(nn.Module):
    """A gated projection with a residual."""

    def __init__(self, width):
        super().__init__()
        self.gate = Gate(width, rate=1.5)
        self.norm = nn.LayerNorm(width)
        self.down = nn.Linear(2 * width, width)

    def forward(self, x):
        h = self.norm(x)
        h = self.gate(h)
        h = self.down(h)
        return torch.clamp(h, min=-3.0, max=3.0) + x


def get_inputs():
    return [torch.rand(16, 512, 768)]


def get_init_inputs():
    return [768]
'''
BENCHMARK = {"gated": GATED, "relu_mean": RELU_MEAN}


@pytest.fixture(scope="module")
def judge(tmp_path_factory):
    path = tmp_path_factory.mktemp("fingerprints") / "ours.parquet"
    fingerprint(BENCHMARK.items(), "ours", "r1", "MIT").write_parquet(path)
    made: ProblemFilter = NearBenchmark(benchmarks=[str(path)])
    return made


class Rename(ast.NodeTransformer):
    """Gives every local, attribute and helper another name."""

    def visit_Name(self, node):
        kept = node.id in {"nn", "F", "torch", "super", "self"}
        node.id = node.id if kept else f"{node.id}_copy"
        return node

    def visit_Attribute(self, node):
        is_own = isinstance(node.value, ast.Name) and node.value.id == "self"
        node.attr = f"{node.attr}_copy" if is_own else node.attr
        return self.generic_visit(node)

    def visit_ClassDef(self, node):
        node.name = node.name if node.name == "Model" else f"{node.name}_copy"
        return self.generic_visit(node)

    def visit_arg(self, node):
        node.arg = node.arg if node.arg == "self" else f"{node.arg}_copy"
        return node

    def visit_keyword(self, node):
        node.arg = "rate_copy" if node.arg == "rate" else node.arg
        return self.generic_visit(node)


class Resize(ast.NodeTransformer):
    """Changes every number."""

    def visit_Constant(self, node):
        is_number = type(node.value) in (int, float)
        return ast.Constant(node.value * 3 + 1) if is_number else node


class FreshLocals(ast.NodeTransformer):
    """Gives the result of each step of a forward a name of its own."""

    def visit_FunctionDef(self, node):
        names = {}
        for number, statement in enumerate(node.body if node.name == "forward" else ()):
            for name in ast.walk(statement):
                if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Load):
                    name.id = names.get(name.id, name.id)
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                names[statement.targets[0].id] = f"step{number}"
                statement.targets[0].id = f"step{number}"
        return node


class DeadLine(ast.NodeTransformer):
    """Adds a computation that nothing uses."""

    def visit_FunctionDef(self, node):
        if node.name == "forward":
            node.body.insert(0, ast.parse("unused = torch.exp(x) * 2.0 + 1.0").body[0])
        return node


def changed(*transformers):
    def change(code):
        tree = ast.parse(code)
        for transformer in transformers:
            tree = ast.fix_missing_locations(transformer().visit(tree))
        return ast.unparse(tree)

    return change


def reformatted(code):
    return "# a copy\n" + ast.unparse(ast.parse(code)).replace("\n\n", "\n\n\n\n# next\n")


def realiased(code):
    code = code.replace("import torch.nn as nn", "from torch import nn as layers")
    return code.replace(" nn.", " layers.").replace("(nn.", "(layers.")


DISGUISES = {
    "verbatim": str,
    "renamed": changed(Rename),
    "reformatted": reformatted,
    "realiased": realiased,
    "resized": changed(Resize),
    "dead line": changed(DeadLine),
    "fresh locals": changed(FreshLocals),
    "all of it": changed(DeadLine, FreshLocals, Resize, Rename),
}


@pytest.mark.parametrize("disguise", DISGUISES.values(), ids=DISGUISES)
@pytest.mark.parametrize("code", BENCHMARK.values(), ids=BENCHMARK)
def test_a_copy_is_found_under_its_disguise(judge, code, disguise):
    check_filter(judge, make_problem(disguise(code)), reason="near_benchmark")


def test_every_class_of_the_candidate_is_compared_and_the_one_that_is_near_is_named(judge):
    helper = GATED[GATED.index("class Gate") : GATED.index("class Model")]
    model = RELU_MEAN.replace("relu", "erf").replace("mean", "amax")
    problem = make_problem(f"import torch.nn.functional as F\n{model}\n{helper}")
    found = check_filter(judge, problem, reason="near_benchmark")

    assert found.detail == "class Gate has similarity 1.000 to ours/gated, 0.9 or more"
    assert (found.value, found.limit) == (1.0, 0.9)


def test_another_problem_is_kept_with_its_nearest(judge):
    other = RELU_MEAN.replace("torch.relu", "torch.erf").replace("nn.Linear", "nn.Bilinear")
    facts = judge.judge(make_problem(other))
    classes = [class_shingles(code)["Model"] for code in (other, RELU_MEAN)]

    assert facts["nearest_benchmark"] == "ours/relu_mean"
    assert facts["benchmark_similarity"] == jaccard(*classes) < 0.9


def test_the_share_at_the_limit_is_too_near_and_under_it_is_not(judge):
    problem = make_problem(RELU_MEAN.replace("torch.relu", "torch.erf"))
    share = judge.judge(problem)["benchmark_similarity"]

    check_filter(NearBenchmark(share, judge.benchmarks), problem, reason="near_benchmark")
    check_filter(NearBenchmark(share + 1e-6, judge.benchmarks), problem, reason=None)


def test_a_text_without_classes_is_near_nothing(judge):
    nothing = {"nearest_benchmark": None, "benchmark_similarity": None}

    assert judge.judge(make_problem("x = 1")) == nothing


def test_without_benchmarks_everything_is_kept():
    judge = NearBenchmark(benchmarks=())

    assert judge.judge(make_problem())["nearest_benchmark"] is None


def test_the_shipped_benchmark_is_the_default():
    code = RELU_MEAN.replace("torch.mean(x, dim=1)", "x").replace("torch.relu(self.proj(x))", "x")
    facts = NearBenchmark().judge(make_problem(code))

    assert facts["nearest_benchmark"].startswith("kernelbench/level")


@pytest.mark.parametrize("limit", [0, -0.1, 1.1, float("nan")])
def test_a_limit_that_is_no_share_is_refused(limit):
    with pytest.raises(ValueError, match="expected 0 < limit <= 1"):
        NearBenchmark(limit=limit)


def test_a_single_name_in_place_of_a_list_is_refused():
    with pytest.raises(ValueError, match="expected a list"):
        NearBenchmark(benchmarks="kernelbench")


def test_a_benchmark_that_is_not_there_is_a_config_error():
    with pytest.raises(ConfigError, match="did you mean 'kernelbench'"):
        NearBenchmark(benchmarks=["kernelbnch"])
