"""What the composer writes, run: for real at small sizes, and as shapes alone at full ones."""

import warnings

import pytest
import torch

from fusewright.compose.preset import PRESETS
from fusewright.filters.banned import Banned
from fusewright.filters.contract import Contract
from fusewright.filters.unused import Unused
from fusewright.measure.trace import trace
from fusewright.records import Rejection
from fusewright.testing import make_problem

from .problems import built, drawn

SEEDS = range(150)


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_problem_runs_as_predicted(seed):
    graph, batch, code = drawn(seed)
    model, inputs = built(code)
    with torch.no_grad(), warnings.catch_warnings(action="error"):
        output, evaluated = model(*inputs), model.eval()(*inputs)
    assert tuple(output.shape) == (batch, *graph.nodes[-1].value.shape), code
    assert torch.isfinite(output).all(), code
    assert torch.allclose(output, evaluated, atol=1e-5, rtol=1e-4), code
    assert tuple(name for name, _ in trace(model, inputs)) == graph.ops, code


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("device", sorted(PRESETS))
def test_shapes_are_as_predicted_at_full_size(device, seed):
    graph, batch, code = drawn(seed, PRESETS[device])
    with torch.device("meta"), torch.no_grad():
        model, inputs = built(code)
        output = model(*inputs)
    assert tuple(output.shape) == (batch, *graph.nodes[-1].value.shape), code


@pytest.mark.parametrize("seed", range(30))
def test_other_inputs_give_another_output(seed):
    _, _, code = drawn(seed, PRESETS["cpu"])
    model, inputs = built(code)
    with torch.no_grad():
        first, second = model(*inputs), model(*(torch.randn_like(x) for x in inputs))
    assert float((~torch.isclose(first, second, 1e-3, 1e-3)).float().mean()) > 0.01, code


def test_no_text_has_a_fault_that_reading_shows():
    filters = (Contract(), Banned(), Unused())
    problems = [make_problem(drawn(seed)[2]) for seed in SEEDS]
    verdicts = [judge.judge(problem) for judge in filters for problem in problems]
    assert [v.detail for v in verdicts if isinstance(v, Rejection)] == []
