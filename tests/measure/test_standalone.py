"""Measuring on a machine with PyTorch alone: `python -m fusewright.measure`."""

import ast
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fusewright.measure.__main__ import drop_torn_line, read_lines
from fusewright.testing import RELU_MEAN

from .programs import program

TEXTS = {
    "sound": RELU_MEAN,
    "faulty": program("return torch.log(x)"),
    "telling": program("import os\nraise ValueError(os.getpid(), os.getcwd())"),
}


def measure(folder, *more):
    words = ["--in", folder / "in.jsonl", "--out", folder / "out.jsonl", "--device", "cpu", *more]
    command = [sys.executable, "-m", "fusewright.measure", *map(str, words), "--workers", "1"]
    environment = {**os.environ, "TMPDIR": str(folder / "tmp")}
    subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return list(read_lines(folder / "out.jsonl"))


@pytest.fixture(scope="module")
def sittings(tmp_path_factory):
    """A folder, the lines after one sitting, and those after a second on a torn file."""
    folder = tmp_path_factory.mktemp("standalone")
    (folder / "tmp").mkdir()
    lines = [json.dumps({"key": key, "code": code}) + "\n" for key, code in TEXTS.items()]
    (folder / "in.jsonl").write_text("".join(lines[:2]))
    first = measure(folder, "--devices", "2")
    out = folder / "out.jsonl"
    out.write_text(out.read_text() + '{"key": "half')
    (folder / "in.jsonl").write_text("".join(lines))
    return folder, first, measure(folder, "--canary-s", "60")


def test_a_sitting_begins_with_the_device_and_ends_with_its_drift(sittings):
    _, first, _ = sittings

    assert first[0]["device"]["torch"].startswith("2.")
    assert first[0]["peaks"]["bytes_per_s"] > 0
    assert set(first[0]["isolation"].values()) <= {True, False}
    assert first[-1] == {"drift": [{}, {}]}


def test_every_problem_has_a_line_with_its_verdict(sittings):
    _, first, _ = sittings
    by_key = {line["key"]: line for line in first if "key" in line}

    assert set(by_key) == {"sound", "faulty"}
    assert by_key["sound"]["measurement"]["eager"]["median_ms"] > 0
    assert by_key["faulty"]["rejection"]["reason"] == "nonfinite_output"
    assert by_key["sound"]["spent_s"]["lease"] > 0


def test_a_second_sitting_goes_on_where_the_first_one_stopped(sittings):
    _, first, again = sittings

    assert again[: len(first)] == first
    assert [line["key"] for line in again[len(first) :] if "key" in line] == ["telling"]


def test_a_sitting_with_canaries_says_how_many(sittings):
    *_, again = sittings

    assert again[-1]["drift"][0]["canaries"] >= 2


def test_nothing_is_left_behind_but_the_leases(sittings):
    folder, _, again = sittings
    told = next(line for line in again if line.get("key") == "telling")
    worker, scratch = ast.literal_eval(told["rejection"]["detail"].removeprefix("ValueError: "))

    assert Path(scratch).is_relative_to(folder / "tmp")
    assert [path.name for path in (folder / "tmp").iterdir()] == [f"fusewright-{os.getuid()}"]
    for _ in range(100):
        if not Path(f"/proc/{worker}").exists():
            return
        time.sleep(0.05)
    pytest.fail(f"worker {worker} is still there")


def test_only_the_unfinished_line_is_dropped(tmp_path):
    path = tmp_path / "a.jsonl"
    for text, left in (("a\nb", "a\n"), ("a\nb\n", "a\nb\n"), ("a", ""), ("", "")):
        path.write_text(text)
        drop_torn_line(path)
        assert path.read_text() == left


def test_a_line_ends_where_json_lines_do_and_nowhere_else(tmp_path):
    path = tmp_path / "a.jsonl"
    texts = ["a\u2028b", "a\u0085b", "a\x0cb"]
    path.write_text(
        "".join(json.dumps({"code": text}, ensure_ascii=False) + "\n" for text in texts)
    )

    assert [line["code"] for line in read_lines(path)] == texts
