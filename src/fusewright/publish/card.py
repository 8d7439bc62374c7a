"""The dataset card, as text: what the rows, the config, the funnel and the manifest say.

A column is explained by the sentence under its field, a threshold by that of its setting.
"""

from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from typing import Any, NamedTuple

import jinja2
import yaml

from fusewright.config import Config, Plugin, describe
from fusewright.publish.rows import RejectedRow, Row
from fusewright.publish.stats import distributions
from fusewright.records import Record
from fusewright.schema import schema_of

DATA = "data/train-00000-of-00001.parquet"
REJECTED = "rejected/train-00000-of-00001.parquet"
TAGS = ("code", "cuda", "gpu-kernels", "kernelbench", "pytorch", "synthetic", "torch-compile")
MOST_OPERATORS = 15
"""Operators that the card lists; the dashboard and the rows have them all."""
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


class Entry(NamedTuple):
    """One line of a table: a column or a setting, its type or value, and its sentence."""

    name: str
    value: str
    sentence: str


def render_card(
    rows: Sequence[Row], config: Config, funnel: Mapping[str, Any], manifest: Mapping[str, Any]
) -> str:
    """Write `README.md` of a release of *rows*; `files` of the manifest are not looked at."""
    environment = jinja2.Environment(
        autoescape=False,  # noqa: S701 -- Markdown, not HTML
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"cell": _cell, "finely": _finely, "held": _held}
    template = resources.files("fusewright.publish").joinpath("card.md.jinja")
    return environment.from_string(template.read_text(encoding="utf-8")).render(
        front_matter=front_matter(config, len(rows)),
        config=config,
        columns=list(columns(Row)),
        rejected_columns=list(columns(RejectedRow)),
        thresholds=list(thresholds(config)),
        stages=funnel["stages"],
        manifest=manifest,
        spread=distributions(rows),
        most=MOST_OPERATORS,
    )


def front_matter(config: Config, rows: int) -> str:
    """YAML that the Hub and `load_dataset` read."""
    return yaml.safe_dump(
        {
            "pretty_name": config.release.title,
            "license": "cc-by-4.0",
            "language": ["code", "en"],
            "task_categories": ["text-generation"],
            "tags": list(TAGS),
            "size_categories": [next((name for most, name in SIZES if rows < most), "n>1M")],
            "source_datasets": ["original"],
            "annotations_creators": ["machine-generated"],
            "configs": [
                _loader("default", DATA) | {"default": True},
                _loader("rejected", REJECTED),
            ],
        },
        sort_keys=False,
    )


def columns(record: type[Record]) -> Iterator[Entry]:
    """Name, type and sentence of each column of *record*."""
    types = schema_of(record)
    for name, info in record.model_fields.items():
        yield Entry(name, str(types[name]), info.description or "")


def thresholds(config: Config) -> Iterator[Entry]:
    """Name, value and sentence of each setting that can turn a candidate away."""
    for section in ("screen", "judge", "select"):
        for name, value, sentence in describe(getattr(config, section), f"{section}."):
            yield Entry(name, _value(value), sentence)


def _loader(name: str, path: str) -> dict[str, Any]:
    # A glob, so that a later release may have more shards under the same card.
    pattern = path.replace("-00000-of-00001", "-*")
    return {"config_name": name, "data_files": [{"split": "train", "path": pattern}]}


def _value(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(v.name if isinstance(v, Plugin) else str(v) for v in value) or "none"
    if value is None or isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _finely(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.2f} %"


def _held(gate: Mapping[str, Any]) -> str:
    if gate["held"] is None:
        return f"not judged under {gate['least_rows']} rows"
    return "held" if gate["held"] else "**not held**"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
