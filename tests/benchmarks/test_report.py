"""The record and the table of a benchmark."""

import json

import pytest

import report

from .lines import outcome, verdict

WINDOW_MS = (1.0, 100.0)


def part(workers=2):
    return outcome(
        [verdict(str(i), 10.0 + i, spent_s={"lease": 0.5, "compile": 1.0}) for i in range(20)],
        workers=workers,
    )


def found(*names, codes=None):
    abouts = {name: {"date": "2026-01-01", "code": (codes or {}).get(name, "c")} for name in names}
    return report.record({name: part() for name in names}, abouts, WINDOW_MS)


EVERY = ("all", "basic", "sequential", "solo", "kernelbench", "kernelbench-own")


def test_a_record_is_json_and_names_the_device_and_the_day():
    record = json.loads(json.dumps(found(*EVERY)))
    assert record["device"]["name"] == "Device 1"
    assert record["date"] == "2026-01-01"
    assert record["plan"]["budget_ms"] > 0
    assert record["parts"]["all"]["settings"]["workers"] == 2


def test_parts_are_compared_where_both_are_there():
    everything = found(*EVERY)
    assert list(everything["fidelity"]) == ["all", "basic"]
    assert list(everything["speed"]) == ["basic / sequential", "kernelbench / kernelbench-own"]
    few = found("all", "sequential", "kernelbench")
    assert (few["fidelity"], few["speed"]) == ({}, {})


def test_what_goes_on_over_sittings_has_no_rate():
    parts = found(*EVERY)["parts"]
    assert "throughput" not in parts["solo"]
    assert "throughput" in parts["all"]
    assert set(parts["kernelbench-own"]) == {"settings", "throughput", "verdicts"}


@pytest.mark.parametrize("what", ["name", "torch"])
def test_results_of_different_machines_are_refused(what):
    other = part()
    other.about["device"] = {**other.about["device"], what: "another"}
    with pytest.raises(SystemExit, match=r"part basic was measured with .* 'another'"):
        report.record({"all": part(), "basic": other}, {}, WINDOW_MS)


def test_every_part_and_comparison_has_its_row():
    lines = report.table(found(*EVERY)).splitlines()
    first_words = [line.split()[0] for line in lines if line]
    for name in EVERY:
        assert name in first_words
    assert any(line.startswith("basic compiled") for line in lines)
    assert any(line.startswith("kernelbench / kernelbench-own, measured") for line in lines)


def test_columns_are_aligned():
    blocks = report.table(found(*EVERY)).split("\n\n")[1:]
    assert len(blocks) == 7
    assert all(len({len(line) for line in block.splitlines()}) == 1 for block in blocks)


def test_a_table_is_made_of_a_few_parts_too():
    assert "against solo" not in report.table(found("kernelbench-own"))


@pytest.mark.parametrize(("code", "warned"), [("c", False), ("d", True)])
def test_figures_of_two_engines_are_told_apart(code, warned):
    table = report.table(found("all", "basic", codes={"basic": code}))
    assert ("different versions of the engine" in table) is warned
