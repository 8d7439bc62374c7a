"""Column types of a record, read off its annotations: empty shards agree with full ones."""

import types
from typing import Any, Literal, Union, get_args, get_origin

import polars as pl

from fusewright.records import Record

_SCALARS: dict[object, pl.DataType] = {
    str: pl.String(),
    int: pl.Int64(),
    float: pl.Float64(),
    bool: pl.Boolean(),
}


def schema_of(record: type[Record]) -> dict[str, pl.DataType]:
    """Column name to column type, in the order of the fields."""
    return {name: _column(info.annotation) for name, info in record.model_fields.items()}


def _column(annotation: Any) -> pl.DataType:
    if annotation in _SCALARS:
        return _SCALARS[annotation]
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return pl.String()
    if origin in (Union, types.UnionType):
        (inner,) = [a for a in arguments if a is not type(None)]
        return _column(inner)
    if origin is tuple:
        return pl.List(_column(arguments[0]))
    if isinstance(annotation, type) and issubclass(annotation, Record):
        return pl.Struct(schema_of(annotation))
    raise TypeError(
        f"no column type for {annotation!r}: use str, int, float, bool, tuple or a record"
    )
