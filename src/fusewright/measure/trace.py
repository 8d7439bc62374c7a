"""Which operators a forward really runs, as a graph of catalogue names.

Symbolic tracing sees modules of `torch.nn` whole. Where Python's control flow defeats it, the calls
of one real run are recorded instead, which names the functions inside those modules.
"""

import operator
from collections.abc import Callable, Sequence
from typing import Any, cast

import torch
from torch import fx, nn
from torch.overrides import TorchFunctionMode

Graph = list[tuple[str, list[int]]]
"""Operator and, for each tensor it takes, the index of its producer; -1-k is the k-th input."""

GLUE = frozenset(
    {"getitem", "getattr", "size", "dim", "numel", "shape", "stride", "len", "item", "__get__"}
    | {"contiguous", "clone", "detach", "to", "float", "type_as"}
    | {"is_floating_point", "is_contiguous"}
)
"""Calls that compute nothing a kernel writer would write."""
INFIX = {
    "add": "torch.add", "iadd": "torch.add", "radd": "torch.add",
    "sub": "torch.sub", "isub": "torch.sub", "rsub": "torch.sub",
    "mul": "torch.mul", "imul": "torch.mul", "rmul": "torch.mul",
    "truediv": "torch.div", "itruediv": "torch.div", "rtruediv": "torch.div", "rdiv": "torch.div",
    "matmul": "torch.matmul", "rmatmul": "torch.matmul", "pow": "torch.pow", "rpow": "torch.pow",
    "neg": "torch.neg", "abs": "torch.abs", "gt": "torch.gt", "lt": "torch.lt", "ge": "torch.ge",
    "le": "torch.le", "eq": "torch.eq", "ne": "torch.ne", "and_": "torch.logical_and",
    "floordiv": "torch.floor_divide", "mod": "torch.remainder", "invert": "torch.logical_not",
}  # fmt: skip
"""Python operators and the functions that name them."""


def trace(model: nn.Module, inputs: Sequence[Any]) -> Graph:
    """Name the operators that `model(*inputs)` runs, in order of execution."""
    # Symbolic tracing runs the candidate on proxies, and whatever that raises only means that it
    # cannot be traced so.
    try:
        traced = fx.symbolic_trace(model)
    except Exception:
        return _record(model, inputs)
    return _flatten(traced)


def _flatten(traced: fx.GraphModule) -> Graph:
    graph: Graph = []
    producers: dict[fx.Node, int] = {}
    placeholders = 0
    for node in traced.graph.nodes:
        if node.op == "placeholder":
            placeholders += 1
            producers[node] = -placeholders
        elif node.op in ("call_function", "call_method", "call_module"):
            inputs = [producers[n] for n in node.all_input_nodes if n in producers]
            name = name_of(traced, node)
            if name.rpartition(".")[2] not in GLUE:
                graph.append((name, inputs))
                producers[node] = len(graph) - 1
            elif inputs:
                producers[node] = inputs[0]
    return graph


def name_of(traced: fx.GraphModule, node: fx.Node) -> str:
    """Catalogue name of what *node* calls; empty where it calls nothing."""
    if not node.op.startswith("call_"):
        return ""
    if node.op == "call_module":
        return f"nn.{type(traced.get_submodule(cast('str', node.target))).__name__}"
    if node.op == "call_method":
        return _method_name(cast("str", node.target))
    return function_name(cast("Callable[..., Any]", node.target))


def function_name(function: Callable[..., Any]) -> str:
    """Catalogue name of a function, by identity first and by its own name otherwise."""
    known = _functions().get(function)
    if known:
        return known
    name = getattr(function, "__name__", str(function))
    if getattr(operator, name, None) is function:
        return INFIX.get(name, name)
    return _method_name(name)


def _method_name(name: str) -> str:
    bare = name.strip("_") if name.startswith("__") else name.rstrip("_")
    if bare in GLUE:
        return bare
    if name.startswith("__") and bare in INFIX:
        return INFIX[bare]
    return f"torch.{bare}" if hasattr(torch, bare) else f"torch.Tensor.{bare}"


_FUNCTIONS: dict[Callable[..., Any], str] = {}


def _functions() -> dict[Callable[..., Any], str]:
    if not _FUNCTIONS:
        # An object with two homes (`F.conv2d is torch.conv2d`) is called by the first.
        for prefix, namespace in (
            ("F", nn.functional),
            ("torch", torch),
            ("torch.linalg", torch.linalg),
            ("torch.special", torch.special),
        ):
            for name in dir(namespace):
                member = getattr(namespace, name)
                if callable(member) and not name.startswith("_") and not isinstance(member, type):
                    _FUNCTIONS.setdefault(member, f"{prefix}.{name}")
    return _FUNCTIONS


def _record(model: nn.Module, inputs: Sequence[Any]) -> Graph:
    recorder = _Recorder(inputs)
    with recorder:
        model(*inputs)
    return recorder.graph


class _Recorder(TorchFunctionMode):
    """Append every outermost call of a torch function to a graph."""

    def __init__(self, inputs: Sequence[Any]) -> None:
        super().__init__()
        self.graph: Graph = []
        self._producers = {id(value): -1 - index for index, value in enumerate(inputs)}
        self._alive: list[Any] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        with torch._C.DisableTorchFunction():  # noqa: SLF001
            result = func(*args, **kwargs)
        operands = [
            self._producers[id(value)]
            for value in _flat((*args, *kwargs.values()))
            if id(value) in self._producers
        ]
        results = [value for value in _flat((result,)) if isinstance(value, torch.Tensor)]
        if not operands or not results:
            return result
        name = function_name(func)
        if name.rpartition(".")[2] in GLUE:
            producer = operands[0]
        else:
            self.graph.append((name, operands))
            producer = len(self.graph) - 1
        for value in results:
            self._producers[id(value)] = producer
        # Identities name producers, so nothing recorded may be freed and its identity reused.
        self._alive += results
        return result


def _flat(values: Sequence[Any]) -> list[Any]:
    flat: list[Any] = []
    for value in values:
        flat += _flat(value) if isinstance(value, list | tuple) else [value]
    return flat
