import os
import signal
import subprocess
import sys
import textwrap
from collections import Counter

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusewright.errors import LedgerError
from fusewright.ledger import Ledger, write_atomic
from fusewright.records import Measurement, Problem, Rejection
from fusewright.schema import schema_of
from fusewright.testing import make_measurement, make_problem


def problems(n):
    return [make_problem(f"x = {i}", seed=i) for i in range(n)]


def test_what_was_kept_comes_back_equal_and_in_order(tmp_path):
    ledger = Ledger(tmp_path)
    given_problems = problems(5)
    ledger.append("compose", [(p.key, p) for p in given_problems[:2]], Problem)
    ledger.append("compose", [(p.key, p) for p in given_problems[2:]], Problem)

    assert list(ledger.kept("compose", Problem)) == given_problems


def test_a_measurement_survives_the_round_trip_with_its_nested_fields(tmp_path):
    ledger = Ledger(tmp_path)
    measurement = make_measurement(make_problem())
    ledger.append("measure", [(measurement.problem, measurement)], Measurement)

    assert list(ledger.kept("measure", Measurement)) == [measurement]


@given(
    value=st.none() | st.floats(allow_nan=False, allow_infinity=False),
    detail=st.text(st.characters(codec="utf-8")),
)
def test_a_rejection_survives_the_round_trip(tmp_path_factory, value, detail):
    ledger = Ledger(tmp_path_factory.mktemp("ledger"))
    problem = make_problem()
    rejection = Rejection.of(problem, "screen", "too_odd", detail, value=value, limit=1.0)
    ledger.append("screen", [(problem.key, rejection)], Problem)

    assert list(ledger.rejected("screen")) == [rejection]


def test_a_shard_of_rejections_alone_agrees_with_a_shard_of_kept_records(tmp_path):
    ledger = Ledger(tmp_path)
    first, second = problems(2)
    ledger.append("screen", [(first.key, Rejection.of(first, "screen", "bad"))], Problem)
    ledger.append("screen", [(second.key, second)], Problem)

    assert ledger.frame("screen").height == 2
    assert ledger.tally("screen").kept == 1
    assert ledger.tally("screen").rejected == Counter(bad=1)


def test_an_unwritten_stage_is_empty_and_not_an_error(tmp_path):
    ledger = Ledger(tmp_path)

    assert ledger.frame("judge").is_empty()
    assert ledger.decided("judge") == set()
    assert ledger.tally("judge").inputs == 0


@pytest.mark.parametrize(
    ("written", "inputs", "complaint"),
    [
        ([0, 1], [0, 1, 2], "1 without a verdict"),
        ([0, 1, 1], [0, 1], "1 doubled or unasked"),
        ([0, 1], [0], "1 doubled or unasked"),
    ],
    ids=["lost", "doubled", "unasked"],
)
def test_conservation_names_a_record_that_is(tmp_path, written, inputs, complaint):
    ledger = Ledger(tmp_path)
    all_problems = problems(3)
    for index in written:
        ledger.append("screen", [(all_problems[index].key, all_problems[index])], Problem)

    with pytest.raises(LedgerError, match=complaint):
        ledger.check("screen", [all_problems[i].key for i in inputs])


def test_conservation_holds_when_every_input_has_one_verdict(tmp_path):
    ledger = Ledger(tmp_path)
    kept, rejected = problems(2)
    verdicts = [(kept.key, kept), (rejected.key, Rejection.of(rejected, "screen", "bad"))]
    ledger.append("screen", verdicts, Problem)

    assert ledger.check("screen", [kept.key, rejected.key]).inputs == 2


def test_a_torn_shard_is_invisible(tmp_path):
    ledger = Ledger(tmp_path)
    (problem,) = problems(1)
    ledger.append("screen", [(problem.key, problem)], Problem)
    (tmp_path / "screen" / "000001.tmp").write_bytes(b"half a par")

    assert ledger.decided("screen") == {problem.key}


def test_a_full_disk_leaves_what_was_there(tmp_path):
    ledger = Ledger(tmp_path)
    (problem,) = problems(1)
    ledger.append("screen", [(problem.key, problem)], Problem)
    script = f"""
        import resource, signal
        import polars as pl
        from pathlib import Path
        from fusewright.ledger import write_atomic
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
        path = Path({str(tmp_path)!r}) / "screen" / "000001.parquet"
        write_atomic(path, pl.DataFrame({{"a": [1]}}))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=False
    )

    assert done.returncode != 0, "the write was meant to fail"
    assert ledger.decided("screen") == {problem.key}
    assert len(ledger.shards("screen")) == 1


def test_a_writer_killed_at_any_moment_leaves_whole_shards(tmp_path):
    script = f"""
        from pathlib import Path
        from fusewright.ledger import Ledger
        from fusewright.records import Problem
        from fusewright.testing import make_problem
        ledger = Ledger(Path({str(tmp_path)!r}))
        print("ready", flush=True)
        for i in range(100000):
            p = make_problem(f"x = {{i}}", seed=i)
            ledger.append("compose", [(p.key, p)], Problem)
    """
    writer = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    assert writer.stdout.readline() == "ready\n"
    while len(Ledger(tmp_path).shards("compose")) < 20:
        assert writer.poll() is None
    os.kill(writer.pid, signal.SIGKILL)
    writer.wait()
    writer.stdout.close()
    kept = list(Ledger(tmp_path).kept("compose", Problem))

    assert [p.seed for p in kept] == list(range(len(kept)))
    assert len(kept) >= 20


def test_reset_forgets_one_stage_alone(tmp_path):
    ledger = Ledger(tmp_path)
    (problem,) = problems(1)
    for stage in ("judge", "select"):
        ledger.append(stage, [(problem.key, problem)], Problem)
    ledger.reset("select")

    assert ledger.decided("select") == set()
    assert ledger.decided("judge") == {problem.key}


def test_write_atomic_leaves_no_temporary_file(tmp_path):
    write_atomic(tmp_path / "a.parquet", pl.DataFrame({"a": [1]}))

    assert [p.name for p in tmp_path.iterdir()] == ["a.parquet"]


def test_a_field_without_a_column_type_is_named():
    class Odd(Problem):
        extra: dict[str, int]

    with pytest.raises(TypeError, match="dict"):
        schema_of(Odd)


def test_an_unreadable_shard_is_named_and_a_stray_file_is_left_alone(tmp_path):
    ledger = Ledger(tmp_path)
    (problem,) = problems(1)
    ledger.append("screen", [(problem.key, problem)], Problem)
    (tmp_path / "screen" / "mine.parquet").write_bytes(b"not ours")

    assert ledger.decided("screen") == {problem.key}
    (tmp_path / "screen" / "000000.parquet").write_bytes(b"")
    with pytest.raises(LedgerError, match=r"000000\.parquet cannot be read"):
        ledger.frame("screen")


def test_a_message_that_no_file_can_hold_is_escaped(tmp_path):
    ledger = Ledger(tmp_path)
    (problem,) = problems(1)
    rejection = Rejection.of(problem, "screen", "odd", "half a character: \ud800")
    ledger.append("screen", [(problem.key, rejection)], Problem)

    assert [r.detail for r in ledger.rejected("screen")] == ["half a character: \\ud800"]
