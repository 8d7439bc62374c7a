"""The command line as a person uses it: in a process of its own, by exit code and output."""

import json
import subprocess
import sys

import polars as pl
import pytest
import yaml

from fusewright.cli import COMMANDS
from fusewright.ledger import Ledger

from ..flows.runs import copy_of, files_of, funnel_of, small_config

ODD = """
class source:
    name = "odd"
    def operators(self):
        yield "torch.relu"
"""


def fusewright(*words, cwd=None):
    """Run one command."""
    return subprocess.run(
        [sys.executable, "-m", "fusewright", *map(str, words)],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A whole run by `fusewright run`: a real Prefect flow, real mining, a meter of no device."""
    folder = tmp_path_factory.mktemp("cli")
    broken = [{"name": "plugins/broken.py"}, {"name": "plugins/odd.py"}]
    sources = [{"name": str(folder / "plugins/source.py")}, *broken]
    config = small_config(folder / "plugins", mine={"sources": sources})
    (folder / "plugins/broken.py").write_text("import no_such_package\n")
    (folder / "plugins/odd.py").write_text(ODD)
    (folder / "small.yaml").write_text(yaml.safe_dump(config.model_dump(mode="json")))
    done = fusewright("run", "--config", "small.yaml", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder, done


def test_a_run_ends_with_the_funnel_and_the_paths_of_what_it_made(finished):
    folder, done = finished

    assert "Funnel" in done.stdout
    assert "runs/small/release/dashboard.html" in done.stdout
    assert (folder / "runs/small/release/dashboard.html").is_file()
    assert len(funnel_of(folder / "runs/small/release")) == 7


def test_a_broken_source_costs_a_run_itself_and_a_line(finished):
    folder, done = finished
    broken, odd = (line for line in done.stderr.splitlines() if "go on" in line or "odd" in line)

    assert "plug-in file plugins/broken.py fails: ModuleNotFoundError" in broken
    assert "operator source 'odd': 1 of 1 turned away (invalid_operator 1)" in odd
    assert Ledger(folder / "runs/small").tally("mine").rejected == {
        "invalid_source": 1,
        "invalid_operator": 1,
    }


def test_listing_tells_of_a_broken_source_on_standard_error(finished):
    folder, _ = finished
    done = fusewright("operators", "--config", "small.yaml", "--format", "json", cwd=folder)

    assert len(json.loads(done.stdout)) == 9
    lines = [line.split()[0] for line in done.stderr.strip().splitlines()]
    assert [word for word in lines if word != "mine"] == ["plug-in", "operator"]


def test_conservation_of_each_stage_is_printed_on_standard_error(finished):
    _, done = finished

    for stage in ("mine", "compose", "screen", "measure", "judge", "select"):
        assert f"{stage}: " in done.stderr
    assert "in = " in done.stderr


def test_the_same_command_again_changes_nothing(finished):
    folder, _ = finished
    before = files_of(folder / "runs/small")
    done = fusewright("run", "--config", "small.yaml", cwd=folder)

    assert done.returncode == 0
    after = files_of(folder / "runs/small")
    assert {n for n in before if before[n] != after.get(n)} <= {"run.yaml"}
    assert before["run.yaml"] == after["run.yaml"]


def test_a_run_goes_on_without_being_told_its_config(finished):
    folder, _ = finished

    assert fusewright("run", "--run", "runs/small", cwd=folder).returncode == 0


def test_every_stage_is_a_command_of_its_own(finished, tmp_path):
    folder, _ = finished
    run = tmp_path / "run"
    words = [
        (
            "compose",
            "--config",
            folder / "small.yaml",
            "--composer",
            "graph",
            "--n",
            8,
            "--seed",
            5,
            "--no-check",
        ),
        ("screen",),
        ("measure",),
        ("judge",),
        ("select",),
        ("release",),
    ]
    for command, *options in words:
        done = fusewright(command, *options, "--run", run, cwd=folder)
        assert done.returncode == 0, (command, done.stderr)
    codes = pl.read_parquet(run / "compose" / "*.parquet")["code"].to_list()

    assert len(codes) == len(set(codes)) == 8
    assert [line["stage"] for line in funnel_of(run / "release")][-1] == "release"


def test_composing_again_with_the_same_seed_adds_nothing(finished, tmp_path):
    folder, _ = finished
    run = copy_of(folder / "runs/small", tmp_path / "run")
    before = Ledger(run).tally("compose").kept
    words = ("compose", "--composer", "graph", "--no-check", "--run", run)
    fusewright(*words, "--n", 5, "--seed", 0, cwd=folder)
    same = Ledger(run).tally("compose").kept
    fusewright(*words, "--n", 5, "--seed", 10_000, cwd=folder)

    assert (same, Ledger(run).tally("compose").kept) == (before, before + 5)


def test_composing_says_what_was_drawn_and_that_it_runs(finished, tmp_path):
    folder, _ = finished
    run = copy_of(folder / "runs/small", tmp_path / "run")
    done = fusewright("compose", "--composer", "graph", "--n", 6, "--seed", 500, "--run", run)

    assert done.returncode == 0, done.stderr
    rows = {line.split("│")[0].strip(): line for line in done.stdout.splitlines()}
    assert "6 of 6 (100.00%)" in rows["run at tiny sizes"]
    assert "0.00%" in rows["exact duplicates"]
    assert {"candidates per s", "distinct skeletons", "operators in use", "commonest"} <= set(rows)


def test_a_short_release_is_made_and_exits_with_1(finished, tmp_path):
    folder, _ = finished
    done = fusewright(
        "run", "--config", "small.yaml", "--set", "limits.candidates=8",
        "--run", tmp_path / "short", cwd=folder,
    )  # fmt: skip

    assert done.returncode == 1
    assert "the release is short" in done.stderr
    assert (tmp_path / "short" / "release" / "README.md").is_file()


def test_judging_anew_takes_other_thresholds(finished, tmp_path):
    folder, _ = finished
    run = copy_of(folder / "runs/small", tmp_path / "run")
    done = fusewright("judge", "--run", run, "--set", "judge.max_eager_ms=10", cwd=folder)

    assert done.returncode == 0, done.stderr
    assert "too_slow" in done.stdout


def test_explain_tells_the_life_of_a_candidate_by_key_and_by_row(finished):
    folder, _ = finished
    run = folder / "runs/small"
    row = pl.read_parquet(run / "release" / "data" / "*.parquet").row(0, named=True)
    done = fusewright("explain", row["id"], "--run", run)

    assert done.returncode == 0
    for stage in ("compose", "screen", "measure", "judge", "select"):
        assert stage in done.stdout
    assert "class Model" in done.stdout


def test_measuring_again_takes_another_share_and_explain_shows_it(finished, tmp_path):
    folder, _ = finished
    run = copy_of(folder / "runs/small", tmp_path / "run")
    done = fusewright("measure", "--run", run, "--set", "measure.remeasure_fraction=1", cwd=folder)
    assert done.returncode == 0, done.stderr
    ledger = Ledger(run)
    assert ledger.tally("remeasure").inputs == ledger.tally("measure").kept

    key = next(iter(ledger.decided("remeasure")))
    assert "remeasure" in fusewright("explain", key, "--run", run).stdout
    assert fusewright("release", "--run", run, cwd=folder).returncode == 0
    manifest = json.loads((run / "release" / "stats" / "manifest.json").read_text())
    assert manifest["fidelity"]["eager"]["rows"] == ledger.tally("remeasure").kept


def test_json_has_standard_output_to_itself(finished):
    folder, _ = finished
    source = folder / "plugins" / "source.py"
    done = fusewright("operators", "--source", source, "--format", "json")
    listed = json.loads(done.stdout)

    assert {"name", "family", "source", "kind", "license", "flags"} <= set(listed[0])
    assert len({operator["name"] for operator in listed}) == len(listed) == 9


def test_fingerprints_that_were_made_here_keep_candidates_away(finished, tmp_path):
    folder, _ = finished
    (tmp_path / "texts").mkdir()
    frame = pl.read_parquet(folder / "runs/small/compose/*.parquet")
    for index, code in enumerate(frame["code"].to_list()[:3]):
        (tmp_path / "texts" / f"{index}.py").write_text(code)
    made = fusewright(
        "benchmark", "fingerprint", tmp_path / "texts", "--out", tmp_path / "own.parquet"
    )
    run = tmp_path / "run"
    for words in (
        ("compose", "--config", folder / "small.yaml", "--composer", "graph", "--n", 5),
        ("screen",),
    ):
        sets = ("--set", f"screen.benchmarks=[{tmp_path / 'own.parquet'}]")
        options = sets if words[0] == "compose" else ()
        done = fusewright(*words, *options, "--run", run, cwd=folder)
        assert done.returncode == 0, done.stderr

    assert made.returncode == 0, made.stderr
    assert Ledger(run).tally("screen").rejected["near_benchmark"] == 3


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("run", "--config", "nope.yaml"), "nope.yaml does not exist"),
        (("run", "--set", "mesure.device=cpu"), "did you mean 'measure'?"),
        (("run", "--set", "judge.min_eager_ms=-1"), "greater than 0"),
        (("run", "--set", "judge.min_eager_ms=2000"), "is above max_eager_ms"),
        (("run", "--set", "compose.composers=[{name: grph}]"), "did you mean 'graph'?"),
        (("run", "--set", "screen.benchmarks=[nope]"), "kernelbench"),
        (("run", "--set", "measure.meter=broken.py"), "broken.py fails: ZeroDivisionError"),
        (("run", "--run", "other"), "holds other files"),
        (("judge", "--run", "nowhere"), "is no run folder"),
        (("explain", "ab", "--run", "nowhere"), "is no run folder"),
        (("compose", "--run", "x", "--n", "3"), "--composer and --n go together"),
        (("compose", "--run", "x", "--composer", "graph", "--n", "0"), "positive number"),
        (("operators", "--source", "nope"), "no operator plug-in 'nope'"),
        (("operators", "--source", "broken.py"), "ZeroDivisionError"),
        (("run", "--set", "mine.sources=[{name: functoins}]"), "did you mean 'functions'?"),
        (
            ("mine", "--run", "x", "--set", "mine.sources=[{name: gone.py}]"),
            "gone.py does not exist",
        ),
        (("audit", "nowhere"), "is no source"),
        (("audit", "other", "--window", "5"), "expected LO,HI"),
        (("publish", "--run", "nowhere", "--repo", "a/b"), "is no run folder"),
        (("serve", "--cron", "0 3 * * 1"), "serve needs a Prefect server"),
        (("frobnicate",), "frobnicate"),
        (("run", "--frobnicate"), "frobnicate"),
        (("judge",), "run"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_wrong_call_is_one_line_exit_2_and_touches_nothing(tmp_path, words, complaint):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").write_text("do not lose me")
    (tmp_path / "broken.py").write_text("1 / 0\n")
    before = files_of(tmp_path)
    done = fusewright(*words, cwd=tmp_path)

    assert done.returncode == 2, done.stderr
    assert complaint in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert done.stdout == ""
    after = files_of(tmp_path)
    assert {name: text for name, text in after.items() if "__pycache__" not in name} == before


def test_another_config_is_refused_and_the_run_is_as_it_was(finished):
    folder, _ = finished
    before = files_of(folder / "runs")
    done = fusewright("run", "--config", "small.yaml", "--set", "seed=3", cwd=folder)

    assert done.returncode == 2
    assert "seed was 0, is 3" in done.stderr
    assert files_of(folder / "runs") == before


def test_help_names_every_command():
    done = fusewright("--help")

    assert done.returncode == 0
    for command in COMMANDS:
        assert command in done.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command):
    assert fusewright(command, "--help").returncode == 0
