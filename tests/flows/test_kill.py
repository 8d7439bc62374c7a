"""The whole flow on real measurements, killed with SIGKILL while it composes and measures."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from fusewright.flows.pipeline import STAGES
from fusewright.ledger import Ledger

from .runs import ids_of, small_config, verdicts_of

EVERY = ("draw", *STAGES, "remeasure")


def start(folder, config_file):
    return subprocess.Popen(
        [sys.executable, "-m", "fusewright", "run", "--config", str(config_file),
         "--run", str(folder)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip


def children_of(pid):
    """Processes below *pid*, at any depth."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found, front = [], [pid]
    while front:
        front = [child for parent in front for child in parents.get(parent, [])]
        found += front
    return found


def wait_until_gone(pids):
    for _ in range(200):
        if not any(Path(f"/proc/{pid}/exe").exists() for pid in pids):
            return
        time.sleep(0.05)
    pytest.fail("a killed run left processes behind")


@pytest.fixture(scope="module")
def config_file(mined, tmp_path_factory):
    """Eight candidates on the real meter; every window wide, as on a noisy machine."""
    folder = tmp_path_factory.mktemp("real")
    config = small_config(
        folder / "plugins",
        measure={
            "device": "cpu", "workers": 2, "max_spread": None, "budget_ms": 5, "warmup_ms": 1,
            "remeasure_fraction": 0.4,
        },
        judge={"min_eager_ms": 0.001, "max_eager_ms": 10_000, "min_headroom": None},
        select={"target": 8, "runtime_strata": False},
        limits={"candidates": 8},
    )  # fmt: skip
    (folder / "real.yaml").write_text(yaml.safe_dump(config.model_dump(mode="json")))
    return folder / "real.yaml"


def test_a_killed_run_ends_with_the_same_ledger_and_survivors(config_file, tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert start(whole, config_file).wait(timeout=300) in (0, 1)
    for stage in ("mine", "measure"):
        runner = start(killed, config_file)
        while not Ledger(killed).shards(stage):
            assert runner.poll() is None, f"the run ended before {stage} had a shard"
            time.sleep(0.01)
        below = children_of(runner.pid)
        os.kill(runner.pid, signal.SIGKILL)
        runner.wait()
        wait_until_gone(below)
    assert start(killed, config_file).wait(timeout=300) in (0, 1)

    assert verdicts_of(Ledger(killed), EVERY) == verdicts_of(Ledger(whole), EVERY)
    assert ids_of(killed / "release") == ids_of(whole / "release")
    assert ids_of(whole / "release")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_ends_at_once_in_one_line_and_goes_on(config_file, tmp_path, number):
    runner = subprocess.Popen(
        [sys.executable, "-m", "fusewright", "run", "--config", str(config_file),
         "--run", str(tmp_path / "run")],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    while not Ledger(tmp_path / "run").shards("screen"):
        assert runner.poll() is None
        time.sleep(0.05)
    below = children_of(runner.pid)
    # As a terminal does it: everything in the foreground hears of it, the server too.
    os.killpg(runner.pid, number)
    _, said = runner.communicate(timeout=20)
    wait_until_gone(below)

    assert runner.returncode == 1
    assert said.strip().splitlines()[-1].startswith("fusewright: interrupted")
    assert "Traceback" not in said
    assert Ledger(tmp_path / "run").tally("screen").kept == 8
