from pathlib import Path

import pytest
import yaml

from fusewright.config import describe
from fusewright.configfile import make_config
from fusewright.publish.card import front_matter, render_card
from fusewright.publish.fidelity import figures
from fusewright.publish.rows import RejectedRow, Row
from fusewright.publish.stats import manifest

GOLDEN = Path(__file__).with_name("card.md")
FUNNEL = {
    "stages": [
        {"stage": "mine", "inputs": 230, "kept": 224, "rejected": {"self_test_failed": 6}},
        {"stage": "compose", "inputs": 9, "kept": 9, "rejected": {}},
        {
            "stage": "screen",
            "inputs": 9,
            "kept": 5,
            "rejected": {"near_duplicate": 3, "near_benchmark": 1},
        },
        {"stage": "measure", "inputs": 5, "kept": 4, "rejected": {"nonfinite_output": 1}},
        {"stage": "judge", "inputs": 4, "kept": 3, "rejected": {"too_easy": 1}},
        {"stage": "select", "inputs": 3, "kept": 2, "rejected": {"surplus": 1}},
        {"stage": "release", "inputs": 2, "kept": 2, "rejected": {}},
    ]
}
FIDELITY = {"fraction": 0.03, "sampled": 600} | figures(
    {"eager": [n / 60_000 for n in range(598)], "compiled": [n / 20_000 for n in range(598)]},
    {"noisy_timing": 1, "timeout": 1},
)
RECALL = {
    "benchmark": "kernelbench",
    "limit": 0.9,
    "kinds": {"renamed": {"copies": 270, "found": 270}, "wrapped": {"copies": 200, "found": 199}},
    "independent": {"problems": 300, "found": 1},
}
FACTS = {
    "fusewright": "0.1.0",
    "python": "3.11.7",
    "torch": "2.13.0",
    "commit": "abc123",
    "fidelity": FIDELITY,
    "recall": [RECALL],
}


@pytest.fixture
def card(new_row):
    """Render the card of two rows under given settings."""

    def render(rows=None, fidelity=FIDELITY, **settings):
        config = make_config({"select": {"target": 2}} | settings, "test")
        if rows is None:
            rows = [new_row(1), new_row(2, eager_ms=70.0, speedup=1.25, branching=True)]
        made = manifest(config, rows, 13, FACTS | {"fidelity": fidelity})
        made["config_hash"] = "0123456789abcdef"
        return render_card(rows, config, FUNNEL, made)

    return render


def head(text):
    _, yaml_text, _ = text.split("---\n", 2)
    return yaml.safe_load(yaml_text)


def test_the_card_is_as_reviewed(card, tmp_path):
    given = tmp_path / "card.md"
    given.write_text(card(), encoding="utf-8")
    assert card() == GOLDEN.read_text(encoding="utf-8"), f"to accept it: cp {given} {GOLDEN}"


def test_the_front_matter_names_both_configs_and_the_licence(card):
    found = head(card())
    assert found["license"] == "cc-by-4.0"
    assert found["pretty_name"] == "fusewright problems"
    assert [(c["config_name"], c["data_files"]) for c in found["configs"]] == [
        ("default", [{"split": "train", "path": "data/train-*.parquet"}]),
        ("rejected", [{"split": "train", "path": "rejected/train-*.parquet"}]),
    ]


@pytest.mark.parametrize(
    ("rows", "size"),
    [
        (999, "n<1K"),
        (1_000, "1K<n<10K"),
        (9_999, "1K<n<10K"),
        (10_000, "10K<n<100K"),
        (99_999, "10K<n<100K"),
        (100_000, "100K<n<1M"),
        (1_000_000, "n>1M"),
    ],
)
def test_the_size_category_follows_the_rows(rows, size):
    made = front_matter(make_config({}, "test"), rows)
    assert yaml.safe_load(made)["size_categories"] == [size]


@pytest.mark.parametrize("record", [Row, RejectedRow])
def test_every_column_is_explained_by_the_sentence_under_its_field(card, record):
    lines = card().splitlines()
    for name, info in record.model_fields.items():
        assert any(
            line.startswith(f"| `{name}` |") and line.endswith(f" | {info.description} |")
            for line in lines
        ), name


