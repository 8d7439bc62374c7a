"""The graph of values of one problem: operators, and what each is computed from."""

from collections.abc import Sequence
from dataclasses import dataclass

import xxhash

from fusewright.identity.flow.values import Value, tensors
from fusewright.identity.unifying import COMMUTATIVE

LEAF = "$"
WEIGHT, NUMBER = f"{LEAF}weight", f"{LEAF}number"
"""Labels of what nothing computes begin so: inputs, by their places, weights and numbers."""
_LEVELS = 3
"""How far the pieces of a graph reach: an operator, with its operands, with theirs."""
_LOW = 0xFFFFFFFF


@dataclass(frozen=True)
class Flow:
    """The graph of one problem, hashed."""

    digest: int
    """64 bits, equal for graphs that compute the same by the same operators; 0 for none."""
    pieces: frozenset[int]
    """32-bit hashes of the operators, each with what it is computed from, up to three deep."""
    operators: tuple[str, ...]
    """Unified names of the operators that reach the result, sorted, with repeats."""


class Graph:
    """Values by their digests: what is computed twice alike is one value."""

    def __init__(self) -> None:
        self.nodes: dict[int, tuple[str, tuple[int, ...]]] = {}

    def add(self, label: str, operands: Sequence[int]) -> int:
        """Return the value of operator *label* on *operands*."""
        ordered = tuple(sorted(operands) if label in COMMUTATIVE else operands)
        value = _digest(f"{label}({','.join(map(str, ordered))})")
        self.nodes[value] = (label, ordered)
        return value

    def is_weight(self, value: int) -> bool:
        """Tell whether *value* is a parameter or a buffer, as it was made."""
        return self.nodes[value][0] == WEIGHT

    def flow(self, result: Value) -> Flow:
        """Hash what *result* is computed from."""
        results = list(tensors(result))
        computed = [value for value in self._reached(results) if not self._is_leaf(value)]
        if not computed:
            return Flow(0, frozenset(), ())
        return Flow(
            _digest(",".join(map(str, results))),
            self._pieces(computed),
            tuple(sorted(self.nodes[value][0] for value in computed)),
        )

    def _pieces(self, values: Sequence[int]) -> frozenset[int]:
        """Hash each operator with its operands in any order; one input is like another."""
        plain = {v: _digest(label.rstrip("0123456789") if label.startswith(LEAF) else label)
                 for v, (label, _) in self.nodes.items()}  # fmt: skip
        level, found = plain, set[int]()
        for _ in range(_LEVELS):
            found.update(level[value] & _LOW for value in values)
            level = {
                value: _digest(f"{plain[value]}({sorted(level[o] for o in operands)})")
                if operands
                else plain[value]
                for value, (_, operands) in self.nodes.items()
            }
        return frozenset(found)

    def _reached(self, results: Sequence[int]) -> list[int]:
        reached = list(dict.fromkeys(results))
        known = set(reached)
        for value in reached:
            fresh = [o for o in dict.fromkeys(self.nodes[value][1]) if o not in known]
            known.update(fresh)
            reached += fresh
        return reached

    def _is_leaf(self, value: int) -> bool:
        return self.nodes[value][0].startswith(LEAF)


def _digest(text: str) -> int:
    return xxhash.xxh3_64_intdigest(text.encode())
