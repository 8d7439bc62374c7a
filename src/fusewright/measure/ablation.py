"""`dead_operator`: take each operator of forward out, or give it another input's value.

Operators are the calls of PyTorch that forward makes, at the level at which a text makes them: what
`F.softmax` calls in turn is no operator of its own. Forward runs anew for each, which costs less
than tracing it does.
"""

import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map_only

from fusewright.dispatch import size_bytes, tensors_in
from fusewright.measure import checks
from fusewright.measure.candidate import Candidate, fresh, outputs_of
from fusewright.measure.checks import UNMOVED, Finding


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


LARGEST_KEPT_BYTES = 4 * 2**30
"""Values of another input's operators that are kept at once; later ones are not exchanged."""
MOST_OPERATORS = 64
"""Operators that are taken out; what calls more is a loop, of which the first rounds tell."""
SMALL_TERM = 1e-3
"""A number up to this that is added, or clamped to, keeps a divisor from zero: no operator."""
_MOVES = _words(
    "contiguous view view_as reshape reshape_as expand expand_as clone detach to type type_as "
    "float double half bfloat16 flatten unflatten squeeze unsqueeze permute transpose t movedim "
    "moveaxis swapaxes swapdims narrow select chunk split tensor_split unbind unfold dropout "
    "alpha_dropout feature_dropout dropout1d dropout2d dropout3d getitem setitem get set "
    "broadcast_to size dim numel is_floating_point requires_grad"
)
"""Names of what changes no value of a tensor, in eval mode, or only picks some."""
_GUARDS = _words("abs relu clamp clamp_min square")
_GUARDED = _words("sqrt rsqrt log log1p log2 log10 pow reciprocal div true_divide truediv")
"""What the first keep the arguments of the second in their domain, and may do nothing more."""
_ASKED = _words("bool item int float tolist")
"""What takes a number out of a tensor: which way forward takes may hang on it."""
_TERMS = _words("add radd iadd clamp clamp_min maximum")


@dataclass
class Call:
    """One operator of forward, as it ran once."""

    name: str
    values: list[torch.Tensor]
    """What it returned; empty where that was too much to keep."""
    stand_in: int | None
    """Index among its tensors of the first that has the form of what it returned."""
    is_guard: bool = False
    is_single: bool = False
    """Whether it returned one element."""


def dead_operator(candidate: Candidate, others: Sequence[Any]) -> Finding | None:
    """Find the first operator without which the output is the same.

    Args:
        candidate: What is examined.
        others: Other inputs, of the same shapes.

    Returns:
        `dead_operator` where under 1 % of the output moves when the operator hands on a tensor that
        it was given, or what it computes from *others*.
    """
    base, calls = _recorded(candidate, candidate.inputs)
    exchanged = _recorded(candidate, others)[1]
    # Where what forward does depends on its inputs, nothing can be exchanged.
    alike = [call.name for call in calls] == [call.name for call in exchanged]
    for index, call in enumerate(calls[:MOST_OPERATORS]):
        values = exchanged[index].values if alike else []
        for replace in () if call.is_guard else _replacements(call, values):
            share = _moved(candidate, base, index, replace)
            if share < UNMOVED:
                detail = f"without operator {index} ({call.name}) {share:.2%} of the output moves"
                return Finding("dead_operator", detail, share, UNMOVED)
        call.values.clear()
        values.clear()
    return None


_Replace = Callable[[list[torch.Tensor]], list[torch.Tensor]]


def _replacements(call: Call, others: list[torch.Tensor]) -> Iterator[_Replace]:
    """What may stand in for the tensors that *call* returns, given those that it takes."""
    if (place := call.stand_in) is not None:
        yield lambda given: [given[place]]
    pairs = list(zip(call.values, others, strict=False))
    # A value that no input changes cannot be exchanged: its parameters are redrawn elsewhere.
    if pairs and not all(torch.equal(a, b) for a, b in pairs):
        yield lambda _: [other.clone() for other in others]


