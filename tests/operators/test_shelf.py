"""What a source yielded is taken from the cache while nothing about the source has changed."""

import importlib.metadata
import json
import os

import pytest

from fusewright.config import Plugin
from fusewright.operators.mine import mine
from fusewright.operators.shelf import Heard, edition, find, keep
from fusewright.operators.verdict import turn_away
from fusewright.records import Operator, TensorSpec

SOURCE = """
from fusewright.records import Operator, TensorSpec

class source:
    name = "bird"
    def operators(self):
        with open({log!r}, "a") as log:
            log.write("asked ")
        yield Operator(
            name="x.gelu", family="elementwise", kind="function", source="", version="1",
            call="F.gelu({{0}})", inputs=(TensorSpec(shape=(2, 3), dtype="float32"),),
        )
        {last}
"""
BIRD = Plugin(name="bird")
OPERATOR = Operator(
    name="x.gelu", family="elementwise", kind="function", source="bird", version="1",
    call="F.gelu({0})", inputs=(TensorSpec(shape=(2, 3), dtype="float32"),),
)  # fmt: skip
HEARD = Heard("bird", [OPERATOR, turn_away("bird", "x.crash", "crash", "it died")])


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "fusewright" / "mine"


@pytest.fixture
def package(monkeypatch, tmp_path):
    """A package `birdsong` with an entry point `bird`, not installed but found; its one file."""
    file = tmp_path / "birdsong" / "__init__.py"
    file.parent.mkdir()
    file.write_text(SOURCE.format(log=str(tmp_path / "log"), last=""))
    about = tmp_path / "birdsong-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: birdsong\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[fusewright.operators]\nbird = birdsong:source\n")
    monkeypatch.syspath_prepend(tmp_path)
    before = os.environ.get("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{before}")
    return file


def times_asked(tmp_path):
    return (tmp_path / "log").read_text().split().count("asked")


def test_a_source_is_asked_once_for_each_edition(package, tmp_path):
    first = list(mine([BIRD], 20.0))
    assert [subject for subject, _ in first] == ["bird:x.gelu"]
    assert list(mine([BIRD], 20.0)) == first
    assert times_asked(tmp_path) == 1

    package.write_text(package.read_text().replace("x.gelu", "x.gelu2"))
    assert [subject for subject, _ in mine([BIRD], 20.0)] == ["bird:x.gelu2"]
    assert times_asked(tmp_path) == 2


def test_a_source_that_failed_half_way_is_asked_again(package, tmp_path, cache):
    package.write_text(SOURCE.format(log=str(tmp_path / "log"), last="raise KeyError"))
    assert list(mine([BIRD], 20.0)) == list(mine([BIRD], 20.0))
    assert times_asked(tmp_path) == 2
    assert not cache.exists()


def test_the_shelf_gives_back_what_it_was_given(package, cache):
    assert find(BIRD) is None
    keep(BIRD, HEARD)
    assert find(BIRD) == HEARD
    assert len(list(cache.iterdir())) == 1


def test_one_edition_of_a_source_is_kept(package, cache):
    keep(BIRD, HEARD)
    package.write_text("")
    assert find(BIRD) is None
    keep(BIRD, HEARD)
    assert len(list(cache.iterdir())) == 1


def test_what_took_too_long_is_not_kept(package):
    slow = turn_away("bird", "x.slow", "timeout", "it took over 3 s")
    keep(BIRD, Heard("bird", [slow]))
    assert find(BIRD) is None


@pytest.mark.parametrize(
    "text", ["", "nonsense", "{}\n", '{"source": "bird"}\n{"kept": {}}\n', '{"source": "bird"}\n[]']
)
def test_a_spoilt_file_is_as_none(package, cache, text):
    keep(BIRD, HEARD)
    (file,) = cache.iterdir()
    file.write_text(text)
    assert find(BIRD) is None
    keep(BIRD, HEARD)
    assert find(BIRD) == HEARD


def test_a_cache_that_cannot_be_written_to_costs_nothing(package, cache):
    cache.parent.parent.write_text("a file where a folder should be")
    keep(BIRD, HEARD)
    assert find(BIRD) is None


def test_what_a_library_is_decides_too(package, monkeypatch):
    before, version = edition(BIRD), importlib.metadata.version
    monkeypatch.setattr(
        importlib.metadata, "version", lambda name: "9" if name == "torch" else version(name)
    )
    assert edition(BIRD) != before


@pytest.mark.parametrize(
    "plugin",
    [
        Plugin(name="source.py"),
        Plugin(name="bird", settings={"path": "songs"}),
        Plugin(name="unknown"),
    ],
)
def test_what_lies_outside_a_package_is_read_each_time(package, plugin):
    assert edition(plugin) is None
    keep(plugin, HEARD)
    assert find(plugin) is None


def test_an_entry_that_points_nowhere_has_no_edition(package, tmp_path):
    entries = tmp_path / "birdsong-1.0.dist-info" / "entry_points.txt"
    entries.write_text("[fusewright.operators]\nbird = !!nonsense\n")
    assert edition(BIRD) is None


def test_lines_are_json(package, cache):
    keep(BIRD, HEARD)
    (file,) = cache.iterdir()
    assert [next(iter(json.loads(line))) for line in file.read_text().splitlines()] == [
        "source",
        "kept",
        "rejected",
    ]
