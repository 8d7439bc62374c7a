import pytest

from fusewright.measure import stopwatch
from fusewright.measure.stopwatch import Stopwatch


@pytest.fixture
def clock(monkeypatch):
    """Hands of a clock that a test moves: `clock[0] += seconds`."""
    hands = [100.0]
    monkeypatch.setattr(stopwatch.time, "perf_counter", lambda: hands[0])
    return hands


def test_every_second_belongs_to_one_step(clock):
    watch = Stopwatch()
    for step, seconds in (("eager", 1.0), ("compile", 2.0), ("timing", 0.5)):
        watch.enter(step)
        clock[0] += seconds

    assert watch.take() == {"load": 0.0, "eager": 1.0, "compile": 2.0, "timing": 0.5}


def test_a_step_that_is_entered_again_goes_on(clock):
    watch = Stopwatch()
    for step, seconds in (("eager", 1.0), ("waiting", 4.0), ("eager", 2.0)):
        watch.enter(step)
        clock[0] += seconds

    assert watch.take()["eager"] == 3.0


def test_seconds_can_be_added_to_a_step_that_is_not_entered(clock):
    watch = Stopwatch()
    watch.add("lease", 1.25)
    watch.add("lease", 0.25)

    assert watch.take()["lease"] == 1.5
    assert watch.step == "load"


def test_taking_the_times_starts_anew(clock):
    watch = Stopwatch()
    watch.enter("eager")
    clock[0] += 1.0
    watch.take()
    clock[0] += 0.5

    assert watch.step == "load"
    assert watch.take() == {"load": 0.5}
