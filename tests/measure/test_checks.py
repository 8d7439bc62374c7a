"""Each finding on either side of its limit, on tensors made for it."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fusewright.measure import checks

TOLERANCE = 1e-3


def ramp(n=1000):
    return torch.arange(n, dtype=torch.float32).sin()


def shifted(share, by):
    """A ramp of 1,000 elements with the first *share* of them moved *by* that much."""
    tensor = ramp()
    tensor[: int(share * 1000)] += by
    return tensor


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (shifted(0.0, 1.0), 0.0),
        (shifted(0.009, 1.0), 0.009),
        (shifted(1.0, 0.0009), 0.0),
        (shifted(1.0, 0.0025), 1.0),
        (ramp(7), 1.0),
    ],
    ids=["equal", "nine in a thousand", "within tolerance", "beyond tolerance", "other shape"],
)
def test_moved_is_the_share_beyond_the_tolerance(other, expected):
    assert checks.moved([other], [ramp()], TOLERANCE) == pytest.approx(expected)


def test_not_a_number_equals_itself_and_nothing_else():
    nan = torch.tensor([math.nan, 1.0])

    assert checks.moved([nan], [nan.clone()], TOLERANCE) == 0.0
    assert checks.moved([nan], [torch.tensor([0.0, 1.0])], TOLERANCE) == 0.5
    assert checks.same(nan, nan.clone())


@pytest.mark.parametrize(("share", "fault"), [(0.009, True), (0.011, False)])
def test_an_output_is_constant_while_under_one_in_a_hundred_elements_move(share, fault):
    finding = checks.constant([ramp()], [shifted(share, 1.0)], TOLERANCE)

    assert (finding is not None) == fault
    if finding:
        assert (finding.reason, finding.limit) == ("constant_output", 0.01)


@pytest.mark.parametrize(
    ("value", "fault"), [(3e38, False), (math.inf, True), (-math.inf, True), (math.nan, True)]
)
def test_one_element_that_is_not_finite_is_enough(value, fault):
    output = ramp()
    output[3] = value

    assert (checks.nonfinite([output]) is not None) == fault


def test_one_bit_makes_a_run_nondeterministic():
    again = ramp()
    again[0] = torch.nextafter(again[0], torch.tensor(2.0))

    assert checks.nondeterministic([ramp()], [ramp()]) is None
    assert checks.nondeterministic([ramp()], [again]).reason == "nondeterministic"


def test_a_mutation_names_what_changed():
    assert checks.mutated([ramp()], [ramp()], "input") is None
    assert checks.mutated([ramp()], [ramp() + 1], "input").detail.startswith(
        "forward changes input 0"
    )


GRID = ramp(400).reshape(20, 20)


@pytest.mark.parametrize(
    ("output", "inputs", "guess"),
    [
        (GRID * 1e-4, [], "zeros"),
        (GRID * 1e-4 + 5, [], "its mean"),
        (GRID.mean(1, keepdim=True).expand(20, 20), [], "its mean over axis 1"),
        (GRID, [GRID * 2, GRID], "input 1"),
        (GRID, [GRID * 2], None),
        (GRID * 0.1, [], None),
    ],
)
def test_what_a_guess_would_pass_is_trivial(output, inputs, guess):
    finding = checks.trivial([output], inputs, TOLERANCE)

    assert (finding and finding.reason) == (guess and "trivial_output")
    if finding:
        assert finding.detail.startswith(f"{guess} would pass")


@pytest.mark.parametrize(("by", "fault"), [(0.0009, False), (0.01, True)])
def test_one_element_that_differs_makes_a_problem_mode_dependent(by, fault):
    trained = ramp()
    trained[0] += by

    assert (checks.mode_dependent([ramp()], [trained], TOLERANCE) is not None) == fault


@pytest.mark.parametrize(
    ("eager_error", "compiled_error", "fault"),
    [(1e-6, 1e-6, False), (1e-6, 9e-5, False), (1e-6, 1.2e-4, True), (1e-3, 2.9e-3, False)],
)
def test_compiled_may_be_as_wrong_as_eager_explains(eager_error, compiled_error, fault):
    exact = torch.randn(5000, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    eager, compiled = exact * (1 + eager_error), exact * (1 + compiled_error)
    finding, ratio = checks.mismatch([eager], [compiled], [exact], TOLERANCE)

    assert (finding is not None) == fault
    assert ratio == pytest.approx(compiled_error / eager_error, rel=0.2)


def test_a_small_output_may_differ_more_than_a_large_one():
    exact = torch.randn(500, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    eager, compiled = exact * (1 + 1e-3), exact * (1 + 6e-3)

    large = [t.repeat(3) for t in (eager, compiled, exact)]

    assert checks.mismatch([eager], [compiled], [exact], TOLERANCE)[0] is None
    assert checks.mismatch(*([t] for t in large), TOLERANCE)[0] is not None


def test_without_a_reference_the_two_are_compared_with_each_other():
    finding, ratio = checks.mismatch([ramp()], [ramp() + 0.01], None, TOLERANCE)

    assert finding.reason == "compile_mismatch"
    assert ratio is None
    assert checks.mismatch([ramp()], [ramp()], None, TOLERANCE) == (None, None)


def test_an_infinite_error_is_a_mismatch_that_json_can_hold():
    exact = torch.ones(5000, dtype=torch.float64)
    compiled = torch.full((5000,), math.inf)
    finding, ratio = checks.mismatch([exact.float()], [compiled], [exact], TOLERANCE)

    assert finding.reason == "compile_mismatch"
    assert finding.value is None
    assert ratio is None


scales = st.floats(-44.0, 38.0).map(lambda exponent: 10.0**exponent)
dtypes = st.sampled_from([torch.float32, torch.float16, torch.bfloat16, torch.float64])


@settings(deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.sampled_from([1, 10, 2000]),
    dtype=dtypes,
    scale=scales,
    errors=st.tuples(st.floats(-7.0, 0.0), st.floats(-7.0, 3.0)),
)
def test_what_is_near_eager_passes_whatever_float64_gives(seed, size, dtype, scale, errors):
    apart, away = (10.0**exponent for exponent in errors)
    noise = torch.Generator().manual_seed(seed)

    def draw():
        return torch.randn(size, dtype=torch.float64, generator=noise)

    exact = draw()
    compiled = (scale * (exact + apart * draw())).to(dtype)
    eager, reference = (scale * exact).to(dtype), scale * (exact + away * draw())
    if torch.isfinite(eager).all() and checks.near([eager], [compiled], TOLERANCE):
        finding, _ = checks.mismatch([eager], [compiled], [reference], TOLERANCE)
        assert finding is None


@pytest.mark.parametrize(("by", "near"), [(0.89e-4, True), (0.91e-4, False)])
def test_near_is_nine_tenths_of_a_tenth_of_the_tolerance(by, near):
    eager = ramp().double()

    assert checks.near([eager], [eager * (1 + by)], TOLERANCE) == near


@pytest.mark.parametrize(
    "scale",
    [1e-30, 3e4],
    ids=["squares that vanish", "a norm beyond the largest float16"],
)
def test_a_norm_that_its_dtype_cannot_hold_makes_nothing_near(scale):
    dtype = torch.float16 if scale > 1 else torch.float32
    eager = torch.full((2000,), scale).to(dtype)

    assert checks.near([eager], [eager.clone()], TOLERANCE)
    assert not checks.near([eager], [eager / 2], TOLERANCE)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_not_finite_is_near_nothing(value):
    compiled = ramp()
    compiled[0] = value

    assert not checks.near([ramp()], [compiled], TOLERANCE)


@pytest.mark.parametrize(
    "compiled", [[ramp().half()], [ramp()[:-1]], [ramp(), ramp()], []], ids=str
)
def test_a_compiled_output_of_another_form_is_a_mismatch(compiled):
    assert not checks.near([ramp()], compiled, TOLERANCE)
    for reference in (None, [ramp().double()]):
        finding, ratio = checks.mismatch([ramp()], compiled, reference, TOLERANCE)
        assert (finding.reason, ratio) == ("compile_mismatch", None)
        assert finding.detail.endswith(f"eager ['float32{list(ramp().shape)}']")


def test_integers_and_other_shapes_are_near_when_they_are_equal():
    whole = torch.arange(5)

    assert checks.near([whole], [whole.clone()], TOLERANCE)
    assert not checks.near([whole], [whole + 1], TOLERANCE)
    assert not checks.near([ramp(5)], [ramp(1)], TOLERANCE)


MANY = 2 * checks.SAMPLE + 1
GENERATOR = torch.Generator().manual_seed(0)


def scattered(share):
    """Many elements of which a random *share* have moved."""
    return (torch.rand(MANY, generator=GENERATOR) < share).float()


def in_one_place(share):
    """Many elements of which the first *share* have moved."""
    tensor = torch.zeros(MANY)
    tensor[: int(share * MANY)] = 1.0
    return tensor


@pytest.mark.parametrize("place", [scattered, in_one_place])
@pytest.mark.parametrize("share", [0.0, 0.009, 0.011, 0.019, 0.021, 0.5])
def test_a_sample_of_many_elements_comes_to_the_verdict_of_all_of_them(place, share):
    base, other = [torch.zeros(MANY)], [place(share)]
    certain = checks.moved_for_certain(base, other, TOLERANCE)
    all_of_them = checks.moved(base, other, TOLERANCE)

    assert (certain < checks.UNMOVED) == (all_of_them < checks.UNMOVED)


def test_only_what_a_sample_leaves_in_doubt_is_looked_at_in_full(monkeypatch):
    looked_at = []
    moved = checks.moved

    def counting(first, second, tolerance):
        looked_at.append(sum(t.numel() for t in first))
        return moved(first, second, tolerance)

    monkeypatch.setattr(checks, "moved", counting)
    base = [torch.zeros(MANY)]
    checks.moved_for_certain(base, [in_one_place(0.5)], TOLERANCE)
    checks.moved_for_certain(base, [in_one_place(0.019)], TOLERANCE)
    sample, doubtful, whole = looked_at

    assert sample == doubtful < checks.SAMPLE
    assert whole == MANY


def test_outputs_of_other_shapes_have_moved_however_many_they_are():
    assert checks.moved_for_certain([torch.zeros(MANY)], [torch.zeros(MANY, 1)], TOLERANCE) == 1.0
