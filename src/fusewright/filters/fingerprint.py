"""Fingerprints of benchmarks: hashes alone, so that no benchmark text is shipped or needed."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import polars as pl

from fusewright.errors import ConfigError, UsageError, unknown
from fusewright.filters.minhash import packed, signature
from fusewright.identity import class_shingles, flow, text_hash, tree_pieces

SCHEMA = pl.Schema(
    {
        "benchmark": pl.String(),
        "problem": pl.String(),
        "view": pl.String(),
        "class": pl.String(),
        "revision": pl.String(),
        "license": pl.String(),
        "digest": pl.UInt64(),
        "operators": pl.String(),
        "signature": pl.List(pl.UInt32()),
        "pieces": pl.List(pl.UInt32()),
    }
)
"""One row a view: where it is from, its MinHash signature and its sorted hashes."""


@dataclass(frozen=True)
class View:
    """One way to look at a text: the pieces that two texts are compared by."""

    name: str
    """`text`: shingles of a class; `graph`: operators and what they are computed from; `tree`:
    shapes of subtrees, which say nothing between texts of different operators."""
    cls: str
    pieces: frozenset[int]
    digest: int = 0
    """Of the whole graph; 0 where there is none."""
    operators: str = ""
    """Hash of the operators that reach the result, with repeats; empty where there are none."""


def views(code: str) -> Iterator[View]:
    """Look at *code* in every way; a view without pieces is left out.

    Raises:
        SyntaxError: *code* cannot be read.
    """
    graph = flow(code)
    operators = text_hash(" ".join(graph.operators)) if graph.operators else ""
    found = [View("text", name, pieces) for name, pieces in class_shingles(code).items()]
    found.append(View("graph", "Model", graph.pieces, graph.digest, operators))
    if operators:
        found.append(View("tree", "Model", tree_pieces(code), operators=operators))
    return (view for view in found if view.pieces)


def fingerprint(
    sources: Iterable[tuple[str, str]],
    benchmark: str,
    revision: str,
    license: str,  # noqa: A002
) -> pl.DataFrame:
    """Fingerprint every view of *sources*, pairs of a problem's name and its text.

    Raises:
        UsageError: A text is not Python, or no text holds a class.
    """
    rows = [
        (benchmark, problem, v.name, v.cls, revision, license, v.digest, v.operators,
         signature(v.pieces), packed(v.pieces))
        for problem, code in sources
        for v in _read(problem, code)
    ]  # fmt: skip
    if not rows:
        raise UsageError(f"benchmark '{benchmark}' holds no class; expected problems with a Model")
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def load(name_or_path: str) -> pl.DataFrame:
    """Load fingerprints by the name of a shipped benchmark, or from the file at a path.

    Raises:
        ConfigError: There are none, or the file holds something else.
    """
    there = shipped()
    path = there.get(name_or_path) or Path(name_or_path)
    if not path.is_file():
        if path.suffix != ".parquet":
            hint = "; or give the path of a file that `fusewright benchmark fingerprint` made"
            raise ConfigError(unknown("benchmark", name_or_path, there) + hint)
        raise ConfigError(f"fingerprint file {path} does not exist ({_choices()})")
    try:
        frame = pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise ConfigError(f"{path} is no Parquet file: {_choices()}") from error
    if frame.schema != SCHEMA or frame.is_empty():
        raise ConfigError(f"{path} holds no fingerprints of this version: {_choices()}")
    return frame


def recalls(names_or_paths: Iterable[str]) -> list[dict[str, Any]]:
    """How well copies of each benchmark's problems are found, of those that it was measured of."""
    files = (recall_file(name) for name in names_or_paths)
    return [json.loads(file.read_text()) for file in files if file.is_file()]


def recall_file(name_or_path: str) -> Path:
    """File beside a fingerprint that says how well copies of its problems are found."""
    path = shipped().get(name_or_path) or Path(name_or_path)
    return path.with_suffix(".recall.json")


def shipped() -> dict[str, Path]:
    """Files of the fingerprints that come with the package, by benchmark."""
    folder = Path(str(resources.files("fusewright") / "data" / "benchmarks"))
    return {path.stem: path for path in sorted(folder.glob("*.parquet"))}


def _read(problem: str, code: str) -> list[View]:
    try:
        return list(views(code))
    except SyntaxError as error:
        raise UsageError(f"benchmark problem '{problem}' is not Python: {error.msg}") from error


def _choices() -> str:
    known = ", ".join(shipped())
    return f"expected {known}, or a file that `fusewright benchmark fingerprint` made"
