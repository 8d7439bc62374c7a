"""Figures of one part."""

import pytest

import figures

from .lines import outcome, verdict

WINDOW_MS = (1.0, 100.0)


def ticking(count, gap_s=1.0, lease_s=0.5):
    """One verdict each *gap_s*, the first after ten seconds."""
    return outcome(
        verdict(str(i), 10.0 + i * gap_s, spent_s={"lease": lease_s}) for i in range(count)
    )


def test_boot_is_counted_in_up_to_the_last_verdict():
    found = figures.throughput(ticking(11))
    assert (found["n"], found["per_hour"]) == (11, pytest.approx(11 / 20 * 3600))
    assert (found["boot_s"], found["first_s"], found["last_s"]) == (5.0, 10.0, 20.0)


def test_steady_leaves_out_the_first_and_the_last_tenth():
    slow_ends = [0.0, *range(100, 109), 1000.0]
    found = figures.throughput(outcome(verdict(str(at), float(at)) for at in slow_ends))
    assert found["steady_n"] == 8
    assert found["steady_s"] == 8.0
    assert found["steady_per_hour"] == pytest.approx(3600)


def test_nothing_decided_is_no_rate():
    found = figures.describe(outcome([]), WINDOW_MS)
    assert found["throughput"]["n"] == 0
    assert found["throughput"]["per_hour"] is None
    assert found["throughput"]["steady_per_hour"] is None
    assert found["lease"]["mean_s"] is None


def test_the_lease_is_busy_for_the_share_that_steady_candidates_held_it():
    assert figures.lease(ticking(100))["busy_share"] == pytest.approx(0.5)
    assert figures.lease(outcome([verdict("one", 1.0)]))["busy_share"] is None


def test_a_lease_is_averaged_over_those_that_told():
    told = [verdict(str(s), spent_s={"lease": s}) for s in (1.0, 2.0, 6.0)]
    at_load = verdict("no lease", reason="init_error", spent_s={"load": 0.1})
    found = figures.lease(outcome([*told, at_load, verdict("dead", reason="crash")]))
    assert found["n"] == 4
    assert found["mean_s"] == pytest.approx(9 / 4)
    assert found["p50_s"] == pytest.approx(1.5)


def test_the_lease_splits_into_its_steps_and_what_they_leave():
    spent = {"load": 0.2, "waiting": 3.0, "eager": 0.25, "timing": 0.5, "lease": 1.0}
    found = figures.steps(outcome([verdict("a", spent_s=spent), verdict("b", spent_s={})]))
    assert found["n"] == 2
    assert found["lease"]["eager"] == pytest.approx(0.125)
    assert found["lease"]["timing"] == pytest.approx(0.25)
    assert found["lease"]["other"] == pytest.approx(0.125)
    assert found["outside"]["waiting"] == pytest.approx(1.5)
    assert sum(found["lease"].values()) == pytest.approx(0.5)


def test_rejections_are_counted_by_reason_most_frequent_first():
    reasons = ("timeout", "crash", "crash")
    found = figures.tally(
        outcome([verdict("a"), *(verdict(str(i), reason=r) for i, r in enumerate(reasons))])
    )
    assert found == {"n": 4, "measured": 1, "rejected": {"crash": 2, "timeout": 1}}


@pytest.mark.parametrize(
    ("eager_ms", "inside"), [(0.99, 0.0), (1.0, 1.0), (100.0, 1.0), (100.1, 0.0)]
)
def test_the_window_holds_its_limits(eager_ms, inside):
    found = figures.window(outcome([verdict("a", times_ms=(eager_ms, 1.0))]), WINDOW_MS)
    assert found["in_window_share"] == inside


@pytest.mark.parametrize(
    ("reason", "known"), [("too_easy", 2), ("too_slow", 2), ("crash", 1), ("compile_error", 1)]
)
def test_whose_time_is_known_has_a_place_in_the_window(reason, known):
    found = figures.window(outcome([verdict("a"), verdict("b", reason=reason)]), WINDOW_MS)
    assert (found["n"], found["in_window_share"]) == (known, 1 / known)


def test_clocks_are_of_those_that_the_device_told():
    part = outcome(
        [
            verdict("a", sm_mhz=1980, throttles=[]),
            verdict("b", sm_mhz=1700, throttles=["power_cap"]),
            verdict("c"),
        ]
    )
    found = figures.clocks(part)
    assert (found["n"], found["throttles"]) == (2, {"power_cap": 1})
    assert found["sm_mhz"] == {"p5": pytest.approx(1714), "p50": 1840}


def test_the_range_of_canaries_is_that_of_the_device_that_varied_most():
    steady = {"canaries": 3, "drifted": 0, "least_copy_ms": 1.0, "most_copy_ms": 1.01}
    moving = {"canaries": 4, "drifted": 1, "least_copy_ms": 2.0, "most_copy_ms": 2.1}
    found = figures.drift(outcome([], drift=[steady, moving]))
    assert found == {"n": 7, "drifted": 1, "range": {"copy_ms": pytest.approx(0.05)}}


@pytest.mark.parametrize(
    ("values", "share", "expected"),
    [([], 0.5, None), ([3.0], 0.99, 3.0), ([4.0, 1.0], 0.5, 2.5), ([1, 2, 3, 4, 5], 0.9, 4.6)],
)
def test_a_quantile_lies_between_its_neighbours(values, share, expected):
    assert figures.quantile(values, share) == (expected and pytest.approx(expected))
