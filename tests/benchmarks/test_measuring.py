"""The command line of the benchmark."""

import json
import sys

import pytest

import measuring
from parts import Folder, write_lines

from .lines import outcome, verdict

PROBLEMS = [{"key": f"{i:02d}", "code": ""} for i in range(60)]


@pytest.fixture
def options(tmp_path):
    write_lines(tmp_path / "problems.jsonl", PROBLEMS)
    level = tmp_path / "kb" / "KernelBench" / "level2"
    level.mkdir(parents=True)
    for number in (1, 2, 10, 100):
        (level / f"{number}_A_B.py").write_text(f"# {number}")

    def parse(*words):
        names = ("problems", "raw", "results", "kernelbench")
        files = ("problems.jsonl", "raw", "results", "kb")
        where = [w for n, f in zip(names, files, strict=True) for w in (f"--{n}", tmp_path / f)]
        return measuring._parser().parse_args([*map(str, where), "--device", "cuda", *words])

    return parse


def make(name, options):
    return measuring.make_part(name, options, Folder(options.raw))


def keys(part):
    return [problem["key"] for problem in part.problems]


def test_the_engine_measures_all_in_a_mixed_order(options):
    for name in ("all", "basic"):
        part = make(name, options("--workers", "3"))
        assert keys(part) != sorted(keys(part))
        assert sorted(keys(part)) == [problem["key"] for problem in PROBLEMS]
        assert "--workers 3" in " ".join(part.options)


@pytest.mark.parametrize(
    ("name", "checks", "window"),
    [("all", False, True), ("basic", True, True), ("sequential", True, True),
     ("kernelbench", True, False), ("solo", False, False)],
)  # fmt: skip
def test_parts_differ_by_their_checks_and_window(options, name, checks, window):
    words = " ".join(make(name, options()).options)
    assert ("--checks basic" in words) is checks
    assert ("--window 1,100" in words) is window


def test_the_baseline_is_one_worker_on_the_first_few(options):
    part = make("sequential", options("--sequential", "4"))
    assert keys(part) == ["00", "01", "02", "03"]
    assert "--workers 1" in " ".join(part.options)


def test_the_sample_is_of_those_that_nobody_turned_away(options):
    chosen = options("--sample", "10")
    first = keys(make("solo", chosen))
    chosen.raw.mkdir()
    rejected = [verdict(key, reason="crash") for key in first[:3]]
    write_lines(chosen.raw / "basic.jsonl", [outcome([]).about, *rejected])
    second = keys(make("solo", chosen))
    assert len(first) == len(second) == 10
    assert second[:7] == first[3:]


def test_kernelbench_comes_in_the_order_of_its_numbers(options):
    part = make("kernelbench-own", options("--slice", "3"))
    assert keys(part) == ["1_A_B", "2_A_B", "10_A_B"]
    assert sorted(keys(make("kernelbench", options()))) == sorted([*keys(part), "100_A_B"])


def test_a_folder_without_kernelbench_is_refused(options, tmp_path):
    with pytest.raises(SystemExit, match=r"has no KernelBench/level2/\*\.py"):
        make("kernelbench", options("--kernelbench", str(tmp_path / "raw")))


def test_canaries_are_for_a_gpu(options):
    assert "--canary-s" in make("all", options()).options
    assert "--canary-s" not in make("all", options("--device", "cpu")).options


def test_by_default_kernelbench_is_measured_on_a_gpu_alone(options):
    assert measuring.default_parts(options()) == measuring.NAMES
    assert measuring.default_parts(options("--device", "cpu")) == measuring.COMPOSED


def test_an_unknown_part_is_refused(options, capsys):
    with pytest.raises(SystemExit):
        options("--parts", "all,al")
    assert "no part 'al'; there are all, basic" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("device", "name", "slug"),
    [("cuda", "NVIDIA H200", "nvidia-h200"), ("cpu", "A(R) B @ 2.1GHz", "cpu-a-r-b-2-1ghz")],
)
def test_a_file_is_named_after_the_device(device, name, slug):
    assert measuring.slug(device, name) == slug


def test_figures_are_made_of_what_lies_there(options, tmp_path, monkeypatch, capsys):
    chosen = options()
    chosen.raw.mkdir()
    verdicts = [verdict(str(i), float(i + 1), spent_s={"lease": 0.1}) for i in range(10)]
    write_lines(chosen.raw / "all.jsonl", [outcome([]).about, *verdicts])
    words = ["--problems", chosen.problems, "--raw", chosen.raw, "--results", chosen.results]
    monkeypatch.setattr(
        sys, "argv", ["measuring.py", *map(str, words), "--device", "cuda", "--parts", "none"]
    )
    assert measuring.main() == 0
    written = json.loads((chosen.results / "device-1.json").read_text())
    assert written["parts"]["all"]["throughput"]["n"] == 10
    assert capsys.readouterr().out.strip().startswith("Device 1, torch 2.13.0")


def test_nothing_measured_is_no_success(options, monkeypatch, capsys):
    chosen = options()
    words = ["--problems", chosen.problems, "--raw", chosen.raw, "--device", "cpu"]
    monkeypatch.setattr(sys, "argv", ["measuring.py", *map(str, words), "--parts", "none"])
    assert measuring.main() == 1
    assert "nothing was measured" in capsys.readouterr().err
