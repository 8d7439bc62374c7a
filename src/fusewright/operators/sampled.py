"""From valid calls of a torch callable to its record: the call and the value ranges that work."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from fusewright.operators.expression import NAMESPACE, Runnable, attempt
from fusewright.operators.families import family
from fusewright.operators.samples import describe, draw, value_range
from fusewright.operators.snippet import snippet
from fusewright.records import Operator, TensorSpec

VERSION = f"torch {torch.__version__.partition('+')[0]}"
_NARROW = ((0.05, 0.95), (1.05, 3.0))
"""Ranges tried last: almost every function is finite on one of them."""
_TELLING_ELEMENTS = 8
"""Elements from which a sample without a negative value has none on purpose."""
_HIGHEST_RANK = 5
"""Batched volumes; what has more dimensions tests torch and is in no model."""


class Sample(NamedTuple):
    """A valid call as text, with the tensors that its placeholders stand for."""

    call: str
    tensors: tuple[Tensor, ...]
    init: str = ""


def torch_operator(name: str, call: str, inputs: Sequence[TensorSpec], init: str = "") -> Operator:
    """Record of the torch callable called *name*, not yet self-tested."""
    return Operator(
        name=name,
        family=family(name),
        kind="module" if init else "function",
        source="modules" if init else "functions",
        call=call,
        init=init,
        inputs=tuple(inputs),
        snippet=snippet(name, find(name)),
        version=VERSION,
    )


def find(name: str) -> Any:
    """What *name* stands for in an expression; None if nothing does."""
    head, *rest = name.split(".")
    target: Any = NAMESPACE.get(head)
    for part in rest:
        target = getattr(target, part, None)
    return target


def choose(name: str, samples: Iterable[Sample]) -> Operator | None:
    """Record of *name* by the most typical of *samples* that runs and gives finite values.

    A callable that is never finite is recorded all the same, for the self-test to turn away.
    """
    spare = None
    for sample in sorted(samples, key=_oddness):
        for inputs in _specs(sample.tensors):
            operator = torch_operator(name, sample.call, inputs, sample.init)
            found = fate(operator)
            if found == "fine":
                return operator
            if found == "unfit":
                break
            if found == "nonfinite":
                spare = spare or operator
    return spare


def fate(operator: Operator) -> Literal["fine", "nonfinite", "raises", "unfit"]:
    """What comes of running *operator* once on its sample.

    `unfit` has no floating output, returns a view or its very input, writes to an input, or gives
    one number throughout: a sample with such arguments (`hardshrink` by 0) says nothing of it.
    """
    runnable, tensors = Runnable(operator), draw(operator.inputs)
    given = attempt(lambda: runnable.run(tensors, runnable.build()))
    if isinstance(given, Exception):
        return "raises"
    outputs = [
        leaf for leaf in tree_leaves(given) if isinstance(leaf, Tensor) and leaf.is_floating_point()
    ]
    intact = all(map(torch.equal, tensors, draw(operator.inputs)))
    if not outputs or not intact or any(_is_trivial(output, tensors) for output in outputs):
        return "unfit"
    finite = all(bool(torch.isfinite(output).all()) for output in outputs)
    return "fine" if finite else "nonfinite"


def _is_trivial(output: Tensor, tensors: Sequence[Tensor]) -> bool:
    given = {tensor.untyped_storage().data_ptr() for tensor in tensors}
    return (
        output.numel() == 0
        or output.untyped_storage().data_ptr() in given
        or any(torch.equal(output, tensor) for tensor in tensors)
        or (output.numel() > 1 and bool((output == output.flatten()[0]).all()))
    )


def _oddness(sample: Sample) -> tuple[bool, bool, int, bool, int]:
    """Sort key: real tensors, two of them rather than one, high rank, a `dim`, brevity."""
    tensors, text = sample.tensors, sample.init + sample.call
    degenerate = any(tensor.numel() <= 1 for tensor in tensors)
    rank = tensors[0].dim()
    return (
        degenerate or rank > _HIGHEST_RANK,
        len(tensors) == 1,
        -rank,
        "dim" not in text,
        len(text),
    )


def _specs(tensors: Sequence[Tensor]) -> Iterator[tuple[TensorSpec, ...]]:
    """Yield specs of *tensors*: normal where the sample has both signs, then ever narrower."""
    ranges = [value_range(tensor) for tensor in tensors]
    pairs = list(zip(tensors, ranges, strict=True))
    telling = [tensor.numel() >= _TELLING_ELEMENTS and low >= 0 for tensor, (low, _) in pairs]
    yield tuple(
        describe(tensor, *bounds) if told else describe(tensor)
        for (tensor, bounds), told in zip(pairs, telling, strict=True)
    )
    yield tuple(describe(tensor, *bounds) for tensor, bounds in pairs)
    for low, high in _NARROW:
        yield tuple(describe(tensor, low, high) for tensor in tensors)