def test_the_funnel_holds_every_stage_and_every_reason(card):
    text = card()
    for line in FUNNEL["stages"]:
        rejected = sum(line["rejected"].values())
        assert f"| {line['stage']} | {line['inputs']} | {line['kept']} | {rejected} |" in text
        assert all(f"`{reason}` {n}" in text for reason, n in line["rejected"].items())


def test_every_threshold_stands_with_its_value_and_sentence(card):
    text = card(judge={"min_eager_ms": 2.5, "min_headroom": None})
    assert "| `judge.min_eager_ms` | 2.5 |" in text
    assert "| `judge.min_headroom` | off |" in text
    for name, _, sentence in describe(make_config({}, "test").judge, "judge."):
        assert any(f"`{name}`" in li and sentence in li for li in text.splitlines()), name


@pytest.mark.parametrize(("device", "told"), [("cpu", True), ("cuda", False)])
def test_a_cpu_release_says_that_its_times_are_those_of_a_cpu(card, device, told):
    text = card(measure={"device": device})
    assert ("The times of this release are those of a CPU" in text) is told
    assert ("wall times of one thread" in text) is told
    assert ("TF32 is on" in text) is not told


def test_a_plugin_that_measured_is_named_and_no_protocol_is_claimed(card):
    text = card(measure={"meter": "fake"})
    assert "A plug-in measured them, `fake`" in text
    assert "CUDA events" not in text


def test_each_device_stands_with_its_number_of_rows(card, new_row):
    text = card([new_row(1), new_row(2), new_row(3, device="other")])
    assert "* 2 rows on fake." in text
    assert "* 1 rows on other." in text


@pytest.mark.parametrize(
    ("spread", "sentence"),
    [(0.2, "A spread over 0.2 was turned away"), (None, "A noisy timing was not turned away")],
)
def test_noise_is_told_as_it_was_treated(card, spread, sentence):
    assert sentence in card(measure={"max_spread": spread})


@pytest.mark.parametrize(("target", "told"), [(2, False), (3, True)])
def test_a_release_short_of_its_target_says_so(card, target, told):
    assert (f"The target of {target} rows was not met" in card(select={"target": target})) is told


def test_a_bar_in_a_value_does_not_break_the_table(card):
    assert "`screen.benchmarks` | a\\|b |" in card(screen={"benchmarks": ["a|b"]})


def test_an_empty_release_has_a_card_too(card):
    text = card([])
    assert text.startswith("---\n")
    assert "## What is in it" not in text


def test_a_run_that_was_measured_once_says_so_and_shows_no_table(card):
    text = card(fidelity=None)
    assert "no share of the rows was measured again" in text
    assert "How well the times come again" not in text


def test_each_gate_says_whether_it_held(card):
    few = {"fraction": 0.03, "sampled": 2} | figures({"eager": [0.01], "compiled": [0.0]}, {})
    text = card(fidelity=few)
    assert "0.5 % at p50: **not held**, 2 % at p90: held, 5 % at p99: not judged under 500" in text


def test_a_sample_that_was_turned_away_whole_has_empty_cells(card):
    none = {"fraction": 0.03, "sampled": 1} | figures({"eager": [], "compiled": []}, {"timeout": 1})
    assert "| eager | 0 |  |  |  |  |  |" in card(fidelity=none)


def test_a_plugin_that_measured_again_is_not_said_to_do_it_as_ours(card):
    assert "in a process that was new to it" in card()
    assert "in a process that was new to it" not in card(measure={"meter": "fake"})


def test_the_recall_of_planted_copies_stands_on_the_card_where_it_was_measured(card, monkeypatch):
    assert "| kernelbench | wrapped | 200 | 99.50 % |" in card()
    assert "| kernelbench | none: independent | 300 | 0.33 % |" in card()
    monkeypatch.setitem(FACTS, "recall", [])
    assert "How well copies of a benchmark are found" not in card()
