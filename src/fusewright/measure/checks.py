"""Faults of a problem that running it shows, each a function from outputs to a finding or None.

All but `compile_mismatch` is judged at the grading tolerance: a value moves when it leaves
`atol + rtol * |other|`, NaN equals NaN, and an output counts as unmoved when under 1 % of its
elements move.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch

Outputs = Sequence[torch.Tensor]

UNMOVED = 0.01
"""Share of moved elements under which an output counts as the same."""
SAMPLE = 2**20
"""Elements that are looked at first; only a share of over twice the limit among them settles it."""
TOLERANCES = {torch.float32: 1e-3, torch.float64: 1e-3, torch.bfloat16: 1e-2, torch.float16: 1e-2}
"""Absolute and relative tolerance by dtype. Source: KernelBench-Verified (float32, bfloat16)."""
SMALL_ELEMENTS = 1000
ERROR_RATIO, SMALL_ERROR_RATIO = 3.0, 10.0
"""How much further from float64 than eager the compiled output may be, and how much for outputs of
under 1,000 elements, where one rounding weighs. A tenth of the tolerance comes on top, so that an
eager result that happens to be exact asks no more than float32 of the compiled one. The form of the
rule is that of `torch._dynamo.utils.same`; the numbers are ours, within its range of 2 to 10."""

NEAR = 0.9
"""Share of that tenth that a difference may fill to pass at once: the norm of the eager output
stands in for that of the reference."""
SMALLEST_NORM, LARGEST_NORM = 1e-9, 1e18
"""Between these a norm in float32 loses nothing to squares that it cannot hold."""


@dataclass(frozen=True)
class Finding:
    """A fault: the reason, a sentence, and the value with the limit it broke."""

    reason: str
    detail: str
    value: float | None = None
    limit: float | None = None


class Fault(Exception):  # noqa: N818 -- it carries a finding, not an error of ours
    """Ends the examination of a candidate with a finding."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.detail)
        self.finding = finding


def raise_if(finding: Finding | None) -> None:
    """End the examination if there is a finding."""
    if finding:
        raise Fault(finding)


def moved(first: Outputs, second: Outputs, tolerance: float) -> float:
    """Share of all elements in which two outputs differ beyond the tolerance, 0 to 1."""
    if [t.shape for t in first] != [t.shape for t in second]:
        return 1.0
    total = sum(t.numel() for t in first)
    differing = sum(
        int((~_close(a, b, tolerance)).sum()) for a, b in zip(first, second, strict=True)
    )
    return differing / total if total else 0.0


def moved_for_certain(first: Outputs, second: Outputs, tolerance: float) -> float:
    """Share of moved elements, from a sample where that leaves no doubt that enough have moved."""
    if sum(t.numel() for t in first) > 2 * SAMPLE and [t.shape for t in first] == [
        t.shape for t in second
    ]:
        share = moved(_sampled(first), _sampled(second), tolerance)
        if share > 2 * UNMOVED:
            return share
    return moved(first, second, tolerance)


def nonfinite(outputs: Outputs) -> Finding | None:
    """`nonfinite_output`: any element is infinite or not a number."""
    total = sum(t.numel() for t in outputs)
    bad = total - sum(int(torch.isfinite(t).sum()) for t in outputs)
    if not bad:
        return None
    detail = f"{bad} of {total} output elements are not finite"
    return Finding("nonfinite_output", detail, bad / total, 0.0)


def mutated(before: Outputs, after: Outputs, what: str) -> Finding | None:
    """`mutates_input`: a call left its inputs or its state other than it found them."""
    for index, (old, new) in enumerate(zip(before, after, strict=True)):
        if not same(old, new):
            return Finding("mutates_input", f"forward changes {what} {index} in place")
    return None


def nondeterministic(first: Outputs, second: Outputs) -> Finding | None:
    """`nondeterministic`: two runs on equal inputs differ in any bit."""
    if all(same(a, b) for a, b in zip(first, second, strict=True)):
        return None
    return Finding(
        "nondeterministic", "two runs on the same inputs differ", moved(first, second, 0.0)
    )


def ill_conditioned(outputs: Outputs, reference: Outputs, tolerance: float) -> Finding | None:
    """`ill_conditioned`: rounding in float32 alone takes a quarter of the tolerance."""
    doubles = [t if t.is_complex() else t.double() for t in outputs]
    share = moved_for_certain(doubles, reference, tolerance / 4)
    if share < UNMOVED:
        return None
    detail = f"{share:.2%} of the output is further from float64 than a quarter of the tolerance"
    return Finding("ill_conditioned", detail, share, UNMOVED)


def constant(first: Outputs, second: Outputs, tolerance: float) -> Finding | None:
    """`constant_output`: other inputs give the same output."""
    return _unmoved("constant_output", "redrawing every input", first, second, tolerance)


def insensitive(
    reason: str, what: str, base: Outputs, changed: Outputs, tolerance: float
) -> Finding | None:
    """`insensitive_argument` or `insensitive_parameter`: redrawing *what* does not show."""
    return _unmoved(reason, f"redrawing {what}", base, changed, tolerance)


def trivial(outputs: Outputs, inputs: Outputs, tolerance: float) -> Finding | None:
    """`trivial_output`: zeros, the mean, or an input passed through would be marked right."""
    floats = [t if t.is_complex() else t.float() for t in outputs]
    guesses = [("zeros", [torch.zeros_like(t) for t in floats])]
    guesses.append(("its mean", [t.mean().expand_as(t) for t in floats]))
    for axis in range(floats[0].dim() if len(floats) == 1 else 0):
        if floats[0].shape[axis] > 1:
            mean = floats[0].mean(axis, keepdim=True).expand_as(floats[0])
            guesses.append((f"its mean over axis {axis}", [mean]))
    guesses += [
        (f"input {index}", [tensor])
        for index, tensor in enumerate(inputs)
        if len(floats) == 1 and tensor.shape == floats[0].shape
    ]
    for name, guess in guesses:
        share = moved_for_certain(floats, guess, tolerance)
        if share < UNMOVED:
            detail = f"{name} would pass: {share:.2%} of the output differs from it"
            return Finding("trivial_output", detail, share, UNMOVED)
    return None