def _moved(candidate: Candidate, base: list[torch.Tensor], index: int, replace: _Replace) -> float:
    with _Replacing(index, replace):
        changed = outputs_of(candidate.model(*fresh(candidate.inputs)))
    return checks.moved_for_certain(base, changed, candidate.tolerance)


def _recorded(candidate: Candidate, inputs: Sequence[Any]) -> tuple[list[torch.Tensor], list[Call]]:
    with _Recording() as recording:
        outputs = outputs_of(candidate.model(*fresh(inputs)))
    if recording.is_asking:
        for call in recording.calls:
            # A single number may only be there to be asked for.
            call.is_guard |= call.is_single
    return outputs, recording.calls


class _Operators(TorchFunctionMode):
    """Watches the operators of forward as they run."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name, given = str(func.__name__).strip("_"), list(tensors_in([args, kwargs]))
        if not given or (name in _MOVES and func.__name__ != "__float__"):
            return func(*args, **kwargs)
        return self.operator(_Step(name, func, args, kwargs, given))

    def operator(self, step: "_Step") -> Any:
        raise NotImplementedError


@dataclass
class _Step:
    """A call that is about to be made."""

    name: str
    func: Any
    args: Any
    kwargs: Any
    given: list[torch.Tensor]

    def run(self) -> Any:
        return self.func(*self.args, **self.kwargs)

    def is_term(self) -> bool:
        """Tell whether a small number is added, or clamped to."""
        numbers = [v for v in [*self.args, *self.kwargs.values()] if isinstance(v, float)]
        return self.name in _TERMS and any(0 < abs(number) <= SMALL_TERM for number in numbers)


class _Recording(_Operators):
    """Keeps what each operator was, and what it returned."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[Call] = []
        self.guards: list[tuple[weakref.ref[torch.Tensor], Call]] = []
        self.kept_bytes = 0
        self.is_asking = False

    def operator(self, step: _Step) -> Any:
        result = step.run()
        returned = list(tensors_in(result))
        if not returned:
            self.is_asking |= step.name in _ASKED
            return result
        makers = [call for made, call in self.guards if any(made() is t for t in step.given)]
        call = Call(step.name, self._kept(returned), _stand_in(step.given, returned))
        call.is_guard = step.is_term()
        call.is_single = all(tensor.numel() == 1 for tensor in returned)
        if step.name in _GUARDED:
            for maker in makers:
                maker.is_guard = True
        # A guard may have its small term before what it guards.
        guarding = [call] if step.name in _GUARDS else makers if call.is_guard else []
        self.guards += [(weakref.ref(returned[0]), maker) for maker in guarding]
        self.calls.append(call)
        return result

    def _kept(self, values: list[torch.Tensor]) -> list[torch.Tensor]:
        self.kept_bytes += sum(map(size_bytes, values))
        is_many = self.kept_bytes > LARGEST_KEPT_BYTES or len(self.calls) >= MOST_OPERATORS
        return [] if is_many else [value.clone() for value in values]


class _Replacing(_Operators):
    """Runs forward with one operator replaced."""

    def __init__(self, index: int, replace: _Replace) -> None:
        super().__init__()
        self.index = index
        self.replace = replace
        self.seen = 0

    def operator(self, step: _Step) -> Any:
        is_it = self.seen == self.index
        # What it writes in place is lost once it ran.
        given = [tensor.clone() for tensor in step.given] if is_it else []
        result = step.run()
        returned = list(tensors_in(result))
        self.seen += bool(returned)
        if not (is_it and returned):
            return result
        values = iter(self.replace(given))
        in_place = any(returned[0] is tensor for tensor in step.given)
        return (
            returned[0].copy_(next(values))
            if in_place
            else tree_map_only(torch.Tensor, lambda _: next(values), result)
        )


def _stand_in(given: Sequence[torch.Tensor], returned: Sequence[torch.Tensor]) -> int | None:
    form = [(t.shape, t.dtype) for t in returned]
    return next((i for i, t in enumerate(given) if [(t.shape, t.dtype)] == form), None)
