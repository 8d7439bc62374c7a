"""Problems that a benchmark holds already, under whatever names and sizes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import polars as pl

from fusewright.filters.fingerprint import SCHEMA, load
from fusewright.filters.minhash import PERMUTATIONS, Signature, packed, signature, similarity
from fusewright.filters.unreadable import SYNTAX_ERROR, readable
from fusewright.identity import class_shingles
from fusewright.protocols import Facts
from fusewright.records import Problem, Rejection

_CONFIRMED = 8
"""Nearest classes by signature of which the exact similarity is taken."""


@dataclass(frozen=True)
class NearBenchmark:
    """Rejects a problem of which a class shares *limit* of its shingles with a benchmark's class.

    Every class is compared with every class of the *benchmarks*, by MinHash signature, and the
    nearest of them exactly. A benchmark is the name of a shipped one, or the path of a file.

    Source: arXiv 2602.24286 turns away a similarity over 0.9, of syntax trees.
    """

    limit: float = 0.9
    benchmarks: Sequence[str] = ("kernelbench",)
    name: ClassVar[str] = "near_benchmark"
    reasons: ClassVar[tuple[str, ...]] = (SYNTAX_ERROR, "near_benchmark")
    table: pl.DataFrame = field(init=False, repr=False, compare=False)
    signatures: Signature = field(init=False, repr=False, compare=False)

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
        signatures = np.array(table["signature"].to_list(), dtype=np.uint32)
        object.__setattr__(self, "table", table)
        object.__setattr__(self, "signatures", signatures.reshape(-1, PERMUTATIONS))

    @readable
    def judge(self, problem: Problem) -> Rejection | Facts | None:
        """Keep a problem that no benchmark holds, with the nearest that one does."""
        value, nearest, name = self._most_similar(problem)
        if nearest is None or value < self.limit:
            return _facts(value, nearest)
        detail = f"class {name} has similarity {value:.3f} to {nearest}, {self.limit:g} or more"
        limit = self.limit
        return Rejection.of(problem, "screen", "near_benchmark", detail, value=value, limit=limit)

    def facts(self, problem: Problem) -> Facts:
        """Name the nearest benchmark problem, whatever the verdict.

        Raises:
            SyntaxError: The text cannot be read.
        """
        value, nearest, _ = self._most_similar(problem)
        return _facts(value, nearest)

    def _most_similar(self, problem: Problem) -> tuple[float, str | None, str]:
        """Similarity, benchmark problem, and the class of *problem* that resembles it."""
        classes = class_shingles(problem.code).items()
        found = [(*self._nearest(pieces), name) for name, pieces in classes if pieces]
        value, row, name = max(found, default=(0.0, -1, ""))
        if row < 0:
            return 0.0, None, name
        return value, f"{self.table['benchmark'][row]}/{self.table['problem'][row]}", name

    def _nearest(self, pieces: frozenset[int]) -> tuple[float, int]:
        """Similarity to the nearest class of a benchmark, and its row; -1 if there is none."""
        shares = (self.signatures == signature(pieces)).mean(axis=1)
        own = packed(pieces)
        rows = np.argsort(-shares, kind="stable")[:_CONFIRMED]
        near = [(similarity(own, self.table["shingles"][int(r)].to_numpy()), -int(r)) for r in rows]
        value, row = max(near, default=(0.0, 1))
        return value, -row


def _facts(value: float, nearest: str | None) -> Facts:
    share = None if nearest is None else value
    return {"nearest_benchmark": nearest, "benchmark_similarity": share}
