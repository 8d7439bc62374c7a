"""The page on plug-ins, followed by a reader who does exactly what it says."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import polars as pl
import pytest
import yaml

from fusewright.configfile import load_config

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "plugins.md").read_text()
BLOCK = re.compile(
    r"(?:^`(?P<file>\S+)`:\n\n)?^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
BLOCKS = [match.groupdict() for match in BLOCK.finditer(PAGE)]
NO_DEVICE = "measure.meter=meter.py"
"""What a test does otherwise than a reader: problems are measured by a fake, in no time."""


def text_of(file):
    return next(block["text"] for block in BLOCKS if block["file"] == file)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The reader's folder, with every file that the page shows; rules go to the end of theirs."""
    folder = tmp_path_factory.mktemp("reader")
    rules = next(block["text"] for block in BLOCKS if "\nrules = (" in block["text"])
    (folder / "blocks").mkdir()
    for block in BLOCKS:
        if block["file"]:
            (folder / block["file"]).write_text(block["text"])
    with (folder / "my_gates.py").open("a") as file:
        file.write(rules)
    (folder / "meter.py").write_text("from fusewright.testing import FakeMeter as meter\n")
    return folder


@pytest.fixture(scope="module")
def done(folder):
    """What each command of the page printed, in order."""
    printed = {}
    lines = [
        line for block in BLOCKS if block["kind"] == "bash" for line in block["text"].split("\n")
    ]
    for line in filter(None, lines):
        words = line.split()
        assert words[0] == "fusewright"
        more = ["--set", NO_DEVICE] if words[1] == "run" else []
        command = [sys.executable, "-m", *words, *more]
        printed[line] = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False
        )
    return printed


def test_the_page_has_the_files_and_commands_that_it_is_about():
    assert [block["file"] for block in BLOCKS if block["file"]] == [
        "my_gates.py",
        "blocks/swiglu.py",
        "gates.yaml",
    ]
    assert {block["kind"] for block in BLOCKS} == {"python", "bash", "yaml", "toml"}


def test_every_command_does_what_the_page_says(done):
    assert len(done) == 4
    for line, ran in done.items():
        assert ran.returncode == 0, (line, ran.stderr)
        assert "turned away" not in ran.stderr, (line, ran.stderr)
        assert "left out" not in ran.stderr, (line, ran.stderr)


def test_the_release_has_rows_with_the_reader_s_operators(done, folder):
    codes = pl.read_parquet(folder / "runs/gates/compose/*.parquet")["code"].drop_nulls()
    mined = pl.read_parquet(folder / "runs/gates/operators.parquet")["name"].to_list()

    assert codes.str.contains(r"1\.702|tanh\(\w+ / 2\.0\)").sum() > 0
    assert {"my_gates.quick_gelu", "my_gates.softcap", "blocks.swiglu"} <= set(mined)
    assert pl.read_parquet(folder / "runs/gates/release/data/*.parquet").height == 10


def test_the_reader_s_config_is_one(folder):
    (block,) = (block for block in BLOCKS if block["kind"] == "yaml")
    assert yaml.safe_load(block["text"])["name"] == load_config(folder / "gates.yaml").name


def test_the_entry_points_of_the_page_are_those_of_the_example():
    (block,) = (block for block in BLOCKS if block["kind"] == "toml")
    shown = tomllib.loads(block["text"])["project"]["entry-points"]
    example = (ROOT / "examples/fusewright-gates/pyproject.toml").read_text()

    assert shown == tomllib.loads(example)["project"]["entry-points"]
