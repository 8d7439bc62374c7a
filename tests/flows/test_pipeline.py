"""The plain pipeline over real stages, with a meter that needs no device."""

import itertools
import os
import random
import shutil
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from fusewright.config import LimitSettings
from fusewright.configfile import override
from fusewright.errors import LedgerError, PluginError, RunFolderError
from fusewright.flows.pipeline import BATCHED, STAGES, Pipeline
from fusewright.flows.rounds import LEAST_ROUND, next_round, shared_out
from fusewright.ledger import Ledger
from fusewright.records import Passed, Rejection
from fusewright.runfolder import RunFolder
from fusewright.testing import make_problem

from .runs import copy_of, files_of, funnel_of, ids_of, small_config, verdicts_of

EVERY = ("draw", *STAGES, "remeasure")
RUN = """
    from pathlib import Path
    from fusewright.flows.pipeline import BATCHED, Pipeline
    from fusewright.runfolder import RunFolder, read_config
    folder = Path({folder!r})
    with RunFolder(folder, read_config(folder)) as run, Pipeline(run) as pipeline:
        print("running", flush=True)
        pipeline.mine()
        for _ in pipeline.rounds():
            for stage in BATCHED:
                pipeline.decide_all(stage)
        pipeline.decide_all("remeasure")
        pipeline.select()
        pipeline.release()
"""


def run_whole(folder, config):
    """Run every stage in this process; returns the rows."""
    with RunFolder(folder, config) as run, Pipeline(run) as pipeline:
        pipeline.mine()
        for _ in pipeline.rounds():
            for stage in BATCHED:
                pipeline.decide_all(stage)
        pipeline.decide_all("remeasure")
        rows = pipeline.select()
        pipeline.release()
    return rows


@pytest.fixture(scope="module")
def whole(mined, small, tmp_path_factory):
    """A run that nothing interrupted."""
    folder = copy_of(mined, tmp_path_factory.mktemp("whole") / "run")
    assert run_whole(folder, small) == small.select.target
    return folder


def test_every_stage_conserves_its_inputs(whole):
    stages = funnel_of(whole / "release")

    assert [line["stage"] for line in stages] == [*STAGES, "release"]
    for before, line in itertools.pairwise(stages[1:]):
        assert line["inputs"] == before["kept"]
    for line in stages:
        assert line["inputs"] == line["kept"] + sum(line["rejected"].values())


def test_the_target_is_met_exactly_and_the_rest_is_kept_as_surplus(whole, small):
    tally = Ledger(whole).tally("select")

    assert tally.kept == small.select.target == len(ids_of(whole / "release"))
    assert set(tally.rejected) <= {"surplus"}


def test_a_second_run_does_nothing_and_writes_the_same_bytes(whole, small, tmp_path):
    folder = copy_of(whole, tmp_path / "run")
    before = {stage: Ledger(folder).shards(stage) for stage in EVERY}
    files = files_of(folder / "release")
    run_whole(folder, small)

    assert {stage: Ledger(folder).shards(stage) for stage in EVERY} == before
    assert files_of(folder / "release") == files


