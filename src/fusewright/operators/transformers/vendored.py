"""The vendored file: one line on the library, then a line for each class."""

import json
from collections.abc import Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable

from fusewright.operators.snippet import shortened
from fusewright.records import Operator, Record, TensorSpec

NAME = "transformers.jsonl"
"""Name of the file among the package's data."""


class Edition(Record):
    """Where the vendored text comes from, and under which terms."""

    library: str
    """Name of the distribution."""
    version: str
    """Version that was read."""
    revision: str
    """Tag of that version in the library's repository."""
    url: str
    """The repository."""
    license: str
    """SPDX identifier of its licence."""
    copyright: str
    """Holder of the whole; a row has the line of its own file."""
    notice: str
    """What the licence asks to be said, and how the text was changed."""


class Vendored(Record):
    """One class as text that stands alone, with a sample on which it runs."""

    name: str
    """Name of the operator: `transformers.`, the model's folder, the class."""
    module: str
    """Module that it was taken from."""
    copyright: str
    """Copyright line of that module."""
    family: str
    """Coarse class, by the calls that it makes."""
    source_code: str
    """The class and what it needs; runs with PyTorch alone."""
    init: str
    """Expression that constructs a small one."""
    call: str
    """Expression that runs it."""
    inputs: tuple[TensorSpec, ...]
    """A valid sample for each tensor of the call."""

    def operator(self, edition: Edition, source: str) -> Operator:
        """The record of this class, not yet self-tested, as *source* yields it."""
        own = self.source_code.rpartition(f"class {self.name.rpartition('.')[2]}(")
        return Operator(
            name=self.name,
            family=self.family,
            kind="source_module",
            source=source,
            source_code=self.source_code,
            call=self.call,
            init=self.init,
            inputs=self.inputs,
            snippet=shortened("".join(own[1:]).strip()),
            license=edition.license,
            version=f"{edition.library} {edition.version}",
        )


def packaged() -> Traversable:
    """The file that comes with this package."""
    return files("fusewright") / "data" / NAME


def read(file: Traversable) -> tuple[Edition, list[Vendored]]:
    """What *file* holds.

    Raises:
        ValueError: A line is not what `written` writes.
    """
    first, *lines = file.read_text(encoding="utf-8").splitlines()
    return Edition(**json.loads(first)), [Vendored(**json.loads(line)) for line in lines]


def written(edition: Edition, rows: Sequence[Vendored]) -> str:
    """Text of the file that holds *rows*, in their order."""
    records: list[Record] = [edition, *rows]
    plain = (r.model_dump(mode="json", exclude_defaults=True) for r in records)
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in plain)
