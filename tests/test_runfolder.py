import subprocess
import sys
import textwrap

import pytest
import yaml

from fusewright.config import Config
from fusewright.configfile import load_config, override
from fusewright.errors import RunFolderError
from fusewright.records import Passed
from fusewright.runfolder import RunFolder, read_config


def snapshot(folder):
    return {p: p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.fixture
def begun(tmp_path):
    """A run folder that was begun with the quickstart."""
    folder = tmp_path / "run"
    with RunFolder(folder, load_config(None)) as run:
        run.ledger.append("judge", [("a", Passed(problem="a"))], Passed)
        run.ledger.append("measure", [("a", Passed(problem="a"))], Passed)
    return folder


def test_a_new_folder_says_what_it_was_begun_with(begun):
    facts = yaml.safe_load((begun / "run.yaml").read_text())

    assert {"fusewright", "torch", "python", "commit", "started", "config"} == set(facts)
    assert read_config(begun) == load_config(None)


def test_the_same_config_goes_on(begun):
    with RunFolder(begun, load_config(None)) as run:
        assert run.ledger.decided("judge") == {"a"}


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ("seed=5", "seed was 0, is 5; use another --run"),
        ("measure.memory_gb=1", "measure.memory_gb was 8.0, is 1.0; use another --run"),
        ("judge.max_eager_ms=7", "fusewright judge --run .* --set judge.max_eager_ms=7.0"),
    ],
)
def test_another_config_is_refused_and_leaves_the_folder_as_it_was(begun, changed, complaint):
    before = snapshot(begun)

    with pytest.raises(RunFolderError, match=complaint):
        RunFolder(begun, load_config(None, [changed]))
    assert snapshot(begun) == before


@pytest.mark.parametrize("name", ["fusewright", "torch"])
def test_another_version_is_refused_and_leaves_the_folder_as_it_was(begun, name):
    facts = yaml.safe_load((begun / "run.yaml").read_text())
    (begun / "run.yaml").write_text(yaml.safe_dump({**facts, name: "0.0.1"}))
    before = snapshot(begun)

    with pytest.raises(RunFolderError, match=f"written with {name} 0.0.1"):
        RunFolder(begun, load_config(None))
    assert snapshot(begun) == before


def test_another_share_to_measure_again_goes_on_and_forgets_nothing(begun):
    config = override(load_config(None), ["measure.remeasure_fraction=0.5"])
    with RunFolder(begun, config) as run:
        assert run.ledger.decided("judge") == {"a"}
    assert read_config(begun) == config


def test_a_folder_of_other_files_is_refused(tmp_path):
    (tmp_path / "thesis.txt").write_text("do not lose me")

    with pytest.raises(RunFolderError, match=r"holds other files and no run\.yaml"):
        RunFolder(tmp_path, Config())


def test_a_file_in_place_of_the_folder_is_refused(tmp_path):
    path = tmp_path / "run"
    path.write_text("")

    with pytest.raises(RunFolderError, match="is a file"):
        RunFolder(path, Config())


def test_a_broken_run_file_is_refused(begun):
    (begun / "run.yaml").write_text("config: [")

    with pytest.raises(RunFolderError, match="cannot be read"):
        RunFolder(begun, load_config(None))


def test_a_folder_without_a_run_names_the_command_that_begins_one(tmp_path):
    with pytest.raises(RunFolderError, match="fusewright run --config FILE --run"):
        read_config(tmp_path)


def test_rejudging_forgets_judge_and_keeps_what_was_measured(begun):
    config = override(load_config(None), ["judge.max_eager_ms=7"])
    with RunFolder(begun, config, rejudge=True) as run:
        assert run.ledger.decided("judge") == set()
        assert run.ledger.decided("measure") == {"a"}
    assert read_config(begun) == config


def test_rejudging_may_not_change_what_was_measured(begun):
    with pytest.raises(RunFolderError, match="seed was 0, is 1"):
        RunFolder(begun, override(load_config(None), ["seed=1"]), rejudge=True)


def test_one_process_at_a_time(begun):
    script = f"""
        from pathlib import Path
        from fusewright.configfile import load_config
        from fusewright.runfolder import RunFolder
        with RunFolder(Path({str(begun)!r}), load_config(None)):
            print("held", flush=True)
            input()
    """
    other = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert other.stdout is not None
    assert other.stdout.readline() == "held\n"

    with (
        pytest.raises(RunFolderError, match="in use by another"),
        RunFolder(begun, load_config(None)),
    ):
        pass
    other.communicate("\n")
    with RunFolder(begun, load_config(None)):
        pass


def test_what_a_kill_tore_is_swept_up(begun):
    (begun / "judge" / "000007.tmp").write_bytes(b"half")
    with RunFolder(begun, load_config(None)):
        assert not list(begun.glob("*/*.tmp"))
