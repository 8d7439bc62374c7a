"""Sorting the raw lines of a part."""

from outcome import parse

from .lines import outcome, verdict

ABOUT = outcome([]).about


def test_nothing_came_out_before_the_first_line():
    assert parse([]) is None


def test_lines_of_several_sittings_are_one_outcome_on_the_first_ones_device():
    again = {**ABOUT, "boot_s": 9.0}
    lines = [ABOUT, verdict("a"), {"drift": [{}]}, again, verdict("b", reason="timeout")]
    part = parse(lines)
    assert part.about == ABOUT
    assert [v["key"] for v in part.verdicts] == ["a", "b"]
    assert list(part.measurements) == ["a"]
    assert part.reasons == ["timeout"]
    assert part.drift == []


def test_a_worker_that_died_did_not_tell_where_its_time_went():
    part = outcome([verdict("a", spent_s={"lease": 1.0}), verdict("b", reason="crash")])
    assert [v["key"] for v in part.timed] == ["a"]
