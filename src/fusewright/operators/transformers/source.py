"""Module classes of transformers as an operator source: vendored, so that it need not be there."""

from collections.abc import Iterator
from dataclasses import dataclass

from fusewright.operators.transformers.vendored import packaged, read
from fusewright.records import Operator


@dataclass(frozen=True)
class Transformers:
    """Module classes of transformers whose text runs with PyTorch alone."""

    name: str = "transformers"

    def operators(self) -> Iterator[Operator]:
        """Yield the vendored classes, by model and class."""
        edition, rows = read(packaged())
        for row in rows:
            yield row.operator(edition, self.name)
