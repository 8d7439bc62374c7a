import json

import polars as pl
import pytest

import fusewright
from fusewright.configfile import load_config
from fusewright.errors import RunFolderError, UsageError
from fusewright.records import Passed
from fusewright.runfolder import RunFolder
from fusewright.testing import RELU_MEAN

UNUSED = RELU_MEAN.replace("def forward(self, x)", "def forward(self, x, y)").replace(
    "        return torch.mean", "        z = x + 1\n        return torch.mean"
)
HOSTILE = RELU_MEAN.replace("import torch\n", "import torch\nimport os\nos._exit(7)\n", 1)
RENAMED = RELU_MEAN.replace("proj", "layer")
KEYS = {
    "name",
    "verdict",
    "stage",
    "reason",
    "detail",
    "also",
    "nearest_benchmark",
    "benchmark_similarity",
}


@pytest.fixture
def folder(tmp_path):
    """Five files: sound, with two faults, hostile, broken, and a copy."""
    texts = {"a": RELU_MEAN, "b": UNUSED, "c": HOSTILE, "d": "def (", "e": RENAMED}
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(text)
    return tmp_path


def by_name(report):
    return {verdict["name"]: verdict for verdict in report["verdicts"]}


def test_a_static_audit_names_every_fault_and_runs_nothing(folder):
    report = fusewright.audit(str(folder), static=True)
    verdicts = by_name(report)

    assert {name: v["reason"] for name, v in verdicts.items()} == {
        "a": None,
        "b": "unused_argument",
        "c": "banned_call",
        "d": "syntax_error",
        "e": "exact_duplicate",
    }
    assert [also["reason"] for also in verdicts["b"]["also"]] == ["dead_code"]
    assert (report["rows"], report["kept"], report["rejected"]) == (5, 1, 4)
    assert sum(report["reasons"].values()) == 4


def test_every_key_is_always_there(folder):
    report = fusewright.audit(str(folder), static=True)

    assert set(report) == {"source", "rows", "kept", "rejected", "reasons", "verdicts"}
    for verdict in report["verdicts"]:
        assert set(verdict) == KEYS
    json.dumps(report)


def test_what_is_sound_is_run_and_what_is_hostile_is_not(folder):
    (folder / "f.py").write_text(
        RELU_MEAN.replace("torch.relu(self.proj(x))", "torch.softmax(self.proj(x), 1)")
    )
    report = fusewright.audit(str(folder), window_ms=(1e6, 2e6))
    verdicts = by_name(report)

    assert (verdicts["a"]["stage"], verdicts["a"]["reason"]) == ("judge", "too_easy")
    assert verdicts["c"]["reason"] == "banned_call"
    assert all(also["stage"] == "screen" for also in verdicts["c"]["also"])
    assert (verdicts["f"]["stage"], verdicts["f"]["reason"]) == ("measure", "constant_output")


@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
def test_a_table_is_a_source_and_its_labels_are_checked(tmp_path, suffix):
    rows = {"code": [RELU_MEAN, RENAMED], "ops": [["nn.Linear", "torch.relu"], ["nn.Conv2d"]]}
    path = tmp_path / f"set.{suffix}"
    frame = pl.DataFrame(rows)
    frame.write_parquet(path) if suffix == "parquet" else frame.write_ndjson(path)
    verdicts = by_name(fusewright.audit(str(path), static=True))

    assert verdicts["0"]["verdict"] == "kept"
    assert verdicts["1"]["reason"] == "operators_mismatch"


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("nowhere", "is no source: expected a folder"),
        ("/no/where", "is no source"),
        ("empty", "holds no .py file"),
        ("codeless.jsonl", "has no `code` column"),
    ],
)
def test_what_is_no_source_is_one_clear_line(tmp_path, monkeypatch, name, complaint):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "codeless.jsonl").write_text('{"text": "a"}\n')

    with pytest.raises(UsageError, match=complaint):
        fusewright.audit(name, static=True)


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.jsonl", b"{broken"), ("a.parquet", b"PAR1 not really")],
)
def test_a_file_that_cannot_be_read_is_one_line(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)

    with pytest.raises(UsageError, match="cannot be read"):
        fusewright.audit(str(tmp_path / name), static=True)


def test_odd_rows_are_rejected_and_cost_themselves(tmp_path):
    (tmp_path / "a.jsonl").write_text(
        '{"code": null, "ops": "[1"}\n' + json.dumps({"code": RELU_MEAN, "ops": "[]"}) + "\n"
    )
    report = fusewright.audit(str(tmp_path / "a.jsonl"), static=True)

    assert [v["verdict"] for v in report["verdicts"]] == ["rejected", "kept"]


def test_an_audit_does_not_write_into_a_run(folder, tmp_path):
    with RunFolder(tmp_path / "run", load_config(None)) as run:
        run.ledger.append("measure", [("a", Passed(problem="a"))], Passed)

    with pytest.raises(RunFolderError, match="was written by another config"):
        fusewright.audit(str(folder), run_dir=tmp_path / "run")
