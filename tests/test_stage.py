import logging
from collections import Counter

import pytest

from fusewright.ledger import Ledger
from fusewright.records import Passed, Problem, Rejection
from fusewright.stage import each, run_stage
from fusewright.testing import make_problem


def problems(n):
    return [make_problem(f"x = {i}", seed=i) for i in range(n)]


def judge(problem):
    if problem.seed == 2:
        raise RuntimeError("boom")
    if problem.seed % 2:
        return Rejection.of(problem, "judge", "odd", "the seed is odd")
    return Passed(problem=problem.key)


def test_every_input_ends_in_kept_or_rejected(tmp_path):
    ledger, inputs = Ledger(tmp_path), problems(6)
    tally = run_stage("judge", each("judge", judge), inputs, ledger, Passed)

    assert tally.kept == 2
    assert tally.rejected == Counter(odd=3, crash=1)
    assert ledger.check("judge", [p.key for p in inputs]).inputs == 6


def test_an_exception_is_one_rejection_that_names_it(tmp_path):
    ledger, inputs = Ledger(tmp_path), problems(3)
    run_stage("judge", each("judge", judge), inputs, ledger, Passed)
    (crash,) = [r for r in ledger.rejected("judge") if r.reason == "crash"]

    assert crash.subject == inputs[2].key
    assert crash.detail == "RuntimeError: boom"


def test_what_was_decided_is_not_decided_again(tmp_path):
    ledger, inputs = Ledger(tmp_path), problems(4)
    run_stage("judge", each("judge", judge), inputs[:2], ledger, Passed)
    asked = []

    def ask(problem):
        asked.append(problem.seed)
        return Passed(problem=problem.key)

    run_stage("judge", each("judge", ask), inputs, ledger, Passed)

    assert asked == [2, 3]


def test_a_step_that_stops_halfway_keeps_what_it_decided(tmp_path, monkeypatch):
    monkeypatch.setattr("fusewright.stage.FLUSH_RECORDS", 2)
    ledger, inputs = Ledger(tmp_path), problems(6)

    def stops(records):
        for record in records[:5]:
            yield record.key, Passed(problem=record.key)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_stage("measure", stops, inputs, ledger, Passed)

    assert ledger.decided("measure") == {p.key for p in inputs[:5]}
    assert len(ledger.shards("measure")) == 3
    run_stage("measure", each("measure", judge), inputs, ledger, Passed)
    assert ledger.check("measure", [p.key for p in inputs]).inputs == 6


def test_nothing_pending_never_starts_the_step(tmp_path):
    def refuse(_):
        raise AssertionError("the step was started")

    assert run_stage("measure", refuse, [], Ledger(tmp_path), Problem).inputs == 0


def test_progress_is_logged_for_each_verdict(tmp_path, caplog):
    with caplog.at_level(logging.INFO, logger="fusewright.stage"):
        run_stage("judge", each("judge", judge), problems(3), Ledger(tmp_path), Passed)

    assert [(r.done, r.total) for r in caplog.records] == [(1, 3), (2, 3), (3, 3)]


def test_an_interrupt_while_a_shard_is_written_writes_it_once(tmp_path, monkeypatch):
    monkeypatch.setattr("fusewright.stage.FLUSH_RECORDS", 2)
    ledger, inputs = Ledger(tmp_path), problems(4)
    append = ledger.append

    def interrupted(*args):
        append(*args)
        if len(ledger.shards("judge")) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(ledger, "append", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_stage("judge", each("judge", judge), inputs, ledger, Passed)

    assert ledger.decided("judge") == {p.key for p in inputs[:2]}
    assert ledger.tally("judge").inputs == 2


def test_what_is_no_record_or_leaves_the_interpreter_costs_one_rejection(tmp_path):
    def odd(problem):
        if problem.seed:
            raise SystemExit(0)

    ledger, inputs = Ledger(tmp_path), problems(2)
    run_stage("compose", each("compose", odd), inputs, ledger, Problem)

    assert [r.detail for r in ledger.rejected("compose")] == [
        "the plug-in returned NoneType, expected a record",
        "SystemExit: 0",
    ]
