"""Write the release folder: the same rows give the same bytes, and a kill never leaves half of it.

The folder is built beside its place under a temporary name and put there in one step.
"""

import ctypes
import hashlib
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from datasets import Features, List, Value
from polars.datatypes import DataTypeClass

from fusewright.config import Config
from fusewright.errors import LedgerError
from fusewright.publish.card import DATA, REJECTED, render_card
from fusewright.publish.rows import RejectedRow, Row
from fusewright.publish.stats import manifest
from fusewright.records import Record
from fusewright.schema import schema_of

MANIFEST = "stats/manifest.json"
ROW_GROUP_ROWS = 5_000
"""About 10 MB of text, far under the 300 MB that the Hub's viewer reads at once."""
WRITERS = ("datasets", "pyarrow")
"""Packages whose version can change the bytes of a Parquet file."""
_VALUES: dict[pl.DataType | DataTypeClass, str] = {
    pl.String(): "string",
    pl.Int64(): "int64",
    pl.Float64(): "float64",
    pl.Boolean(): "bool",
}


@dataclass(frozen=True)
class Release:
    """What goes into a release folder."""

    rows: Sequence[Row]
    """Rows in any order; they are written sorted by id."""
    rejected: Sequence[RejectedRow]
    """What was turned away, in any order."""
    funnel: Mapping[str, Any]
    """Counts by stage, as `stats.funnel` gives them."""
    facts: Mapping[str, Any]
    """Versions and commit that the run began with, as `run.yaml` has them; `device`, `fidelity`
    and `recall`."""
    config: Config
    """Settings of the run."""
    extra_files: Mapping[str, bytes | str] = field(default_factory=dict)
    """Further files by path inside the folder: `dashboard.html`."""


def write_release(folder: Path, release: Release) -> dict[str, Any]:
    """Put *release* at *folder*, in place of an earlier one.

    Returns:
        The manifest.

    Raises:
        LedgerError: Two rows have the same text.
    """
    if len({row.id for row in release.rows}) != len(release.rows):
        raise LedgerError(
            f"{len(release.rows)} rows have {len({row.id for row in release.rows})} distinct texts"
        )
    built = folder.with_name(f".{folder.name}.new")
    shutil.rmtree(built, ignore_errors=True)
    made = _build(built, release)
    replace_folder(built, folder)
    return made


def features_of(record: type[Record]) -> Features:
    """Types of the columns of *record*, as `load_dataset` gives them back."""
    return Features({name: _feature(dtype) for name, dtype in schema_of(record).items()})


def write_parquet(path: Path, records: Sequence[Record], record: type[Record]) -> None:
    """Write *records* in their order; the features of *record* stand in the file's metadata."""
    table = pa.Table.from_pylist(
        [entry.model_dump(mode="json") for entry in records],
        schema=features_of(record).arrow_schema,
    )
    with pq.ParquetWriter(
        path,
        table.schema,
        compression="zstd",
        write_page_index=True,
        use_content_defined_chunking=True,
    ) as writer:
        # `datasets` cannot read a row group of no rows, but a file of no row groups.
        if records:
            writer.write_table(table, row_group_size=ROW_GROUP_ROWS)


def replace_folder(built: Path, folder: Path) -> None:
    """Move *built* to *folder*, which may exist; a kill leaves the old or the new one there.

    Where the file system cannot exchange two names, a kill between two renames leaves the old
    folder beside its place, until the next release is written.
    """
    retired = folder.with_name(f".{folder.name}.old")
    if not folder.exists():
        built.rename(folder)
    elif _exchange(built, folder):
        shutil.rmtree(built)
    else:
        shutil.rmtree(retired, ignore_errors=True)
        folder.rename(retired)
        built.rename(folder)
    shutil.rmtree(retired, ignore_errors=True)


def _build(folder: Path, release: Release) -> dict[str, Any]:
    rows = sorted(release.rows, key=lambda row: row.id)
    rejected = sorted(release.rejected, key=lambda row: (row.id, row.stage, row.reason))
    made = manifest(release.config, rows, len(rejected), release.facts)
    made["versions"] |= {name: version(name) for name in WRITERS}
    for name in ("data", "rejected", "stats"):
        (folder / name).mkdir(parents=True)
    write_parquet(folder / DATA, rows, Row)
    write_parquet(folder / REJECTED, rejected, RejectedRow)
    _write(folder / "stats" / "funnel.json", _json(release.funnel))
    _write(folder / "README.md", render_card(rows, release.config, release.funnel, made))
    for name, content in release.extra_files.items():
        _write(folder / name, content)
    made["files"] = {
        str(path.relative_to(folder)): {
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            "bytes": path.stat().st_size,
        }
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    _write(folder / MANIFEST, _json(made))
    return made


def _feature(dtype: pl.DataType | DataTypeClass) -> Any:
    if isinstance(dtype, pl.List):
        return List(_feature(dtype.inner))
    if isinstance(dtype, pl.Struct):
        return {part.name: _feature(part.dtype) for part in dtype.fields}
    return Value(_VALUES[dtype])


def _json(content: Mapping[str, Any]) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _write(path: Path, content: bytes | str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def _exchange(one: Path, other: Path) -> bool:
    """Swap two folders in one step, which Linux offers under no name of Python's."""
    here, exchange = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of linux/fcntl.h and linux/fs.h
    try:
        rename = ctypes.CDLL(None).renameat2
    except AttributeError:
        return False
    return bool(rename(here, os.fsencode(one), here, os.fsencode(other), exchange) == 0)
