"""Try one class alone: on the meta device as its configuration has it, then small on the CPU."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from fusewright.operators.expression import Runnable, attempt, one_line
from fusewright.operators.sampled import fate
from fusewright.operators.selftest import self_test
from fusewright.operators.transformers.guess import guesses
from fusewright.operators.transformers.kinship import Kin, kin
from fusewright.operators.transformers.sizes import required, shrunk, small
from fusewright.operators.transformers.unfit import UnfitError
from fusewright.records import Operator

_FACTORS = (16, 64, 8, 2)
_MOST_PARAMETERS = 200_000
_UNWANTED = {"nondeterministic", "mutates_input", "data_dependent", "view"}


@dataclass(frozen=True)
class Excerpt:
    """A class as text that stands alone, not yet run."""

    name: str
    """Name of the operator, `transformers.llama.LlamaMLP`."""
    module: str
    """Dotted name of the module that it was taken from."""
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
    kin: Kin


def trial(excerpt: Excerpt, version: str) -> Tried:
    """Run *excerpt*, and return it with a sample on which it is sound. Call it in a child.

    Raises:
        UnfitError: It cannot be built, on the meta device or small, or no guess at its input runs.
    """
    others = _other_arguments(excerpt)
    _build_on_meta(excerpt, others, version)
    fault = "no size makes a module"
    for sizes in _sizes(excerpt.defaults):
        init = _init(excerpt, others | sizes)
        blank = _operator(excerpt, init, version)
        module = attempt(Runnable(blank).build)
        if isinstance(module, Exception) or module is None:
            fault = one_line(module) if isinstance(module, Exception) else fault
            continue
        if sum(parameter.numel() for parameter in module.parameters()) > _MOST_PARAMETERS:
            fault = "the smallest module is large"
            continue
        for guess in guesses(module, _head_dim(module, sizes)):
            operator = blank.model_copy(update={"call": guess.call, "inputs": guess.inputs})
            found = fate(operator)
            if found != "fine":
                fault = f"no guess at its input runs: {found}"
                continue
            tested = self_test(operator)
            if isinstance(tested, Operator) and _UNWANTED.isdisjoint(tested.flags):
                related = kin(operator)
                family = operator.model_copy(update={"family": related.family})
                return Tried(family, related)
            fault = str(tested.flags if isinstance(tested, Operator) else tested.detail)
    raise UnfitError(fault)


def _sizes(defaults: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    yield {name: small(name, value) for name, value in defaults.items()}
    for factor in _FACTORS:
        tame = {n: small(n, v) if isinstance(v, float) else v for n, v in defaults.items()}
        yield {name: shrunk(value, factor) for name, value in tame.items()}


def _build_on_meta(excerpt: Excerpt, others: Mapping[str, Any], version: str) -> None:
    runnable = Runnable(_operator(excerpt, _init(excerpt, others), version))
    with torch.device("meta"):
        built = attempt(runnable.build)
    if isinstance(built, Exception):
        raise UnfitError(f"on the meta device: {one_line(built)}")


def _other_arguments(excerpt: Excerpt) -> dict[str, Any]:
    """Values for the constructor's arguments that have none."""
    found: dict[str, Any] = {}
    classes = {n.name: n for n in ast.parse(excerpt.source_code).body if isinstance(n, ast.ClassDef)}
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


def _head_dim(module: torch.nn.Module, sizes: Mapping[str, Any]) -> int | None:
    found = getattr(module, "head_dim", None) or sizes.get("head_dim")
    return found if isinstance(found, int) else None