def mode_dependent(evaluated: Outputs, trained: Outputs, tolerance: float) -> Finding | None:
    """`mode_dependent`: the output in train mode is not that of eval mode."""
    share = moved(evaluated, trained, tolerance)
    if share == 0.0:
        return None
    detail = f"{share:.2%} of the output differs between train and eval mode"
    return Finding("mode_dependent", detail, share, 0.0)


def mismatch(
    eager: Outputs, compiled: Outputs, reference: Outputs | None, tolerance: float
) -> tuple[Finding | None, float | None]:
    """`compile_mismatch`: compiled is further from float64 than eager explains.

    Without a float64 *reference* the two are compared with each other at the tolerance.

    Returns:
        The finding, and the ratio of the two errors where there is a reference.
    """
    if _forms(eager) != _forms(compiled):
        detail = f"compiled returns {_forms(compiled)}, eager {_forms(eager)}"
        return Finding("compile_mismatch", detail), None
    if reference is None:
        share = moved(eager, compiled, tolerance)
        detail = f"{share:.2%} of the compiled output differs from eager"
        return (Finding("compile_mismatch", detail, share, 0.0) if share else None), None
    worst = 0.0
    for ours, theirs, exact in zip(eager, compiled, reference, strict=True):
        allowed = SMALL_ERROR_RATIO if exact.numel() < SMALL_ELEMENTS else ERROR_RATIO
        error, base = relative_error(theirs, exact), relative_error(ours, exact)
        worst = max(worst, error / max(base, torch.finfo(torch.float32).eps))
        limit = allowed * base + tolerance / 10
        if not error <= limit:
            detail = f"compiled is {error:.2e} from float64, eager {base:.2e}"
            return Finding("compile_mismatch", detail, _finite(error), limit), _finite(worst)
    return None, _finite(worst)


def near(eager: Outputs, compiled: Outputs, tolerance: float) -> bool:
    """Whether the two are so close that `mismatch` would pass them whatever float64 gives.

    By the triangle inequality compiled is further from the reference than eager by no more than the
    two differ, which the tenth of the tolerance covers.
    """
    return _forms(eager) == _forms(compiled) and all(
        _near(ours, theirs, tolerance) for ours, theirs in zip(eager, compiled, strict=True)
    )


def _forms(outputs: Outputs) -> list[str]:
    """Dtype and shape of each of *outputs*, as in `float32[8, 16]`."""
    return [f"{str(t.dtype).removeprefix('torch.')}{list(t.shape)}" for t in outputs]


def _near(eager: torch.Tensor, compiled: torch.Tensor, tolerance: float) -> bool:
    if not (eager.is_floating_point() or eager.is_complex()):
        return bool(torch.equal(eager, compiled))
    norm = _norm(eager)
    if not SMALLEST_NORM <= norm <= LARGEST_NORM:
        return bool(torch.equal(eager, compiled))
    return _norm(compiled - eager) <= NEAR * tolerance / 10 * norm


def _norm(tensor: torch.Tensor) -> float:
    # A norm in float16 ends at 65,504: what is above it would pass for as near as can be.
    half = tensor.dtype in (torch.float16, torch.bfloat16)
    return float(torch.linalg.vector_norm(tensor, dtype=torch.float32 if half else None))


def relative_error(output: torch.Tensor, exact: torch.Tensor) -> float:
    """Root mean square of the difference over that of *exact*."""
    given, wanted = (
        (torch.view_as_real(t.resolve_conj()) if t.is_complex() else t).double()
        for t in (output, exact)
    )
    scale = wanted.square().mean().sqrt().clamp_min(torch.finfo(torch.float64).tiny)
    return float((given - wanted).square().mean().sqrt() / scale)


def same(first: torch.Tensor, second: torch.Tensor) -> bool:
    """Equal in every element, NaN equal to NaN."""
    if first.shape != second.shape or first.dtype != second.dtype:
        return False
    return bool(torch.equal(first, second) or _close(first, second, 0.0).all())


def _unmoved(
    reason: str, change: str, first: Outputs, second: Outputs, tolerance: float
) -> Finding | None:
    share = moved_for_certain(first, second, tolerance)
    if share >= UNMOVED:
        return None
    return Finding(reason, f"{change} moves {share:.2%} of the output", share, UNMOVED)


def _sampled(outputs: Outputs) -> Outputs:
    total = sum(t.numel() for t in outputs)
    # An odd step keeps away from the even sizes of most dimensions.
    step = total // SAMPLE | 1
    return [t.reshape(-1)[::step] for t in outputs]


def _close(first: torch.Tensor, second: torch.Tensor, tolerance: float) -> torch.Tensor:
    complex_ = first.is_complex() or second.is_complex()
    one, other = (_comparable(tensor, complex_=complex_) for tensor in (first, second))
    close = torch.isclose(one, other, rtol=tolerance, atol=tolerance, equal_nan=True)
    # A complex element is close when both of its parts are.
    return close.all(-1) if complex_ else close


def _comparable(tensor: torch.Tensor, *, complex_: bool) -> torch.Tensor:
    if complex_:
        return torch.view_as_real(tensor.to(torch.complex128).resolve_conj())
    return tensor if tensor.dtype == torch.float64 else tensor.float()


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
