"""Operators that are written out: texts of modules in KernelBench's form, one operator a text.

A text is a stranger's. It is parsed here and run only while its own operator is tested, by a
process that is confined (`fusewright.operators.probe`) and that no other text depends on.
"""

import ast
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from fusewright.identity import operator_names, read
from fusewright.identity.contract import missing
from fusewright.operators.expression import (
    Rendering,
    Runnable,
    UnrenderableError,
    attempt,
    one_line,
)
from fusewright.operators.families import family
from fusewright.operators.samples import describe, value_range
from fusewright.operators.snippet import shortened
from fusewright.operators.verdict import turn_away
from fusewright.records import Operator, Rejection, TensorSpec

_SPDX = re.compile(r"^#\s*SPDX-License-Identifier:\s*(\S.*?)\s*$", re.MULTILINE)
_TELLING = (
    *("attention", "conv", "matmul", "distance", "linalg", "spectral", "scan", "sort", "loss"),
    *("embedding", "softmax", "norm", "pool", "resample", "indexing", "reduction", "layout"),
    "elementwise",
)
"""Families, the most telling first: a convolution and its activation are a convolution."""

LEARNT = (
    *("call", "inputs", "family", "snippet"),  # by `complete`
    *("signature", "domain", "dtypes", "flags"),  # by the self-test
)
"""Fields of an operator that only running its text tells."""


@dataclass(frozen=True)
class Written:
    """Operators of the texts in a file of lines, each an object with `name` and `code`."""

    name: str
    path: Path
    license: str

    def operators(self) -> Iterator[Operator]:
        """Yield each text as an operator that `complete` has yet to fill in."""
        with self.path.open() as lines:
            for line in lines:
                text = json.loads(line)
                yield self._draft(text["name"], text["code"])

    def _draft(self, name: str, code: str) -> Operator:
        stated = _SPDX.search(code)
        return Operator(
            name=f"{self.name}.{name}",
            family="other",
            kind="source_module",
            source=self.name,
            source_code=code,
            init="Model(*get_init_inputs())",
            call="{m}(*get_inputs())",
            inputs=(),
            license=stated[1] if stated else self.license,
            version=f"{self.name} {hashlib.sha256(code.encode()).hexdigest()[:12]}",
        )


def is_draft(operator: Operator) -> bool:
    """Whether the inputs of *operator* are still to be had from its text."""
    return bool(operator.source_code) and not operator.inputs


def complete(draft: Operator) -> Operator | Rejection:
    """Fill in what the text of *draft* tells: inputs, call, family and snippet. Runs the text."""
    who = (draft.source, draft.name)
    try:
        lacking = list(missing(read(draft.source_code)))
    except SyntaxError as error:
        return turn_away(*who, "invalid_operator", f"the text is no Python: {error.msg}")
    if lacking:
        expected = "expected class Model(nn.Module), get_inputs() and get_init_inputs()"
        return turn_away(*who, "invalid_operator", f"{lacking[0]}: {expected}")
    arguments = attempt(lambda: Runnable(draft).value("get_inputs()"))
    if isinstance(arguments, Exception):
        return turn_away(*who, "init_error", f"get_inputs: {one_line(arguments)}")
    rendering = Rendering()
    try:
        call = rendering.call("{m}", list(arguments), {})
    except (UnrenderableError, TypeError) as error:
        return turn_away(*who, "invalid_operator", f"get_inputs: {one_line(error)}")
    if not rendering.tensors:
        return turn_away(*who, "invalid_operator", "get_inputs gives no tensor: expected one")
    found: dict[str, Any] = {
        "call": call,
        "inputs": tuple(map(_spec, rendering.tensors)),
        "family": _family(draft.source_code),
        "snippet": shortened(_class_text(draft.source_code)),
    }
    return draft.model_copy(update=found)


def _spec(tensor: Tensor) -> TensorSpec:
    """Spec of *tensor*: standard normal where it has both signs, else within what it holds."""
    if not tensor.is_floating_point():
        return describe(tensor)
    low, high = value_range(tensor)
    return describe(tensor) if low < 0 < high else describe(tensor, low, high)


def _family(code: str) -> str:
    found = {family(name) for name in operator_names(code)}
    return next((name for name in _TELLING if name in found), "other")


def _class_text(code: str) -> str:
    program = read(code)
    return ast.get_source_segment(code, program.classes["Model"]) or code
