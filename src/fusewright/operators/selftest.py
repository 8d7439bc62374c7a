"""Test one operator from its record alone, on the CPU, and fill in what only running it tells."""

import hashlib
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from fusewright.operators.expression import Runnable, attempt, malformed, one_line
from fusewright.operators.lowering import Lowering
from fusewright.operators.probing import fingerprint, finite_interval, is_elementwise
from fusewright.operators.samples import FLOATS, draw
from fusewright.operators.trace import UNORDERED, Trace
from fusewright.operators.verdict import turn_away
from fusewright.records import Operator, Rejection

MODE_TOLERANCE = 1e-3
"""Absolute and relative difference of train and eval mode: the grading tolerance of float32."""

_OTHER_SEED = 1


def self_test(operator: Operator) -> Operator | Rejection:
    """Run *operator* on its sample and return it with signature, domain, dtypes and flags.

    Foreign code runs here: call it in a process that may die (`fusewright.operators.mine`).
    """
    who = (operator.source, operator.name)
    fault = malformed(operator)
    if fault:
        return turn_away(*who, "invalid_operator", fault)
    runnable = Runnable(operator)
    module = attempt(runnable.build)
    if isinstance(module, Exception):
        return turn_away(*who, "init_error", one_line(module))
    verdict = attempt(lambda: _examine(operator, runnable))
    if isinstance(verdict, Exception):
        return turn_away(*who, "forward_error", one_line(verdict))
    return verdict


def _examine(operator: Operator, runnable: Runnable) -> Operator | Rejection:
    who = (operator.source, operator.name)
    outputs = _tensors(runnable.run(draw(operator.inputs), runnable.build()))
    floating = [output for output in outputs if output.is_floating_point()]
    if not floating:
        given = ", ".join(str(output.dtype) for output in outputs) or "no tensor"
        return turn_away(*who, "invalid_operator", f"returns {given}: expected a floating tensor")
    wrong = sum(int((~torch.isfinite(output)).sum()) for output in floating)
    if wrong:
        total = sum(output.numel() for output in floating)
        return turn_away(*who, "nonfinite_output", f"{wrong} of {total} elements are not finite")
    return operator.model_copy(update=_measure(operator, runnable))


def _measure(operator: Operator, runnable: Runnable) -> dict[str, Any]:
    trace = _trace(operator, runnable)
    function = _elementwise(operator, runnable)
    return {
        "signature": _signature(operator, trace, function),
        "domain": finite_interval(function) if function else (None, None),
        "dtypes": tuple(dtype for dtype in FLOATS if _accepts(operator, runnable, dtype)),
        "flags": tuple(_flags(operator, runnable, trace)),
    }


def _signature(
    operator: Operator, trace: Trace, function: Callable[[Tensor], Tensor] | None
) -> str:
    # A module and a function are written differently, so neither replaces the other.
    words = ["function" if operator.kind == "function" else "module"]
    # Values tell more than calls where one tensor is all there is: a formula has many spellings.
    words += [fingerprint(function)] if function else trace.lines
    if not function and not trace.lines:
        words.append(operator.call)
    return hashlib.sha256("\n".join(words).encode()).hexdigest()[:16]


def _trace(operator: Operator, runnable: Runnable) -> Trace:
    module, tensors = runnable.build(), draw(operator.inputs)
    trace = Trace([*tensors, *(module.parameters() if module else ())])
    with trace:
        runnable.run(tensors, module)
    return trace


def _elementwise(operator: Operator, runnable: Runnable) -> Callable[[Tensor], Tensor] | None:
    if [spec.dtype in FLOATS for spec in operator.inputs] != [True]:
        return None
    module = runnable.build()

    def function(values: Tensor) -> Tensor:
        # A copy: an operator that writes to its input must not spoil the grid for the next.
        output: Tensor = runnable.run([values.clone()], module and module.to(values.dtype))
        return output

    return function if is_elementwise(function) else None


def _accepts(operator: Operator, runnable: Runnable, name: str) -> bool:
    dtype, module = getattr(torch, name), runnable.build()
    tensors = draw(operator.inputs, dtype)
    given = attempt(lambda: runnable.run(tensors, module and module.to(dtype)))
    return any(output.is_floating_point() for output in _tensors(given))


def _flags(operator: Operator, runnable: Runnable, trace: Trace) -> list[str]:
    module, tensors = runnable.build(), draw(operator.inputs)
    first = _tensors(runnable.run(tensors, module))
    again = _tensors(runnable.run(draw(operator.inputs), module, _OTHER_SEED))
    traits = {
        "nondeterministic": not _equal(first, again) or not UNORDERED.isdisjoint(trace.names),
        "data_dependent": trace.data_dependent,
        "view": any(_shares(output, tensor) for output in first for tensor in tensors),
        "mutates_input": not _equal(tensors, draw(operator.inputs)),
        "mode_dependent": module is not None and _depends_on_mode(operator, runnable, module),
        "inductor_fallback": _falls_back(operator, runnable),
    }
    return [name for name, holds in traits.items() if holds]


def _falls_back(operator: Operator, runnable: Runnable) -> bool:
    module, tensors = runnable.build(), draw(operator.inputs)
    lowering = Lowering()
    with lowering:
        runnable.run(tensors, module)
    return bool(lowering.fallbacks)


def _depends_on_mode(operator: Operator, runnable: Runnable, module: nn.Module) -> bool:
    trained = _tensors(runnable.run(draw(operator.inputs), module.train()))
    evaluated = _tensors(runnable.run(draw(operator.inputs), module.eval()))
    return not all(
        torch.allclose(one.double(), other.double(), MODE_TOLERANCE, MODE_TOLERANCE)
        for one, other in zip(trained, evaluated, strict=True)
    )


def _tensors(outputs: Any) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(outputs) if isinstance(leaf, Tensor)]


def _equal(one: list[Tensor], other: list[Tensor]) -> bool:
    return len(one) == len(other) and all(map(torch.equal, one, other))


def _shares(one: Tensor, other: Tensor) -> bool:
    same = one.untyped_storage().data_ptr() == other.untyped_storage().data_ptr()
    return same and one.numel() > 0
