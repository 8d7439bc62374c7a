"""The real clients of the Hub against a Hub on loopback, in processes of their own."""

import os
import subprocess
import sys

import pytest

from fusewright.configfile import make_config
from fusewright.publish.release import Release, write_release
from fusewright.runfolder import RunFolder
from fusewright.testing.hub import READER, Blob, FakeHub

CONFIG = make_config({"name": "small"}, "test")
FACTS = {"fusewright": "0.1.0", "python": "3.11.7", "torch": "2.13.0", "commit": "abc"}
FUNNEL = {"stages": []}
REPO = "me/problems"
LOAD = """
import datasets, sys
rows = datasets.load_dataset("me/problems", revision=sys.argv[1], split="train")
print(len(rows), rows.column_names[:3])
"""


@pytest.fixture
def hub():
    with FakeHub() as started:
        yield started


@pytest.fixture
def run(tmp_path, new_row):
    """A run folder with a release of three rows."""
    folder = tmp_path / "run"
    with RunFolder(folder, CONFIG) as opened:
        write_release(opened.release, release_of([new_row(n) for n in range(3)]))
    return folder


def release_of(rows):
    return Release(rows, [], FUNNEL, FACTS, CONFIG, {"dashboard.html": "<p>page"})


@pytest.fixture
def publish(hub, run, tmp_path):
    """Run `fusewright publish` as a user of the fake Hub."""

    def call(*words, repo=REPO, token=None, **variables):
        given = {} if token is None else {"token": token}
        environment = os.environ | hub.environment(tmp_path / "home", **given) | variables
        environment.pop("HF_HUB_OFFLINE", None)
        words = ("publish", "--run", run, "--repo", repo, *words)
        return subprocess.run(
            [sys.executable, "-m", "fusewright", *map(str, words)],
            env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip

    return call


def failed_in_one_line(done, complaint):
    assert done.returncode == 1, done.stdout + done.stderr
    assert complaint in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert "hf_" not in done.stderr


def test_a_release_is_one_commit_and_a_tag(hub, publish, run):
    done = publish("--tag", "v0.1.0")
    repo = hub.store.dataset(REPO)

    assert done.returncode == 0, done.stderr
    assert len(repo.commits) == 2
    assert repo.tags == {"v0.1.0": repo.head}
    names = {p.relative_to(run / "release").as_posix() for p in (run / "release").rglob("*.*")}
    assert names <= set(repo.files)


def test_what_was_published_loads_by_its_tag(hub, publish, tmp_path):
    assert publish("--tag", "v0.1.0").returncode == 0
    environment = os.environ | hub.environment(tmp_path / "reader")
    environment.pop("HF_HUB_OFFLINE", None)
    done = subprocess.run(
        [sys.executable, "-c", LOAD, "v0.1.0"],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert done.stdout.strip() == "3 ['ops', 'data_source', 'code']"


def test_the_same_bytes_make_no_commit(hub, publish):
    publish("--tag", "v0.1.0")
    done = publish("--tag", "v0.1.0")

    assert done.returncode == 0, done.stderr
    assert "no commit was made" in done.stdout
    assert len(hub.store.dataset(REPO).commits) == 2


def test_another_release_is_one_commit_more_that_deletes_what_went(hub, publish, run, new_row):
    publish("--tag", "v0.1.0")
    repo = hub.store.dataset(REPO)
    repo.commit({"data/train-00001-of-00002.parquet": Blob(b"old", lfs=True)}, "a stale shard")
    write_release(run / "release", release_of([new_row(n) for n in range(4)]))
    done = publish("--tag", "v0.2.0")

    assert done.returncode == 0, done.stderr
    assert len(repo.commits) == 4
    assert "data/train-00001-of-00002.parquet" not in repo.files
    assert repo.tags["v0.2.0"] == repo.head != repo.tags["v0.1.0"]


def test_a_dry_run_shows_the_plan_and_sends_nothing(hub, publish):
    done = publish("--tag", "v0.1.0", "--dry-run")

    assert done.returncode == 0, done.stderr
    assert "dry run: nothing was sent" in done.stdout
    assert "data/train-00000-of-00001.parquet" in done.stdout
    assert hub.writes == []


def test_a_head_that_moved_meanwhile_is_refused_and_stands(hub, publish):
    publish("--tag", "v0.1.0")
    repo = hub.store.dataset(REPO)
    repo.commit({"README.md": Blob(b"ours", lfs=False)}, "changed since")
    hub.before_commit = lambda: repo.commit({"a.txt": Blob(b"theirs", lfs=False)}, "meanwhile")
    done = publish("--tag", "v0.2.0")

    failed_in_one_line(done, "changed by somebody else meanwhile (412)")
    assert repo.files["a.txt"].data == b"theirs"
    assert repo.files["README.md"].data == b"ours"
    assert "v0.2.0" not in repo.tags


@pytest.mark.parametrize(
    ("token", "complaint"),
    [(READER, "may not write"), ("hf_wrong", "does not accept the token (401)")],
)
def test_a_token_that_may_not_write_is_named_without_its_value(hub, publish, token, complaint):
    done = publish(token=token)

    failed_in_one_line(done, complaint)
    assert token not in done.stdout + done.stderr


def test_without_a_token_nothing_is_tried(hub, publish):
    failed_in_one_line(publish(token=""), "there is no token for the Hub")
    assert hub.requests == []


def test_a_name_that_a_model_has_is_refused(hub, publish):
    hub.store.create("model", REPO)

    failed_in_one_line(publish(), "is a model and no dataset")


def test_a_tag_that_stands_elsewhere_is_refused_before_anything_is_sent(hub, publish, run, new_row):
    publish("--tag", "v0.1.0")
    write_release(run / "release", release_of([new_row(9)]))
    commits = len(hub.store.dataset(REPO).commits)

    failed_in_one_line(publish("--tag", "v0.1.0"), "which is not this release")
    assert len(hub.store.dataset(REPO).commits) == commits


def test_a_hub_that_does_not_answer_is_one_line(publish):
    failed_in_one_line(publish(HF_ENDPOINT="http://127.0.0.1:9"), "does not answer")


def test_a_name_that_cannot_be_right_is_a_wrong_call(publish):
    done = publish(repo="no-owner")

    assert done.returncode == 2
    assert "expected OWNER/NAME" in done.stderr
