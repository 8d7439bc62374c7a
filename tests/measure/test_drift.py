import pytest

from fusewright.measure.drift import Drift


def canary(matmul_ms, copy_ms=1.0):
    return {"matmul_ms": matmul_ms, "copy_ms": copy_ms}


def test_the_first_canary_agrees_with_itself():
    assert Drift().steady(canary(123.0))


@pytest.mark.parametrize(
    ("change", "steady"),
    [(0.0199, True), (0.0201, False), (-0.0199, True), (-0.0201, False)],
)
def test_a_canary_may_differ_by_2_percent_from_the_one_before(change, steady):
    drift = Drift()
    drift.steady(canary(1.0))

    assert drift.steady(canary(1.0 + change)) == steady


@pytest.mark.parametrize("other", [canary(1.0, 1.03), canary(1.03, 1.0)])
def test_one_kind_of_work_that_changes_is_enough(other):
    drift = Drift()
    drift.steady(canary(1.0))

    assert not drift.steady(other)


def test_each_canary_is_held_against_the_one_before_and_not_the_first():
    drift = Drift()

    assert [drift.steady(canary(ms)) for ms in (1.0, 1.015, 1.03, 1.06, 1.06)] == [
        True, True, True, False, True,
    ]  # fmt: skip


def test_a_canary_of_other_kinds_of_work_does_not_agree():
    drift = Drift()
    drift.steady(canary(1.0))

    assert not drift.steady({"matmul_ms": 1.0})


def test_the_report_counts_canaries_and_gives_the_range_of_each_kind():
    drift = Drift()
    for ms in (1.0, 2.0, 1.99):
        drift.steady(canary(ms, copy_ms=5 * ms))

    assert drift.report() == {
        "canaries": 3,
        "drifted": 1,
        "least_matmul_ms": 1.0,
        "most_matmul_ms": 2.0,
        "least_copy_ms": 5.0,
        "most_copy_ms": 10.0,
    }


def test_without_canaries_there_is_nothing_to_report():
    assert Drift().report() == {}
