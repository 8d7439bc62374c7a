"""Find operators that do nothing: leave each out, or give it another draw's value, and look.

Every tensor of two draws is kept, and only what follows a change is run again, so that the whole
costs a few forwards. What cannot be traced symbolically is not judged.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import fx

from fusewright.measure.candidate import SEED_OTHER_INPUTS, Candidate, fresh
from fusewright.measure.checks import UNMOVED, Finding, moved_for_certain
from fusewright.measure.trace import GLUE, name_of

VIEWS = frozenset({"transpose", "flatten", "reshape", "view", "permute", "unsqueeze", "squeeze"})
"""Calls that move nothing: they have no effect to look for."""


def dead(candidate: Candidate) -> Finding | None:
    """`dead_operator`: an operand could stand in for its result, or its value does not show."""
    try:
        traced = fx.symbolic_trace(candidate.model)
    # Symbolic tracing runs the candidate on proxies, and may meet anything.
    except Exception:
        return None
    first = Run.of(traced, candidate.inputs)
    second = Run.of(traced, candidate.draw(SEED_OTHER_INPUTS))
    for node in _judged(traced, first):
        for what, value in _stand_ins(node, first, second):
            share = moved_for_certain([first.output], [first.again(node, value)],
                                      candidate.tolerance)  # fmt: skip
            if share < UNMOVED:
                detail = f"{what} in place of {name_of(traced, node)} moves {share:.2%} of it"
                return Finding("dead_operator", detail, share, UNMOVED)
    return None


@dataclass
class Run:
    """One forward with every value kept."""

    traced: fx.GraphModule
    values: dict[fx.Node, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, traced: fx.GraphModule, inputs: list[Any]) -> "Run":
        """Run *traced* on copies of *inputs*."""
        run, given = cls(traced), iter(fresh(inputs))
        for node in traced.graph.nodes:
            run.values[node] = next(given) if node.op == "placeholder" else run._call(node, {})
        return run

    @property
    def output(self) -> torch.Tensor:
        """What forward returns."""
        return self._tensor(self.values)

    def again(self, changed: fx.Node, value: Any) -> torch.Tensor:
        """What forward returns when *changed* gives *value*."""
        anew: dict[fx.Node, Any] = {changed: value}
        for node in self.traced.graph.nodes:
            if node is not changed and any(n in anew for n in node.all_input_nodes):
                anew[node] = self._call(node, anew)
        return self._tensor({**self.values, **anew})

    def _call(self, node: fx.Node, anew: dict[fx.Node, Any]) -> Any:
        values = {**self.values, **anew}
        args = fx.node.map_arg(node.args, values.__getitem__)
        kwargs = fx.node.map_arg(node.kwargs, values.__getitem__)
        return getattr(fx.Interpreter(self.traced), node.op)(node.target, args, kwargs)

    def _tensor(self, values: dict[fx.Node, Any]) -> torch.Tensor:
        last = next(reversed(self.traced.graph.nodes))
        found = values[last]
        return found if isinstance(found, torch.Tensor) else found[0]


def _judged(traced: fx.GraphModule, run: Run) -> Iterator[fx.Node]:
    for node in traced.graph.nodes:
        value, plain = run.values[node], name_of(traced, node).rpartition(".")[2]
        real = isinstance(value, torch.Tensor) and value.is_floating_point()
        if real and plain and plain not in GLUE | VIEWS:
            yield node


def _stand_ins(node: fx.Node, first: Run, second: Run) -> Iterator[tuple[str, torch.Tensor]]:
    """What takes the place of *node*: operands of its shape, and its value of the other draw."""
    value = first.values[node]
    for operand in node.all_input_nodes:
        given = first.values[operand]
        same = isinstance(given, torch.Tensor) and given.shape == value.shape
        if same and given.dtype == value.dtype:
            yield "its operand", given
    yield "its value for other inputs", second.values[node]
