import polars as pl
import pytest

from fusewright.errors import ConfigError, UsageError
from fusewright.filters.fingerprint import SCHEMA, fingerprint, load, shipped
from fusewright.filters.minhash import PERMUTATIONS
from fusewright.identity import class_shingles, flow, tree_pieces
from fusewright.testing import RELU_MEAN

TWO = f"{RELU_MEAN}\nclass Extra:\n    def forward(self, x):\n        return x.exp()\n"


def test_every_view_of_every_source_has_a_row_of_hashes():
    frame = fingerprint([("one", TWO), ("two", RELU_MEAN)], "ours", "r1", "MIT")

    assert frame.schema == SCHEMA
    assert frame.select("problem", "view", "class").rows() == [
        ("one", "text", "Model"),
        ("one", "text", "Extra"),
        ("one", "graph", "Model"),
        ("one", "tree", "Model"),
        ("two", "text", "Model"),
        ("two", "graph", "Model"),
        ("two", "tree", "Model"),
    ]
    assert set(frame["pieces"][1]) == class_shingles(TWO)["Extra"]
    assert set(frame["pieces"][2]) == flow(TWO).pieces
    assert frame["digest"][2] == flow(TWO).digest
    assert set(frame["pieces"][3]) == tree_pieces(TWO)
    assert frame["signature"].list.len().unique().to_list() == [PERMUTATIONS]


def test_equal_sources_have_equal_fingerprints():
    one, other = (
        fingerprint([("a", code)], "ours", "r1", "MIT") for code in (RELU_MEAN, RELU_MEAN)
    )

    assert one.equals(other)


@pytest.mark.parametrize(
    ("sources", "says"),
    [([("bad", "def f(:")], "'bad' is not Python"), ([("a", "x = 1")], "no class")],
)
def test_sources_that_hold_no_problem_are_refused(sources, says):
    with pytest.raises(UsageError, match=says):
        fingerprint(sources, "ours", "r1", "MIT")


def test_a_fingerprint_file_is_loaded_by_its_path(tmp_path):
    frame = fingerprint([("one", RELU_MEAN)], "ours", "r1", "MIT")
    frame.write_parquet(tmp_path / "ours.parquet")

    assert load(str(tmp_path / "ours.parquet")).equals(frame)


def test_kernelbench_is_shipped_whole_with_its_source_and_without_its_text():
    frame = load("kernelbench")

    assert frame["problem"].n_unique() == 270
    assert frame["license"].unique().to_list() == ["MIT"]
    assert frame["revision"].unique().to_list() == ["423217d9fda91e0c2d67e4a43bf62f96f6d104f1"]
    assert frame["problem"].str.starts_with("level").all()
    assert frame.filter(pl.col("view") == "text")["pieces"].list.len().min() > 20
    assert shipped()["kernelbench"].stat().st_size < 1_500_000


@pytest.mark.parametrize("name", ["other", "kernelbnch", "./missing.parquet"])
def test_a_missing_benchmark_is_an_error_that_names_the_shipped_ones(name):
    with pytest.raises(ConfigError, match="kernelbench"):
        load(name)


def test_foreign_files_are_an_error_that_names_the_shipped_ones(tmp_path):
    torn, foreign = tmp_path / "torn.parquet", tmp_path / "foreign.parquet"
    torn.write_bytes(b"PAR1 no")
    pl.DataFrame({"code": ["x"]}).write_parquet(foreign)
    empty = tmp_path / "empty.parquet"
    SCHEMA.to_frame().write_parquet(empty)
    for path in (torn, foreign, empty):
        with pytest.raises(ConfigError, match="kernelbench"):
            load(str(path))
