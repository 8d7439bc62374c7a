"""Python texts where people keep them: a folder of files, a file of rows, a dataset of the Hub.

Texts are read and never run: what they hold is anyone's guess.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from fusewright.errors import UsageError

FILES = (".parquet", ".jsonl")
"""Files of rows that are read."""
HUB_ID = re.compile(r"\w[\w.-]*/[\w.-]*\w(?<!\.parquet)(?<!\.jsonl)(?<!\.py)")


def is_place(name: str) -> bool:
    """Whether *name* is meant as a place of texts: it has a slash, or ends as a file of rows."""
    return not name.endswith(".py") and ("/" in name or name.endswith(FILES))


@dataclass(frozen=True)
class Text:
    """One text and what it is called."""

    name: str
    """Stem of its file, or index of its row."""
    code: str
    path: str = ""
    """Where a file lies in its folder, without its ending: `attention/grouped`; a row's name."""
    ops: tuple[str, ...] = ()
    """Operators that its row says it has."""


@dataclass(frozen=True)
class Place:
    """Where texts lie, and which part of it is read."""

    name: str
    """A folder of .py files, a .parquet or .jsonl file, or a dataset of the Hub, `OWNER/NAME`."""
    column: str = "code"
    """Column of the texts."""
    split: str = "train"
    """Split of a dataset of the Hub."""
    revision: str | None = None
    """Branch, tag or commit of a dataset of the Hub; None is its newest."""

    def require(self) -> None:
        """Check that the place is there, or may be on the Hub; nothing is read.

        Raises:
            UsageError: It is not.
        """
        path = Path(self.name)
        is_file = path.suffix in FILES and path.is_file()
        if not (path.is_dir() or is_file or (HUB_ID.fullmatch(self.name) and not path.exists())):
            raise UsageError(
                f"'{self.name}' is no source: expected a folder of .py files, a .parquet or .jsonl "
                f"file with a `{self.column}` column, or a Hub id like owner/name"
            )

    def texts(self) -> Iterator[Text]:
        """Yield every text, in a stable order.

        Raises:
            UsageError: There is no such place, it cannot be read, or it holds no texts.
        """
        self.require()
        path = Path(self.name)
        if path.is_dir():
            yield from _of_folder(path)
            return
        frame = _read_file(path) if path.is_file() else self._from_hub()
        if self.column not in frame.columns:
            there = ", ".join(frame.columns)
            raise UsageError(f"'{self.name}' has no `{self.column}` column (it has {there})")
        for index, row in enumerate(frame.iter_rows(named=True)):
            code, ops = str(row[self.column] or ""), _listed(row.get("ops"))
            yield Text(str(index), code, str(index), ops)

    def _from_hub(self) -> pl.DataFrame:
        import datasets  # only a Hub id needs the client

        # Nobody asked for its bars, and they would stand between our lines.
        datasets.disable_progress_bars()
        try:
            loaded = datasets.load_dataset(self.name, split=self.split, revision=self.revision)
        except (OSError, ValueError) as error:
            said = " ".join(str(error).split())
            raise UsageError(f"Hub dataset '{self.name}' cannot be loaded: {said}") from error
        return pl.DataFrame(loaded.data.table.to_pydict())


def _of_folder(folder: Path) -> Iterator[Text]:
    files = sorted(folder.rglob("*.py"))
    if not files:
        raise UsageError(f"folder {folder} holds no .py file; expected one problem a file")
    for file in files:
        path = file.relative_to(folder).with_suffix("").as_posix()
        # A file that is no UTF-8 is one broken text, not a broken folder.
        yield Text(file.stem, file.read_text(errors="replace"), path)


def _read_file(path: Path) -> pl.DataFrame:
    try:
        return pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_ndjson(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise UsageError(f"{path} cannot be read: {' '.join(str(error).split())}") from error


def _listed(ops: Any) -> tuple[str, ...]:
    """Labels of a row; Ops-6K itself holds its list as text."""
    if isinstance(ops, str):
        try:
            ops = json.loads(ops)
        except json.JSONDecodeError:
            return ()
    return tuple(str(op) for op in ops) if isinstance(ops, list) else ()
