"""The benchmark of the composer: its figures, its table, and one small run of it."""

import json

import pytest

import composing
from fusewright.compose.preset import TINY
from fusewright.compose.size import least_batch

FOUND = {
    "catalogue": {"operators": 164, "rules": 182},
    "speed": {"drawn_per_s": 2500.0, "sized_per_s": 900.0, "all_per_s": 700.0},
    "drawn": {
        "branching_share": 0.6,
        "several_inputs_share": 0.25,
        "operators": {2: 5, 3: 5},
        "uses": {"torch.mul": 0.03, "torch.add": 0.02},
        "skeleton_share": 0.9,
        "duplicate_share": 0.001,
        "odd_batch_share": 0.4,
        "odd_size_share": 0.35,
        "motifs": {"residual": 0.1},
    },
    "tiny": {"n": 1000, "rejected": {"forward_error": 1, "nonfinite_output": 1}},
    "checked": {"n": 100, "rejected": {"dead_operator": 4, "constant_output": 1}},
}


def test_figures_count_whatever_was_turned_away():
    figures = composing.figures(FOUND)
    assert figures["valid at tiny sizes"] == pytest.approx(0.998)
    assert figures["non-finite at tiny sizes"] == pytest.approx(0.001)
    assert figures["degenerate at real feature sizes"] == pytest.approx(0.05)
    assert figures["largest share of use"] == 0.03
    assert set(figures) == set(composing.TARGETS)


@pytest.mark.parametrize(
    ("value", "target", "expected"),
    [
        (2000.0, ("least", 2000.0), True),
        (1999.0, ("least", 2000.0), False),
        (0.04, ("most", 0.04), True),
        (0.041, ("most", 0.04), False),
    ],
)
def test_a_target_is_held_up_to_its_limit(value, target, expected):
    assert composing.held(value, target) is expected


def test_the_table_says_what_was_held_and_what_was_missed():
    rows = {line.split("  ")[0]: line for line in composing.table(FOUND).splitlines()}
    assert rows["drawn and rendered per s"].endswith("held")
    assert rows["sized per s"].endswith("missed")
    assert "torch.mul 3.0%" in rows["commonest operators"]
    assert "nonfinite_output 1 of 1,000" in rows["rejected, tiny"]


def test_rates_are_of_the_steps_they_name():
    speed = composing.speed(range(3), TINY)
    assert speed["n"] == 3
    assert 0 <= speed["unsizable_share"] < 1
    assert speed["all_per_s"] < speed["drawn_per_s"] + speed["sized_per_s"]


@pytest.mark.parametrize("least", [2, 64])
def test_a_smaller_batch_changes_the_batch_alone_and_is_enough_for_norms(least):
    drawn = (composing.drawn_from(seed, TINY) for seed in range(60))
    one = next(d for d in drawn if d.batch > 64 and least_batch(d.graph) == least)
    batch = max(least, 4)
    smaller = composing.with_batch(one, 4)
    assert f"batch_size = {batch}\n" in smaller
    assert smaller.replace(f"batch_size = {batch}\n", f"batch_size = {one.batch}\n") == one.code


def test_one_small_run_is_written_down(tmp_path, monkeypatch, capsys):
    told = {"n": 4, "rejected": {}, "per_s": 1.0, "details": []}
    asked = []

    def verdicts(codes, checks, _):
        asked.append((len(codes), checks))
        return told

    monkeypatch.setattr(composing, "verdicts", verdicts)
    options = ["--n", "8", "--sample", "4", "--timed", "4", "--results", str(tmp_path)]
    monkeypatch.setattr("sys.argv", ["composing.py", *options, "--device", "cpu"])
    assert composing.main() == 0
    written = json.loads((tmp_path / "composing-cpu.json").read_text())
    assert written["drawn"]["n"] == 8
    assert asked == [(8, "basic"), (4, "all")]
    assert "operators a problem" in capsys.readouterr().out
