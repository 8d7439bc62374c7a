import pytest
import torch
from torch import nn

from fusewright.measure.candidate import Candidate
from fusewright.measure.checks import Fault
from fusewright.measure.device import Cpu
from fusewright.measure.examine import compare, exact, look, redrawn, require_window

WINDOW_MS = (1.0, 100.0)


@pytest.mark.parametrize(
    ("coarse_ms", "reason", "limit"),
    [
        (0.7499, "too_easy", 0.75),
        (0.7501, None, None),
        (124.9, None, None),
        (125.1, "too_slow", 125.0),
    ],
)
def test_a_first_look_a_quarter_outside_the_window_ends_it(coarse_ms, reason, limit):
    if reason is None:
        require_window(coarse_ms, WINDOW_MS)
        return
    with pytest.raises(Fault) as ended:
        require_window(coarse_ms, WINDOW_MS)

    finding = ended.value.finding
    assert (finding.reason, finding.value, finding.limit) == (reason, coarse_ms, limit)


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(16, 16)

    def forward(self, x):
        return self.linear(x).relu()


def made(model=None):
    torch.manual_seed(0)
    return Candidate((model or Scaled()).eval(), None, [torch.randn(100, 16)], 1e-3)


class Timed(Cpu):
    """A processor whose second call is timed at 7 ms."""

    def time(self, call, repetitions):
        super().time(call, repetitions)
        return [7.0] * repetitions


def test_a_look_runs_forward_twice_and_times_the_second_call():
    calls = []

    class Model(nn.Module):
        def forward(self, x):
            calls.append(x)
            return x.add_(len(calls))

    candidate = made(Model())
    before = candidate.inputs[0].clone()
    seen = look(candidate, Timed())

    assert len(calls) == 2
    assert torch.equal(seen.outputs[0], before + 1)
    assert torch.equal(seen.again[0], before + 2)
    assert torch.equal(seen.given[0], before + 2)
    assert torch.equal(candidate.inputs[0], before)
    assert (seen.coarse_ms, seen.peak_bytes) == (7.0, None)


def test_outputs_that_are_near_each_other_need_no_reference(monkeypatch):
    candidate = made()
    with torch.no_grad():
        outputs = candidate.run(candidate.inputs)
        monkeypatch.setattr("fusewright.measure.examine.exact", None)
        ratio = compare(candidate, outputs, [outputs[0] * (1 + 1e-6)], rounding=False)

    assert ratio is None


def test_outputs_that_are_apart_are_held_against_float64():
    candidate = made()
    with torch.no_grad():
        outputs = candidate.run(candidate.inputs)
        reference = exact(candidate)
        ratio = compare(candidate, outputs, [outputs[0] * (1 + 0.95e-4)], rounding=False)
        with pytest.raises(Fault) as ended:
            compare(candidate, outputs, [outputs[0] * (1 + 2e-4)], rounding=False)

    assert reference[0].dtype == torch.float64
    assert ratio > 1
    assert ended.value.finding.reason == "compile_mismatch"


@pytest.mark.parametrize(("rounding", "fault"), [(True, False), (False, True)])
def test_a_product_of_rounded_entries_passes_where_the_device_may_round(rounding, fault):
    torch.manual_seed(0)
    model = nn.Linear(512, 64)
    candidate = Candidate(model.eval(), None, [torch.randn(512, 512)], 1e-3)
    with torch.no_grad():
        outputs, compiled = candidate.run(candidate.inputs), candidate.run_rounded()
        if fault:
            with pytest.raises(Fault):
                compare(candidate, outputs, compiled, rounding=rounding)
        else:
            assert compare(candidate, outputs, compiled, rounding=rounding) > 0


def test_an_output_that_is_missing_is_not_passed_over():
    candidate = made()
    with torch.no_grad():
        outputs = candidate.run(candidate.inputs)
        with pytest.raises(Fault, match=r"compiled returns .*, eager"):
            compare(candidate, [*outputs, *outputs], outputs, rounding=False)


def test_a_model_that_names_its_dtype_has_no_reference():
    class Model(nn.Module):
        def forward(self, x):
            return x @ torch.ones(16, 16)

    with torch.no_grad():
        assert exact(made(Model())) is None


@pytest.mark.parametrize("value", [0.0, 1.0, -3.0])
def test_a_constant_parameter_is_redrawn_with_the_spread_of_its_size(value):
    torch.manual_seed(0)
    other = redrawn(torch.full((10_000,), value))

    assert other.mean().item() == pytest.approx(value, abs=0.1)
    assert other.std().item() == pytest.approx(max(1.0, abs(value)) / 2, rel=0.1)
