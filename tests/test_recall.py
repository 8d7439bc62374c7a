import pytest

from fusewright.filters.fingerprint import fingerprint, recall_file, recalls
from fusewright.planting import PLAIN
from fusewright.recall import recall
from fusewright.testing import RELU_MEAN, make_problem

OTHER = RELU_MEAN.replace("torch.relu", "torch.erf").replace("mean", "amax")


@pytest.fixture
def benchmark(tmp_path):
    path = tmp_path / "ours.parquet"
    fingerprint([("one", RELU_MEAN)], "ours", "r1", "MIT").write_parquet(path)
    return str(path)


def test_copies_that_are_found_and_others_that_are_not_are_counted(benchmark):
    others = [make_problem(OTHER), make_problem(RELU_MEAN), make_problem("x = 1")]
    report = recall(benchmark, [make_problem()], others)

    assert set(report["kinds"]) >= {"verbatim", "renamed", "wrapped", "true assertion"}
    assert all(n == {"copies": 1, "found": 1} for n in report["kinds"].values())
    assert report["independent"] == {"problems": 2, "found": 1}


def test_copies_of_what_the_fingerprint_does_not_hold_are_not_found(benchmark):
    report = recall(benchmark, [make_problem(OTHER)])

    assert sum(n["found"] for n in report["kinds"].values()) == 0


def test_the_shipped_fingerprint_finds_what_was_asked_of_it():
    (report,) = recalls(["kernelbench", "somewhere/else.parquet"])
    shares = {kind: n["found"] / n["copies"] for kind, n in report["kinds"].items()}
    plain = PLAIN
    away = report["independent"]

    assert recall_file("kernelbench").name == "kernelbench.recall.json"
    assert all(shares[kind] >= 0.99 for kind in plain)
    assert min(shares.values()) >= 0.95
    assert away["problems"] >= 1_000
    assert away["found"] < 0.01 * away["problems"]
