"""Modules of torch.nn, as ModuleInfo builds them, as written by hand, or simply as they stand."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from fusewright.operators.expression import Rendering, UnrenderableError
from fusewright.operators.sampled import Sample, choose, torch_operator
from fusewright.operators.templates import MODULES, Template
from fusewright.records import Operator

_DROPPED = re.compile(
    r"\.(Lazy\w+|\w*Dropout\d?d?|RReLU|Fractional\w+|MaxUnpool\dd|Identity|Module\w*|Parameter\w+"
    r"|Sequential|Container|DataParallel|SyncBatchNorm|RNNBase|RNNCellBase|NLLLoss2d)$"
)
"""Names that are no work for a kernel: randomness, identities, containers, bases."""

_MOST_TENSORS = 3


@dataclass(frozen=True)
class Modules:
    """Module classes of torch.nn with a deterministic forward."""

    name: str = "modules"

    def operators(self) -> Iterator[Operator]:
        """Yield the classes of torch.nn by name, each with one constructor call."""
        written = {template.name: template for template in MODULES}
        entries = _entries()
        for name in _names():
            if name in written:
                yield _from_template(written[name])
            else:
                found = choose(name, _samples(name, entries.get(name)))
                yield from [found] if found else []


def _names() -> list[str]:
    classes = [n for n, c in vars(nn).items() if isinstance(c, type) and issubclass(c, nn.Module)]
    return [f"nn.{name}" for name in sorted(classes) if not _DROPPED.search(f".{name}")]


def _entries() -> dict[str, Any]:
    # Imported late: it takes seconds.
    from torch.testing._internal.common_modules import module_db

    return {entry.name: entry for entry in module_db}


def _from_template(template: Template) -> Operator:
    tensors = ", ".join(f"{{{index}}}" for index in range(len(template.inputs)))
    call = f"{{m}}({tensors})"
    return torch_operator(template.name, call, template.inputs, init=template.text)


def _samples(name: str, entry: Any | None) -> Iterator[Sample]:
    torch.default_generator.manual_seed(0)
    if entry is None:
        # Without an entry, a class may still build without arguments and take a few matrices.
        for count in range(1, _MOST_TENSORS + 1):
            yield from _rendered(name, ((), {}), (torch.randn(count, 4, 8).unbind(), {}))
        return
    inputs = entry.module_inputs_func(
        entry, device="cpu", dtype=torch.float32, requires_grad=False, training=True
    )
    for each in inputs:
        built, fed = each.constructor_input, each.forward_input
        if fed is not None:
            yield from _rendered(name, (built.args, built.kwargs), (fed.args, fed.kwargs))


def _rendered(name: str, built: tuple[Any, Any], fed: tuple[Any, Any]) -> Iterator[Sample]:
    constructor, rendering = Rendering(), Rendering()
    try:
        init, call = constructor.call(name, *built), rendering.call("{m}", *fed)
    except UnrenderableError:
        return
    if rendering.tensors and not constructor.tensors:
        yield Sample(call, tuple(rendering.tensors), init)
