"""Problems that a benchmark holds already, under whatever names and sizes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import ClassVar

import numpy as np
import polars as pl

from fusewright.filters.fingerprint import SCHEMA, View, load, views
from fusewright.filters.minhash import PERMUTATIONS, packed, signature, similarity
from fusewright.filters.unreadable import SYNTAX_ERROR, readable
from fusewright.protocols import Facts
from fusewright.records import Problem, Rejection

_CONFIRMED = 8
"""Nearest by signature of which the exact similarity is taken."""

_SAID = {
    "text": "class {cls} has similarity",
    "graph": "its graph of operators has similarity",
    "tree": "its syntax tree, with the same operators, has similarity",
}


@dataclass(frozen=True)
class NearBenchmark:
    """Rejects a problem that shares *limit* of its pieces with a benchmark's, in any view.

    Each class is compared by its shingles with every class of the *benchmarks*, the graph of
    operators with every graph, and the syntax tree with those that have the same operators: by
    MinHash signature, and the nearest exactly. Equal graphs are alike whatever their pieces. A
    benchmark is the name of a shipped one, or the path of a file.

    Source: arXiv 2602.24286 turns away a similarity over 0.9, of syntax trees; the gate by
    operators is ours, as trees alone condemn what computes something else.
    """

    limit: float = 0.9
    benchmarks: Sequence[str] = ("kernelbench",)
    name: ClassVar[str] = "near_benchmark"
    reasons: ClassVar[tuple[str, ...]] = (SYNTAX_ERROR, "near_benchmark")
    table: pl.DataFrame = field(init=False, repr=False, compare=False)
    shelves: dict[str, "_Shelf"] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the settings and load the fingerprints.

        Raises:
            ValueError: The limit is no share, or no benchmark is given.
            ConfigError: A benchmark is not there, or its file is no fingerprint.
        """
        if not 0 < self.limit <= 1:
            raise ValueError(f"limit {self.limit} is no share; expected 0 < limit <= 1")
        if isinstance(self.benchmarks, str):
            given = f"benchmarks '{self.benchmarks}' is one name"
            raise ValueError(f"{given}; expected a list of them")  # noqa: TRY004 -- a wrong setting
        table = pl.concat([SCHEMA.to_frame(), *(load(name) for name in self.benchmarks)])
        shelves = {name: _Shelf(table, name) for name in _SAID}
        object.__setattr__(self, "table", table)
        object.__setattr__(self, "shelves", shelves)

    @readable
    def judge(self, problem: Problem) -> Rejection | Facts | None:
        """Keep a problem that no benchmark holds, with the nearest that one does."""
        value, nearest, view = self._most_similar(problem)
        if nearest is None or view is None or value < self.limit:
            return _facts(value, nearest)
        said = _SAID[view.name].format(cls=view.cls)
        detail = f"{said} {value:.3f} to {nearest}, {self.limit:g} or more"
        limit = self.limit
        return Rejection.of(problem, "screen", "near_benchmark", detail, value=value, limit=limit)

    def facts(self, problem: Problem) -> Facts:
        """Name the nearest benchmark problem, whatever the verdict.

        Raises:
            SyntaxError: The text cannot be read.
        """
        value, nearest, _ = self._most_similar(problem)
        return _facts(value, nearest)

    def _most_similar(self, problem: Problem) -> tuple[float, str | None, View | None]:
        """Similarity, benchmark problem, and the view of *problem* that resembles it."""
        found = [(*self.shelves[v.name].nearest(v), v) for v in views(problem.code)]
        value, row, view = max(found, key=itemgetter(0), default=(0.0, None, None))
        if row is None:
            return 0.0, None, view
        return value, f"{self.table['benchmark'][row]}/{self.table['problem'][row]}", view


class _Shelf:
    """Everything of the benchmarks that is seen in one view."""

    def __init__(self, table: pl.DataFrame, view: str) -> None:
        rows = table.with_row_index("row").filter(pl.col("view") == view)
        signatures = np.array(rows["signature"].to_list(), dtype=np.uint32)
        self.signatures = signatures.reshape(-1, PERMUTATIONS)
        self.rows = rows["row"].to_numpy()
        self.digests = rows["digest"].to_numpy()
        self.operators = rows["operators"].to_numpy()
        self.pieces = [np.array(pieces, dtype=np.uint32) for pieces in rows["pieces"]]

    def nearest(self, view: View) -> tuple[float, int | None]:
        """Similarity to the nearest of the shelf, the first of several, and its row."""
        places = np.arange(len(self.rows))
        if view.name == "tree":
            places = np.flatnonzero(self.operators == view.operators)
        elif view.digest:
            equal = np.flatnonzero(self.digests == view.digest)
            if equal.size:
                return 1.0, int(self.rows[equal[0]])
        shares = (self.signatures[places] == signature(view.pieces)).mean(axis=1)
        likely = places[np.argsort(-shares, kind="stable")[:_CONFIRMED]]
        own = packed(view.pieces)
        near = [(similarity(own, self.pieces[place]), int(self.rows[place])) for place in likely]
        return max(near, key=lambda pair: (pair[0], -pair[1]), default=(0.0, None))


def _facts(value: float, nearest: str | None) -> Facts:
    share = None if nearest is None else value
    return {"nearest_benchmark": nearest, "benchmark_similarity": share}
