"""Copies of what was kept before: the same text under other names, or nearly the same text."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from datasketch import MinHashLSH

from fusewright.filters.minhash import PERMUTATIONS, Signature, minhash, packed, similarity
from fusewright.filters.unreadable import SYNTAX_ERROR, readable
from fusewright.identity import canonical, flow, literals, operator_names, shingles, text_hash
from fusewright.protocols import Facts
from fusewright.records import Problem, Rejection

_SLACK = 0.2
"""The index is built this far under the limit: at its own threshold it misses half the pairs."""

_CONFIRMED = 8
"""Nearest by signature of which the exact similarity is taken, whatever their operators."""


@dataclass(frozen=True)
class ExactDuplicate:
    """Rejects a problem that one remembered equals, by its canonical text or by its graph.

    Graphs are equal where the same operators are computed from the same values, however they are
    spelled and ordered; as sizes and settings are no part of a graph, the numbers and words of the
    text must be the same too.
    """

    name: ClassVar[str] = "exact_duplicate"
    reasons: ClassVar[tuple[str, ...]] = (SYNTAX_ERROR, "exact_duplicate")
    seen: dict[str, str] = field(default_factory=dict, init=False, repr=False, compare=False)

    @readable
    def judge(self, problem: Problem) -> Rejection | Facts | None:
        """Keep a problem that nothing remembered equals; remember nothing."""
        for key, how in _keys(problem.code).items():
            if twin := self.seen.get(key):
                return Rejection.of(problem, "screen", "exact_duplicate", how.format(twin=twin))
        return None

    def remember(self, problem: Problem) -> None:
        """Take *problem* into memory, unless an equal one is there."""
        for key in _keys(problem.code):
            self.seen.setdefault(key, problem.id)


def _keys(code: str) -> dict[str, str]:
    """What a text is known by, and what it says of the text that has the same."""
    keys = {text_hash(canonical(code)): "equals {twin} but for names, formatting and comments"}
    if graph := flow(code).digest:
        said = "computes what {twin} computes, by the same operators and numbers"
        keys[f"{graph:x} {text_hash(' '.join(literals(code)))}"] = said
    return keys


@dataclass(frozen=True)
class NearDuplicate:
    """Rejects a problem that shares *limit* of its shingles, and its operators, with another.

    Candidates come from a MinHash index, and each is confirmed by its exact Jaccard similarity.
    """

    limit: float = 0.8
    name: ClassVar[str] = "near_duplicate"
    reasons: ClassVar[tuple[str, ...]] = (SYNTAX_ERROR, "near_duplicate")
    memory: "_Memory" = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the setting and build the index.

        Raises:
            ValueError: The limit is no share.
        """
        if not 0 < self.limit <= 1:
            raise ValueError(f"limit {self.limit} is no share; expected 0 < limit <= 1")
        object.__setattr__(self, "memory", _Memory(max(self.limit - _SLACK, _SLACK)))

    @readable
    def judge(self, problem: Problem) -> Rejection | Facts | None:
        """Keep a problem that nothing remembered resembles, with its nearest; remember nothing."""
        operators = frozenset(operator_names(problem.code))
        ranked = self.memory.nearest(shingles(problem.code), operators)
        for value, row in ranked:
            if value >= self.limit and self.memory.operators[row] == operators:
                return self._reject(problem, self.memory.ids[row], value)
        if not ranked:
            return {"nearest_row": None, "row_similarity": None}
        value, row = ranked[0]
        return {"nearest_row": self.memory.ids[row], "row_similarity": value}

    def remember(self, problem: Problem) -> None:
        """Take *problem* into memory; a text without classes has nothing to remember."""
        if pieces := shingles(problem.code):
            self.memory.add(problem.id, pieces, frozenset(operator_names(problem.code)))

    def _reject(self, problem: Problem, row_id: str, value: float) -> Rejection:
        detail = f"similarity {value:.3f} to {row_id} is {self.limit:g} or more, with its operators"
        limit = self.limit
        return Rejection.of(problem, "screen", "near_duplicate", detail, value=value, limit=limit)


class _Memory:
    """Rows that were kept: id, operators, shingles and signature of each, and the index."""

    def __init__(self, threshold: float) -> None:
        self.threshold = threshold
        self.index = MinHashLSH(threshold, PERMUTATIONS)
        self.known = set[str]()
        self.ids: list[str] = []
        self.operators: list[frozenset[str]] = []
        self.shingles: list[Signature] = []
        self.signatures = np.zeros((256, PERMUTATIONS), dtype=np.uint32)

    def add(self, row_id: str, pieces: frozenset[int], operators: frozenset[str]) -> None:
        """Append a row, or leave the one that has the id."""
        if row_id in self.known:
            return
        self.known.add(row_id)
        row, sketch = len(self.ids), minhash(pieces)
        if row == len(self.signatures):
            self.signatures = np.concatenate([self.signatures, np.zeros_like(self.signatures)])
        self.index.insert(row, sketch)
        self.signatures[row] = sketch.hashvalues
        self.ids.append(row_id)
        self.operators.append(operators)
        self.shingles.append(packed(pieces))

    def nearest(self, pieces: frozenset[int], operators: frozenset[str]) -> list[tuple[float, int]]:
        """Exact similarities and rows, nearest first: of the same operators, or near by signature.

        A set may share a band with thousands of rows, far too many to compare exactly.
        """
        if not pieces:
            return []
        sketch = minhash(pieces)
        found = sorted(self.index.query(sketch))
        shares = (self.signatures[found] == sketch.hashvalues).mean(axis=1)
        near = {found[place] for place in np.argsort(-shares, kind="stable")[:_CONFIRMED]}
        close = (row for row, share in zip(found, shares, strict=True) if share >= self.threshold)
        alike = {row for row in close if self.operators[row] == operators}
        own = packed(pieces)
        ranked = [(similarity(own, self.shingles[row]), row) for row in near | alike]
        return sorted(ranked, key=lambda pair: (-pair[0], pair[1]))
