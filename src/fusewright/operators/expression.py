"""An operator as text: render a measured call as an expression, and run that expression again.

The expressions of a record see three names, `torch`, `nn` and `F`, besides their own tensors
(`{0}`, `{1}` ...), their module (`{m}`) and what the record's own source code defines.
"""

import math
import string
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from fusewright.operators.families import FAMILIES
from fusewright.operators.samples import DTYPES
from fusewright.records import Operator

Result = TypeVar("Result")

NAMESPACE = {"torch": torch, "nn": nn, "F": nn.functional}
_PLAIN = (bool, int, str, type(None), torch.dtype)


class UnrenderableError(ValueError):
    """A value has no literal that a record could hold."""


@dataclass
class Rendering:
    """Writes calls, and collects the tensors that their placeholders stand for."""

    tensors: list[Tensor] = field(default_factory=list)

    def call(self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
        """Text of `name(*args, **kwargs)`.

        Raises:
            UnrenderableError: An argument is neither a dense real tensor nor a literal.
        """
        words = [self._value(arg) for arg in args]
        words += [f"{key}={self._value(value)}" for key, value in kwargs.items()]
        return f"{name}({', '.join(words)})"

    def _value(self, value: Any) -> str:
        if isinstance(value, Tensor):
            return self._placeholder(value)
        if isinstance(value, (list, tuple)):
            return self._sequence(value)
        if isinstance(value, float) and math.isfinite(value):
            # Samples hold doubles of single-precision numbers: nobody writes 0.30000001192092896.
            return repr(float(f"{value:.6g}"))
        if type(value) in _PLAIN:
            return repr(value)
        raise UnrenderableError(f"no literal for {type(value).__name__}: {value!r:.60}")

    def _placeholder(self, tensor: Tensor) -> str:
        dtype = str(tensor.dtype).removeprefix("torch.")
        if tensor.layout != torch.strided or dtype not in DTYPES:
            raise UnrenderableError(f"a {tensor.layout} tensor of {dtype}: expected a dense one")
        self.tensors.append(tensor)
        return f"{{{len(self.tensors) - 1}}}"

    def _sequence(self, values: Sequence[Any]) -> str:
        inner = ", ".join(self._value(value) for value in values)
        if isinstance(values, tuple):
            return f"({inner},)" if len(values) == 1 else f"({inner})"
        return f"[{inner}]"


def attempt(action: Callable[[], Result]) -> Result | Exception:
    """Do *action*, or return what it raises: the fault of an operator is data to its miner.

    This is the mine stage's only broad `except`; what an operator's code raises is anyone's guess.
    """
    try:
        return action()
    except Exception as error:
        return error


def one_line(error: Exception) -> str:
    """Type and message of *error* in at most 300 characters."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]


class Runnable:
    """The compiled expressions of one operator. To compile executes nothing of it."""

    def __init__(self, operator: Operator) -> None:
        self._source = compile(operator.source_code, f"<source of {operator.name}>", "exec")
        self._init = compile(operator.init or "None", f"<init of {operator.name}>", "eval")
        names = [f"x{index}" for index in range(len(operator.inputs))]
        text = operator.call.format(*names, m="m")
        self._call = compile(text, f"<call of {operator.name}>", "eval")

    def build(self, seed: int = 0) -> nn.Module | None:
        """Construct the module from *seed*; None for a function.

        Raises:
            TypeError: What `init` gives is no module.
        """
        torch.default_generator.manual_seed(seed)
        built = eval(self._init, dict(self._names))  # noqa: S307 -- in a child only
        if not isinstance(built, nn.Module | None):
            raise TypeError(f"init gives {type(built).__name__}: expected torch.nn.Module")
        return built

    def run(self, tensors: Sequence[Tensor], module: nn.Module | None, seed: int = 0) -> Any:
        """Evaluate the call on *tensors*, random numbers drawn from *seed*."""
        names = {f"x{index}": tensor for index, tensor in enumerate(tensors)}
        torch.default_generator.manual_seed(seed)
        with torch.no_grad():
            return eval(self._call, {**self._names, **names, "m": module})  # noqa: S307 -- as above

    @cached_property
    def _names(self) -> dict[str, Any]:
        names: dict[str, Any] = dict(NAMESPACE)
        exec(self._source, names)  # noqa: S102 -- in a child only
        return names


def malformed(operator: Operator) -> str | None:
    """Say what is wrong with the record of *operator*, or None."""
    if not operator.name.strip():
        return "the name is empty: expected one as a person writes it, `F.gelu`"
    if operator.family not in FAMILIES:
        return f"family '{operator.family}' is unknown: expected one of {', '.join(FAMILIES)}"
    strange = [spec.dtype for spec in operator.inputs if spec.dtype not in DTYPES]
    if strange:
        return f"dtype '{strange[0]}' is unsupported: expected one of {', '.join(DTYPES)}"
    try:
        fields = {name for _, name, _, _ in string.Formatter().parse(operator.call) if name}
        Runnable(operator)
    except (SyntaxError, ValueError, LookupError) as error:
        return f"source code, call '{operator.call}' or init '{operator.init}': {error}"
    return _mismatch(operator, fields)


def _mismatch(operator: Operator, fields: AbstractSet[str]) -> str | None:
    """Say where the kind of *operator* and the placeholders *fields* of its call disagree."""
    if (operator.kind == "source_module") != bool(operator.source_code):
        return f"a {operator.kind}: expected source code exactly for a source_module"
    expected = {str(index) for index in range(len(operator.inputs))}
    if operator.kind != "function":
        expected.add("m")
    if fields != expected or (operator.kind == "function") == bool(operator.init):
        return (
            f"a {operator.kind} with {len(operator.inputs)} inputs, call '{operator.call}' and "
            f"init '{operator.init}': expected placeholders {sorted(expected)}, and an init "
            "exactly for a module"
        )
    return None
