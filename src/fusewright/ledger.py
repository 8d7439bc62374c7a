"""The append-only store of one run: every input of every stage ends in kept or rejected.

A stage is a folder of Parquet shards, one row a verdict: `subject` (key of the input), `verdict`,
`reason`, `detail`, `value`, `limit`, and the fields of the record that was kept (null where it was
not). A shard is written to a temporary name, flushed to the disk and renamed, so that a kill at any
moment leaves whole shards and nothing else. Shards are numbered in the order of writing.
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import polars as pl

from fusewright.errors import LedgerError
from fusewright.records import Record, Rejection
from fusewright.schema import schema_of

Kept = TypeVar("Kept", bound=Record)

VERDICT_SCHEMA: dict[str, pl.DataType] = {
    "subject": pl.String(),
    "verdict": pl.String(),
    "reason": pl.String(),
    "detail": pl.String(),
    "value": pl.Float64(),
    "limit": pl.Float64(),
}
"""Columns that every shard of every stage has."""


@dataclass
class Tally:
    """What became of a stage's inputs: `inputs` = `kept` + the sum of `rejected`."""

    kept: int = 0
    rejected: Counter[str] = field(default_factory=Counter)

    @property
    def inputs(self) -> int:
        """Number of inputs that have a verdict."""
        return self.kept + self.rejected.total()

    def add(self, verdict: Record) -> None:
        """Count one verdict."""
        if isinstance(verdict, Rejection):
            self.rejected[verdict.reason] += 1
        else:
            self.kept += 1


class Ledger:
    """The stages of one run folder. One process writes; any number may read."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def shards(self, stage: str) -> list[Path]:
        """Whole shards of *stage*, oldest first."""
        return sorted(p for p in (self.root / stage).glob("*.parquet") if p.stem.isdigit())

    def append(
        self, stage: str, verdicts: Sequence[tuple[str, Record]], kept: type[Record]
    ) -> None:
        """Write one shard of *verdicts*, pairs of an input's key and what became of it."""
        if not verdicts:
            return
        folder = self.root / stage
        folder.mkdir(parents=True, exist_ok=True)
        present = self.shards(stage)
        index = int(present[-1].stem) + 1 if present else 0
        frame = pl.DataFrame(
            [_row(subject, verdict) for subject, verdict in verdicts],
            schema=VERDICT_SCHEMA | schema_of(kept),
        )
        write_atomic(folder / f"{index:06d}.parquet", frame)

    def frame(self, stage: str) -> pl.DataFrame:
        """Every verdict of *stage*, oldest first; with no shard yet, the shared columns alone."""
        shards = self.shards(stage)
        if not shards:
            return pl.DataFrame(schema=VERDICT_SCHEMA)
        return pl.concat([_read(shard) for shard in shards], how="vertical")

    def decided(self, stage: str) -> set[str]:
        """Keys of the inputs that have a verdict."""
        shards = self.shards(stage)
        return {key for shard in shards for key in _read(shard, ["subject"])["subject"]}

    def kept(self, stage: str, record: type[Kept]) -> Iterator[Kept]:
        """Records that *stage* kept, oldest first."""
        for _, kept in self.kept_by_subject(stage, record):
            yield kept

    def kept_by_subject(self, stage: str, record: type[Kept]) -> Iterator[tuple[str, Kept]]:
        """Pairs of an input's key and the record that was kept for it, oldest first."""
        for row in self.frame(stage).filter(pl.col("verdict") == "kept").iter_rows(named=True):
            yield row["subject"], record(**{name: row[name] for name in record.model_fields})

    def rejected(self, stage: str) -> Iterator[Rejection]:
        """Rejections of *stage*, oldest first."""
        columns = ("subject", "reason", "detail", "value", "limit")
        for row in self.frame(stage).filter(pl.col("verdict") == "rejected").iter_rows(named=True):
            yield Rejection(stage=stage, **{name: row[name] for name in columns})

    def tally(self, stage: str) -> Tally:
        """Counts of *stage* as the shards hold them."""
        frame = self.frame(stage).select("verdict", "reason")
        rejected = frame.filter(pl.col("verdict") == "rejected")["reason"].to_list()
        return Tally(kept=frame.height - len(rejected), rejected=Counter(rejected))

    def check(self, stage: str, inputs: Iterable[str]) -> Tally:
        """Check conservation: each of *inputs* has one verdict, and nothing else has any.

        Raises:
            LedgerError: An input is missing, doubled, or was never asked for.
        """
        expected = Counter(inputs)
        found = Counter(self.frame(stage)["subject"].to_list())
        if expected != found:
            missing, extra = expected - found, found - expected
            raise LedgerError(
                f"{stage}: inputs {expected.total()} != verdicts {found.total()}: "
                f"{missing.total()} without a verdict {sorted(missing)[:3]}, "
                f"{extra.total()} doubled or unasked {sorted(extra)[:3]}"
            )
        return self.tally(stage)

    def reset(self, stage: str) -> None:
        """Forget the verdicts of *stage*, so that it can be decided anew."""
        for shard in reversed(self.shards(stage)):
            shard.unlink()


def write_atomic(path: Path, frame: pl.DataFrame) -> None:
    """Write *frame* as Parquet so that *path* holds all of it or does not exist."""
    temporary = path.with_suffix(".tmp")
    with temporary.open("wb") as file:
        frame.write_parquet(file, compression="zstd")
        file.flush()
        os.fsync(file.fileno())
    temporary.rename(path)
    # The rename itself must survive a power cut, or a later shard could outlive an earlier one.
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _read(shard: Path, columns: list[str] | None = None) -> pl.DataFrame:
    try:
        return pl.read_parquet(shard, columns=columns)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise LedgerError(
            f"{shard} cannot be read: restore it, or delete it to decide its records again"
        ) from error


def _row(subject: str, verdict: Record) -> dict[str, object]:
    if isinstance(verdict, Rejection):
        fields = verdict.model_dump(include={"reason", "detail", "value", "limit"})
        return {"subject": subject, "verdict": "rejected", **fields}
    return {"subject": subject, "verdict": "kept", **verdict.model_dump(mode="json")}
