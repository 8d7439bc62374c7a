import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import time

import datasets
import pytest

from fusewright.configfile import make_config
from fusewright.errors import LedgerError
from fusewright.publish import release as module
from fusewright.publish.release import Release, features_of, replace_folder, write_release
from fusewright.publish.rows import RejectedRow, Row

CONFIG = make_config({"name": "small"}, "test")
FACTS = {"fusewright": "0.1.0", "python": "3.11.7", "torch": "2.13.0", "commit": "abc"}
FUNNEL = {"stages": [{"stage": "release", "inputs": 3, "kept": 3, "rejected": {}}]}
REJECTED = [
    RejectedRow(
        id=f"{n:016x}",
        stage="judge",
        reason="too_easy",
        detail="eager 0.5 ms, under 1 ms",
        value=0.5,
        limit=1.0,
        composer=None if n else "graph",
        seed=None if n else 1,
        code=None if n else "import torch",
    )
    for n in range(2)
]


@pytest.fixture
def rows(new_row):
    return [new_row(n) for n in range(3)]


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Load a config of a folder as users do, with no network to reach for."""

    def refuse(*_):
        raise AssertionError("loading a folder must not reach for the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    datasets.disable_progress_bars()

    def load(folder, name=None, **options):
        cache = str(tmp_path / "cache")
        return datasets.load_dataset(str(folder), name, split="train", cache_dir=cache, **options)

    return load


def release(rows, rejected=REJECTED, **fields):
    return Release(rows, rejected, FUNNEL, FACTS, CONFIG, **fields)


def contents(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def is_whole(folder):
    """Whether every file is what the manifest says, and none is missing or too many."""
    files = contents(folder)
    manifest = json.loads(files.pop("stats/manifest.json"))
    return manifest["files"] == {
        name: {"sha256": hashlib.sha256(body).hexdigest(), "bytes": len(body)}
        for name, body in files.items()
    }


def test_the_rows_load_with_their_types_and_the_drop_in_columns_first(tmp_path, rows, load):
    write_release(tmp_path / "release", release(rows))
    loaded = load(tmp_path / "release")
    assert loaded.features == features_of(Row)
    assert loaded.column_names[:3] == ["ops", "data_source", "code"]
    assert loaded.to_list() == [
        row.model_dump(mode="json") for row in sorted(rows, key=lambda row: row.id)
    ]


def test_the_rejected_load_as_a_second_config(tmp_path, rows, load):
    write_release(tmp_path / "release", release(rows))
    loaded = load(tmp_path / "release", "rejected")
    assert loaded.features == features_of(RejectedRow)
    assert loaded.to_list() == [entry.model_dump() for entry in REJECTED]


def test_types_are_those_of_the_records():
    features = features_of(Row)
    assert features["ops"] == datasets.List(datasets.Value("string"))
    assert features["input_shapes"] == datasets.List(datasets.List(datasets.Value("int64")))
    assert features["branching"] == datasets.Value("bool")
    assert features["row_similarity"] == datasets.Value("float64")


@pytest.mark.parametrize(("name", "record"), [("default", Row), ("rejected", RejectedRow)])
def test_a_config_without_rows_loads_with_its_types(tmp_path, load, name, record):
    write_release(tmp_path / "release", release([], []))
    # `datasets` makes no map-style split of no rows, whoever wrote it.
    loaded = load(tmp_path / "release", name, streaming=True)
    assert loaded.features == features_of(record)
    assert list(loaded) == []


def test_the_same_rows_give_the_same_bytes_in_any_order(tmp_path, rows):
    write_release(tmp_path / "one", release(rows))
    write_release(tmp_path / "two", release(rows[::-1], REJECTED[::-1]))
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_the_folder_holds_the_named_files(tmp_path, rows):
    extra = {"dashboard.html": "<html>", "stats/more.bin": b"\0"}
    write_release(tmp_path / "deep" / "release", release(rows, extra_files=extra))
    assert set(contents(tmp_path / "deep" / "release")) == {
        "README.md",
        "dashboard.html",
        "data/train-00000-of-00001.parquet",
        "rejected/train-00000-of-00001.parquet",
        "stats/funnel.json",
        "stats/manifest.json",
        "stats/more.bin",
    }


def test_the_manifest_has_the_hash_of_every_file_but_itself(tmp_path, rows):
    manifest = write_release(tmp_path / "release", release(rows))
    assert is_whole(tmp_path / "release")
    assert json.loads((tmp_path / "release/stats/manifest.json").read_text()) == manifest
    assert manifest["git_commit"] == "abc"
    assert {"fusewright", "python", "torch", "pyarrow", "datasets"} == set(manifest["versions"])


def test_the_funnel_is_written_as_given(tmp_path, rows):
    write_release(tmp_path / "release", release(rows))
    assert json.loads((tmp_path / "release/stats/funnel.json").read_text()) == FUNNEL


def test_two_rows_of_one_text_are_refused(tmp_path, new_row):
    with pytest.raises(LedgerError, match="2 rows have 1 distinct texts"):
        write_release(tmp_path / "release", release([new_row(1), new_row(1, seed=2)]))
    assert not (tmp_path / "release").exists()


@pytest.mark.parametrize("in_one_step", [True, False])
def test_a_release_takes_the_place_of_an_earlier_one(tmp_path, rows, monkeypatch, in_one_step):
    if not in_one_step:
        monkeypatch.setattr(module, "_exchange", lambda *_: False)
    write_release(tmp_path / "release", release(rows, extra_files={"stale.txt": "old"}))
    write_release(tmp_path / "release", release(rows[:1]))
    assert is_whole(tmp_path / "release")
    assert "stale.txt" not in contents(tmp_path / "release")
    assert [path.name for path in tmp_path.iterdir()] == ["release"]


def test_a_write_that_fails_leaves_the_earlier_release_and_the_next_one_succeeds(tmp_path, rows):
    write_release(tmp_path / "release", release(rows))
    before = contents(tmp_path / "release")
    with pytest.raises(TypeError):
        write_release(tmp_path / "release", release(rows[:1], extra_files={"bad": None}))
    assert contents(tmp_path / "release") == before
    write_release(tmp_path / "release", release(rows[:2]))
    assert [path.name for path in tmp_path.iterdir()] == ["release"]


SWAPPER = """
import sys
from pathlib import Path
from fusewright.publish.release import replace_folder
folder = Path(sys.argv[1])
print("ready", flush=True)
for n in range(10**9):
    built = folder.with_name(f".{folder.name}.new")
    built.mkdir()
    for name in "ab":
        (built / name).write_text(str(n))
    replace_folder(built, folder)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux exchanges two folders in one step")
def test_whenever_it_stops_the_folder_is_the_old_one_or_the_new(tmp_path):
    folder, seen = tmp_path / "release", set()
    folder.mkdir()
    for name in "ab":
        (folder / name).write_text("old")
    with subprocess.Popen(
        [sys.executable, "-c", SWAPPER, str(folder)], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            process.stdout.readline()
            while len(seen) < 100:
                time.sleep(0.001)
                process.send_signal(signal.SIGSTOP)
                assert os.WIFSTOPPED(os.waitpid(process.pid, os.WUNTRACED)[1])
                assert (folder / "a").read_text() == (folder / "b").read_text()
                seen.add((folder / "a").read_text())
                process.send_signal(signal.SIGCONT)
        finally:
            process.kill()


def test_what_a_kill_left_beside_its_place_is_swept(tmp_path):
    for name in ("release", ".release.old", ".release.new"):
        (tmp_path / name).mkdir()
    replace_folder(tmp_path / ".release.new", tmp_path / "release")
    assert [path.name for path in tmp_path.iterdir()] == ["release"]