def test_a_run_killed_at_random_moments_ends_as_one_that_was_not(whole, mined, tmp_path):
    chance = random.Random(0)
    folder = copy_of(mined, tmp_path / "run")
    script = textwrap.dedent(RUN.format(folder=str(folder)))
    kills, status = 0, None
    while status != 0:
        runner = subprocess.Popen(
            [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert runner.stdout is not None
        runner.stdout.readline()
        if kills < 8:
            time.sleep(chance.uniform(0.0, 1.2))
            os.kill(runner.pid, signal.SIGKILL)
        status = runner.wait(timeout=120)
        runner.stdout.close()
        kills += status == -signal.SIGKILL
        assert status in (0, -signal.SIGKILL)

    assert kills >= 3
    assert verdicts_of(Ledger(folder), EVERY) == verdicts_of(Ledger(whole), EVERY)
    assert files_of(folder / "release") == files_of(whole / "release")


def test_other_thresholds_are_judged_without_measuring_again(whole, small, tmp_path):
    folder = copy_of(whole, tmp_path / "run")
    measured = Ledger(folder).shards("measure")
    stricter = override(small, ["judge.max_eager_ms=20"])
    with RunFolder(folder, stricter, rejudge=True) as run, Pipeline(run) as pipeline:
        pipeline.decide_all("judge")
        rows = pipeline.select()

    ledger = Ledger(folder)
    slow, slow_before = (run.tally("judge").rejected["too_slow"] for run in (ledger, Ledger(whole)))
    assert ledger.shards("measure") == measured
    assert slow > slow_before
    assert rows == ledger.tally("select").kept


def test_a_limit_ends_the_rounds_though_the_target_is_not_met(mined, tmp_path):
    config = small_config(tmp_path / "plugins", limits={"candidates": 10})
    with RunFolder(tmp_path / "run", config) as run:
        shutil.copy(mined / "operators.parquet", run.operators_file)
        shutil.copytree(mined / "mine", run.path / "mine")
    rows = run_whole(tmp_path / "run", config)

    assert rows < config.select.target
    assert Ledger(tmp_path / "run").tally("compose").inputs == 10
    assert len(ids_of(tmp_path / "run" / "release")) == rows


def test_a_ledger_that_lost_a_verdict_is_an_error_and_no_release(mined, small, tmp_path):
    folder = copy_of(mined, tmp_path / "run")
    with RunFolder(folder, small) as run, Pipeline(run) as pipeline:
        next(pipeline.rounds())
        pipeline.decide_all("compose")
        stray = make_problem("x = 1")
        run.ledger.append("screen", [(stray.key, Rejection.of(stray, "screen", "odd"))], Passed)

        with pytest.raises(LedgerError, match="1 doubled or unasked"):
            pipeline.finish("screen")


def test_a_broken_plug_in_is_one_line_and_touches_nothing_measured(tmp_path):
    config = small_config(tmp_path / "plugins")
    (tmp_path / "plugins" / "meter.py").write_text("raise RuntimeError('no')")
    with RunFolder(tmp_path / "run", config) as run, Pipeline(run) as pipeline:
        with pytest.raises(PluginError, match=r"meter\.py fails: RuntimeError: no"):
            pipeline.decide("measure", [make_problem()])
        assert run.ledger.shards("measure") == []


def test_rounds_go_on_past_seeds_that_were_drawn_by_hand(mined, small, tmp_path):
    folder = copy_of(mined, tmp_path / "run")
    with RunFolder(folder, small) as run, Pipeline(run) as pipeline:
        pipeline.draw("graph", range(5, 13))
        pipeline.draw("graph", range(5, 13))
    run_whole(folder, small)
    seeds = Ledger(folder).frame("draw")["seed"].to_list()

    assert len(seeds) == len(set(seeds))
    assert min(seeds[8:]) == 13


def test_one_run_has_one_roofline_and_one_device(mined, small, tmp_path):
    folder = copy_of(mined, tmp_path / "run")
    first = {"name": "a", "peaks": {"bytes_per_s": 1.0}}
    with RunFolder(folder, small) as run:
        assert run.same_device(first) == first
        assert run.same_device({"name": "a", "peaks": {"bytes_per_s": 2.0}}) == first
        with pytest.raises(RunFolderError, match="was measured on a, this is b"):
            run.same_device({"name": "b", "peaks": {}})


def test_composers_share_the_candidates_in_every_stretch(small):
    shares = [{"name": "graph", "share": 3.0}, {"name": "llm", "share": 1.0}]
    config = override(small, [f"compose.composers={shares}"])
    draws = shared_out(config.compose.composers, 100, 40)

    assert [draw.seed for draw in draws] == list(range(100, 140))
    for start in range(0, 40, 4):
        names = [draw.composer for draw in draws[start : start + 4]]
        assert (names.count("graph"), names.count("llm")) == (3, 1)


LIMITS = LimitSettings(candidates=1000)


@pytest.mark.parametrize(
    ("target", "survivors", "composed", "expected"),
    [
        (100, 0, 0, 147),
        (100, 100, 150, 0),
        (100, 90, 200, 25),
        (100, 99, 200, LEAST_ROUND),
        (100, 50, 1000, 0),
        (100, 10, 990, 10),
        (100, 0, 200, 200),
    ],
    ids=[
        "first: by the expected yield",
        "target met",
        "by the yield so far, and a margin",
        "never a handful",
        "limit reached",
        "what the limit leaves",
        "nothing survived: no more than doubled",
    ],
)
def test_the_next_round_follows_the_yield(target, survivors, composed, expected):
    assert next_round(target, survivors, composed, LIMITS) == expected
