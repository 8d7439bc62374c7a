"""A sample of what was measured is measured again, once, whatever stops the run in between."""

from dataclasses import dataclass, field

import pytest

from fusewright.configfile import override
from fusewright.errors import LedgerError
from fusewright.flows.pipeline import Pipeline
from fusewright.publish.fidelity import STAGE, in_sample, of_run
from fusewright.records import Measurement, Problem, Rejection
from fusewright.runfolder import RunFolder
from fusewright.testing import FakeMeter, make_problem

from .runs import small_config

FRACTION = 0.5
PROBLEMS = [make_problem(seed=n) for n in range(40)]


class UnpluggedError(Exception):
    """The device is gone."""


@dataclass(frozen=True)
class Noting(FakeMeter):
    """Note what is measured again, and break where it was told to."""

    asked: list[str] = field(default_factory=list)
    break_at: int | None = None
    starts: list[str] = field(default_factory=list)

    def __enter__(self):
        self.starts.append("started")
        return self

    def remeasure(self, problems):
        for verdict in super().remeasure(problems):
            if len(self.asked) == self.break_at:
                raise UnpluggedError
            self.asked.append(verdict.problem)
            yield verdict


class Once:
    """A meter of the least kind: it cannot measure again."""

    name = "once"
    measure = FakeMeter().measure

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """Nothing was started."""


class Losing(FakeMeter):
    """Say nothing of the first problem of each batch."""

    def remeasure(self, problems):
        return super().remeasure(problems[1:])


class Refusing(FakeMeter):
    """Turn everything away the second time."""

    def remeasure(self, problems):
        return (Rejection.of(p, "measure", "noisy_timing") for p in problems)


@pytest.fixture
def config(tmp_path):
    config = small_config(tmp_path / "plugins")
    return override(config, [f"measure.remeasure_fraction={FRACTION}"])


@pytest.fixture
def again(tmp_path, config, monkeypatch):
    """Measure `PROBLEMS` if need be, and the sample again by *meter*; returns the ledger."""

    def again(meter, *sets):
        monkeypatch.setattr("fusewright.assemble.meter", lambda _: meter)
        with (
            RunFolder(tmp_path / "run", override(config, sets)) as run,
            Pipeline(run) as pipeline,
        ):
            if not run.ledger.shards("compose"):
                run.ledger.append("compose", [(p.key, p) for p in PROBLEMS], Problem)
                verdicts = [(p.key, v) for p in PROBLEMS for v in FakeMeter().measure([p])]
                run.ledger.append("measure", verdicts, Measurement)
            pipeline.decide_all(STAGE)
        return run.ledger

    return again


def sample(ledger, fraction=FRACTION):
    kept = {key for key, _ in ledger.kept_by_subject("measure", Measurement)}
    return {key for key in kept if in_sample(key, fraction)}


def test_exactly_the_sample_of_the_measured_is_measured_again(again):
    ledger = again(FakeMeter())
    assert ledger.decided(STAGE) == sample(ledger)
    assert 0 < len(sample(ledger)) < ledger.tally("measure").kept


def test_a_sitting_that_broke_off_goes_on_and_measures_nothing_a_third_time(again):
    broken, whole = Noting(break_at=5), Noting()
    with pytest.raises(UnpluggedError):
        again(broken)
    ledger = again(whole)
    assert len(broken.asked) == 5
    assert not set(broken.asked) & set(whole.asked)
    assert {*broken.asked, *whole.asked} == ledger.decided(STAGE) == sample(ledger)


def test_a_whole_sample_starts_no_meter(again):
    again(FakeMeter())
    idle = Noting()
    again(idle)
    assert idle.starts == []


def test_a_larger_share_measures_only_what_it_adds(again):
    small, large = Noting(), Noting()
    again(small)
    ledger = again(large, "measure.remeasure_fraction=1")
    assert set(large.asked) == sample(ledger, 1) - set(small.asked)
    assert of_run(ledger, 1)["eager"]["rows"] == ledger.tally("measure").kept


def test_a_smaller_share_keeps_what_was_measured_and_counts_its_own(again):
    before = again(FakeMeter()).decided(STAGE)
    ledger = again(FakeMeter(), "measure.remeasure_fraction=0.2")
    assert ledger.decided(STAGE) == before
    assert of_run(ledger, 0.2)["eager"]["rows"] == len(sample(ledger, 0.2)) < len(before)


def test_no_share_starts_no_meter_and_gives_no_figures(again):
    idle = Noting()
    ledger = again(idle, "measure.remeasure_fraction=0")
    assert idle.starts == []
    assert of_run(ledger, 0) is None


def test_a_meter_that_cannot_measure_again_gives_no_figures(again):
    assert of_run(again(Once()), FRACTION) is None


def test_the_deviation_of_the_meter_is_what_the_figures_tell(again):
    made = of_run(again(FakeMeter(deviation=-0.01)), FRACTION)
    assert made["eager"]["p50"] == pytest.approx(0.01)
    assert made["compiled"]["p50"] == pytest.approx(0.02)


def test_what_is_turned_away_the_second_time_is_counted(again):
    ledger = again(Refusing())
    assert of_run(ledger, FRACTION)["rejected"] == {"noisy_timing": len(sample(ledger))}


def test_a_meter_that_loses_part_of_the_sample_is_an_error(again):
    with pytest.raises(LedgerError, match=r"remeasure: .* without a verdict"):
        again(Losing())
