"""Measuring on a machine with PyTorch alone: `python -m fusewright.measure`."""

import json
import subprocess
import sys

from fusewright.measure.__main__ import drop_torn_line, read_lines
from fusewright.testing import RELU_MEAN

from .programs import program


def measure(tmp_path):
    words = ["--in", tmp_path / "in.jsonl", "--out", tmp_path / "out.jsonl", "--device", "cpu"]
    command = [sys.executable, "-m", "fusewright.measure", *map(str, words), "--workers", "1"]
    return subprocess.run(command, capture_output=True, text=True, check=True)


def test_problems_in_verdicts_out_and_a_torn_file_goes_on(tmp_path):
    texts = {"sound": RELU_MEAN, "faulty": program("return torch.log(x)")}
    lines = [json.dumps({"key": key, "code": code}) + "\n" for key, code in texts.items()]
    (tmp_path / "in.jsonl").write_text("".join(lines))
    measure(tmp_path)
    out = tmp_path / "out.jsonl"
    first = list(read_lines(out))
    out.write_text(out.read_text() + '{"key": "half')
    measure(tmp_path)
    again = list(read_lines(out))

    assert {line.get("key") for line in first} == {None, "sound", "faulty"}
    assert first[0]["device"]["torch"].startswith("2.")
    assert [line["key"] for line in again if "key" in line] == [
        line["key"] for line in first if "key" in line
    ]
    assert sum("device" in line for line in again) == 2


def test_only_the_unfinished_line_is_dropped(tmp_path):
    path = tmp_path / "a.jsonl"
    for text, left in (("a\nb", "a\n"), ("a\nb\n", "a\nb\n"), ("a", ""), ("", "")):
        path.write_text(text)
        drop_torn_line(path)
        assert path.read_text() == left
