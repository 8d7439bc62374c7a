"""Running the parts of a benchmark, in one sitting or several."""

import pytest

from parts import Folder, Part, shuffled, write_lines

from .lines import outcome

SCRIPT = """
import argparse, json, pathlib, sys, time
parser = argparse.ArgumentParser()
for name in ("--in", "--out", "--first", "--status"):
    parser.add_argument(name)
parser.add_argument("--hang", action="store_true")
options = vars(parser.parse_args())
with open(options["out"], "a") as out:
    device = {"name": "Device 1", "torch": "2.13.0"}
    out.write(json.dumps({"device": device, "boot_s": 1.0, "workers": 1}) + "\\n")
    for line in pathlib.Path(options["in"]).read_text().splitlines()[: int(options["first"])]:
        out.write(json.dumps({"key": json.loads(line)["key"], "at_s": 1.0}) + "\\n")
if options["hang"]:
    time.sleep(600)
sys.exit(int(options["status"] or 0))
"""
PROBLEMS = [{"key": key, "code": ""} for key in "abc"]


@pytest.fixture
def make(tmp_path):
    script = tmp_path / "engine.py"
    script.write_text(SCRIPT)

    def make_part(first=3, *more, goes_on=False):
        options = ("--first", str(first), *more)
        return Part("all", PROBLEMS, options, (str(script),), (script,), goes_on)

    return make_part


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path / "raw")


def keys(folder):
    return [verdict["key"] for verdict in folder.outcome("all").verdicts]


def test_a_part_that_was_never_run_has_left_nothing(folder, make):
    assert folder.missing(make()) == ["a", "b", "c"]
    assert folder.outcome("all") is None
    assert folder.about("all") == {}


def test_a_whole_part_misses_nothing(folder, make):
    assert folder.run(make(), None) is None
    assert folder.missing(make()) == []
    assert folder.about("all")["asked"] == 3


def test_a_part_that_is_timed_as_a_whole_starts_anew(folder, make):
    folder.run(make(2), None)
    assert folder.missing(make(2)) == ["c"]
    folder.run(make(2), None)
    assert keys(folder) == ["a", "b"]


def test_a_part_that_goes_on_keeps_what_it_has(folder, make):
    for _ in range(2):
        folder.run(make(2, goes_on=True), None)
    assert keys(folder) == ["a", "b", "a", "b"]


@pytest.mark.parametrize("goes_on", [False, True])
def test_other_options_measure_everything_anew(folder, make, goes_on):
    folder.run(make(2, goes_on=goes_on), None)
    part = make(3, goes_on=goes_on)
    assert folder.missing(part) == ["a", "b", "c"]
    folder.run(part, None)
    assert keys(folder) == ["a", "b", "c"]


def test_other_code_measures_everything_anew(folder, make):
    part = make()
    folder.run(part, None)
    part.code[0].write_text(SCRIPT + "\n")
    assert folder.missing(part) == ["a", "b", "c"]


def test_a_part_that_fails_says_so(folder, make):
    assert folder.run(make(3, "--status", "3"), None) == "ended with status 3"


def test_a_part_that_takes_too_long_is_cut_short_and_leaves_what_it_had(folder, make):
    assert folder.run(make(1, "--hang"), 2.0) == "was cut short after 2 s"
    assert keys(folder) == ["a"]


def test_the_order_depends_on_keys_and_salt_alone():
    problems = [{"key": str(i)} for i in range(50)]
    order = shuffled(problems, "one")
    assert order == shuffled(reversed(problems), "one")
    assert order != problems
    assert order != shuffled(problems, "other")
    assert sorted(order, key=lambda p: int(p["key"])) == problems


def test_a_torn_line_is_no_verdict(folder):
    folder.path.mkdir()
    write_lines(folder.path / "all.jsonl", [outcome([]).about, {"key": "a"}])
    with (folder.path / "all.jsonl").open("a") as file:
        file.write('{"key": "b')
    assert keys(folder) == ["a"]
