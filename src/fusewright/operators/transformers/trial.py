"""Try one class alone: on the meta device as its configuration has it, then small on the CPU."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from fusewright.operators.expression import Runnable, attempt, one_line
from fusewright.operators.sampled import fate
from fusewright.operators.selftest import self_test
from fusewright.operators.transformers.guess import guesses
from fusewright.operators.transformers.kinship import family, value_key
from fusewright.operators.transformers.sizes import required, shrunk, small
from fusewright.operators.transformers.unfit import UnfitError
from fusewright.records import Operator, TensorSpec

_FACTORS = (16, 64)
_MOST_PARAMETERS = 200_000
_UNWANTED = {"nondeterministic", "mutates_input", "data_dependent", "view"}


@dataclass(frozen=True)
class Excerpt:
    """A class as text that stands alone, not yet run."""

    name: str
    """Name of the operator, `transformers.llama.LlamaMLP`."""
    source_code: str
    defaults: Mapping[str, Any]
    """Arguments that stand for the configuration, with their values."""

    @property
    def class_name(self) -> str:
        """What the text calls it."""
        return self.name.rpartition(".")[2]


@dataclass(frozen=True)
class Tried:
    """An excerpt that runs, as an operator."""

    operator: Operator
    keys: tuple[str, ...]
    """Equal for another spelling of the same: the traced signature, and the values."""


def prepare() -> None:
    """Load what the first trial would, so that each forked process has it."""
    self_test(
        Operator(
            name="torch.relu",
            family="elementwise",
            kind="function",
            source="",
            call="torch.relu({0})",
            inputs=(TensorSpec(shape=(2, 3)),),
            version="",
        )
    )


def trial(excerpt: Excerpt, version: str) -> Tried:
    """Run *excerpt*, and return it with a sample on which it is sound. Call it in a child.

    Raises:
        UnfitError: It cannot be built, on the meta device or small, or no guess at its input runs.
    """
    others = _other_arguments(excerpt)
    _build_on_meta(_operator(excerpt, _init(excerpt, others), version))
    faults: list[str] = []
    for sizes in _sizes(excerpt.defaults):
        blank = _operator(excerpt, _init(excerpt, others | sizes), version)
        try:
            return _with_sample(blank, sizes)
        except UnfitError as error:
            faults.append(str(error))
    raise UnfitError(faults[0])


def _with_sample(blank: Operator, sizes: Mapping[str, Any]) -> Tried:
    """Give *blank* the first guess at its input on which it is sound."""
    # Counted on the meta device first: a large module would be slow, or take all memory.
    count = sum(parameter.numel() for parameter in _build_on_meta(blank).parameters())
    if count > _MOST_PARAMETERS:
        raise UnfitError(f"{count} parameters in a small sample")
    module = attempt(Runnable(blank).build)
    if isinstance(module, Exception) or module is None:
        raise UnfitError(f"in a small sample: {module}")
    fault = "no guess at its input runs"
    for guess in guesses(module, _head_dim(module, sizes)):
        operator = blank.model_copy(update={"call": guess.call, "inputs": guess.inputs})
        found = fate(operator)
        if found != "fine":
            # A guess that runs says more of the class than one that does not.
            fault = fault if found == "raises" else f"on a guessed input: {found}"
            continue
        tested = self_test(operator)
        if isinstance(tested, Operator) and _UNWANTED.isdisjoint(tested.flags):
            sound = operator.model_copy(update={"family": family(operator)})
            return Tried(sound, (f"calls {tested.signature}", f"values {value_key(operator)}"))
        flags = ", ".join(tested.flags) if isinstance(tested, Operator) else ""
        fault = f"it is {flags}" if isinstance(tested, Operator) else tested.detail
    raise UnfitError(fault)


def _sizes(defaults: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    yield {name: small(name, value) for name, value in defaults.items()}
    for factor in _FACTORS:
        tame = {n: small(n, v) if isinstance(v, float) else v for n, v in defaults.items()}
        yield {name: shrunk(value, factor) for name, value in tame.items()}


def _build_on_meta(operator: Operator) -> nn.Module:
    runnable = Runnable(operator)
    with torch.device("meta"):
        built = attempt(runnable.build)
    if isinstance(built, Exception) or built is None:
        said = one_line(built) if built else "no module"
        raise UnfitError(f"on the meta device: {said}")
    return built


def _other_arguments(excerpt: Excerpt) -> dict[str, Any]:
    """Values for the constructor's arguments that have none."""
    found: dict[str, Any] = {}
    classes = {
        n.name: n for n in ast.parse(excerpt.source_code).body if isinstance(n, ast.ClassDef)
    }
    node: ast.ClassDef | None = classes[excerpt.class_name]
    while node:
        for method in node.body:
            if isinstance(method, ast.FunctionDef) and method.name == "__init__":
                args = method.args
                plain = args.args[1 : len(args.args) - len(args.defaults)]
                keyed = [a for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if not d]
                try:
                    return {arg.arg: required(arg.arg) for arg in (*plain, *keyed)}
                except LookupError as error:
                    raise UnfitError(str(error)) from error
        bases = [base.id for base in node.bases if isinstance(base, ast.Name)]
        node = next((classes[base] for base in bases if base in classes), None)
    return found


def _init(excerpt: Excerpt, arguments: Mapping[str, Any]) -> str:
    words = [f"{name}={value!r}" for name, value in arguments.items()]
    return f"{excerpt.class_name}({', '.join(words)})"


def _operator(excerpt: Excerpt, init: str, version: str) -> Operator:
    return Operator(
        name=excerpt.name,
        family="other",
        kind="source_module",
        source="transformers",
        source_code=excerpt.source_code,
        call="{m}()",
        init=init,
        inputs=(),
        license="Apache-2.0",
        version=version,
    )


def _head_dim(module: nn.Module, sizes: Mapping[str, Any]) -> int | None:
    found = getattr(module, "head_dim", None) or sizes.get("head_dim")
    return found if isinstance(found, int) else None
