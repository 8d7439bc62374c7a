"""Texts of a folder and of files of rows; the Hub is met in tests/operators/test_strangers.py."""

import polars as pl
import pytest

from fusewright.errors import UsageError
from fusewright.texts import Place, Text, is_place


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("functions", False),
        ("mine.py", False),
        ("folder/mine.py", False),
        ("./folder", True),
        ("folder/", True),
        ("owner/name", True),
        ("rows.jsonl", True),
        ("rows.parquet", True),
    ],
)
def test_a_slash_or_an_ending_tells_a_place_from_an_entry_point(name, place):
    assert is_place(name) is place


def test_a_folder_is_read_in_order_with_what_lies_below(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "x.py").write_bytes(b"\xff")
    (tmp_path / "a.py").write_text("1")
    (tmp_path / "notes.txt").write_text("2")

    assert list(Place(str(tmp_path)).texts()) == [
        Text("a", "1", "a"),
        Text("x", "\ufffd", "b/x"),
    ]


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_rows_are_read_by_column(tmp_path, ending):
    file = tmp_path / f"rows.{ending}"
    frame = pl.DataFrame({"text": ["one", None], "ops": ['["F.gelu"]', "no list"]})
    frame.write_ndjson(file) if ending == "jsonl" else frame.write_parquet(file)

    assert list(Place(str(file), column="text").texts()) == [
        Text("0", "one", "0", ("F.gelu",)),
        Text("1", "", "1"),
    ]


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("./nowhere", "'./nowhere' is no source: expected a folder of .py files"),
        ("nowhere.jsonl", "is no source"),
        ("nowhere/", "is no source"),
    ],
)
def test_what_is_nowhere_is_refused_before_anything_is_read(name, complaint):
    with pytest.raises(UsageError, match=complaint):
        Place(name).require()


def test_an_id_of_the_hub_is_not_looked_up_to_be_there():
    Place("owner/name").require()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [('{"text": "x"}', r"has no `code` column \(it has text\)"), ("{", "cannot be read")],
)
def test_rows_that_cannot_be_read_are_refused(tmp_path, text, complaint):
    (tmp_path / "rows.jsonl").write_text(text)
    with pytest.raises(UsageError, match=complaint):
        list(Place(str(tmp_path / "rows.jsonl")).texts())


def test_a_folder_without_texts_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"holds no \.py file"):
        list(Place(str(tmp_path)).texts())
