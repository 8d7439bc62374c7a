"""Publishing to a fake Hub on loopback with the real client, and loading what was published."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fusewright.errors import PublishError, UsageError
from fusewright.publish import hub as publishing
from fusewright.publish.hub import publish
from fusewright.testing.hub import READER, WRITER, Blob, FakeHub

# The client itself calls its HTTP library in a way that this one is about to drop.
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")

REPO = "me/problems"
CARD = """\
---
configs:
- config_name: default
  default: true
  data_files: [{split: train, path: data/train-*.parquet}]
- config_name: rejected
  data_files: [{split: train, path: rejected/train-*.parquet}]
---
# Problems
"""
PUBLISH = """
import sys
from pathlib import Path
from fusewright.errors import PublishError
from fusewright.publish.hub import publish
try:
    print(publish(Path(sys.argv[1]), sys.argv[2], sys.argv[3] or None))
except PublishError as error:
    sys.exit(f"error: {error}")
"""
LOAD = """
import json, sys
from datasets import load_dataset
repo, tag = sys.argv[1:]
kept = load_dataset(repo, revision=tag, split="train")
rejected = load_dataset(repo, "rejected", revision=tag, split="train")
print(json.dumps([kept["code"][:], rejected["reason"][:]]))
"""


@pytest.fixture
def fake() -> Iterator[FakeHub]:
    with FakeHub() as running:
        yield running


@pytest.fixture
def release(tmp_path: Path) -> Path:
    folder = tmp_path / "release"
    for name, column in (("data", {"code": ["a", "b"]}), ("rejected", {"reason": ["too_easy"]})):
        (folder / name).mkdir(parents=True)
        pq.write_table(pa.table(column), folder / name / "train-00000-of-00001.parquet")
    (folder / "README.md").write_text(CARD)
    return folder


@pytest.fixture
def client(fake: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Point the client in this process to the fake Hub, with a token that can be changed."""
    from huggingface_hub import HfApi, constants

    monkeypatch.setattr(publishing, "_client", lambda: HfApi(endpoint=fake.url))
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "no-token"))
    monkeypatch.setattr(constants, "AGENT_HARNESSES_PATH", str(tmp_path / "agents.json"))
    monkeypatch.setenv("HF_TOKEN", WRITER)
    return lambda token: monkeypatch.setenv("HF_TOKEN", token)


def run_python(fake: FakeHub, home: Path, script: str, *arguments: str, token: str | None = WRITER):
    environment = os.environ | fake.environment(home / "hf", token)
    command = [sys.executable, "-c", script, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_a_release_is_published_tagged_and_loaded(fake, release, tmp_path):
    done = run_python(fake, tmp_path, PUBLISH, str(release), REPO, "v0.1.0")
    assert done.returncode == 0, done.stderr
    assert "tagged v0.1.0: 3 added" in done.stdout
    repo = fake.store.dataset(REPO)
    assert repo.tags == {"v0.1.0": repo.head}
    assert set(repo.files) - {".gitattributes"} == {
        "README.md",
        "data/train-00000-of-00001.parquet",
        "rejected/train-00000-of-00001.parquet",
    }
    loaded = run_python(fake, tmp_path, LOAD, REPO, "v0.1.0")
    assert json.loads(loaded.stdout) == [["a", "b"], ["too_easy"]], loaded.stderr


def test_the_environment_of_a_process_decides_where_to_publish_and_as_whom(fake, release, tmp_path):
    done = run_python(fake, tmp_path, PUBLISH, str(release), REPO, "", token=READER)
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: the token may not write to {REPO} (403)")
    assert READER not in done.stderr + done.stdout


def test_publishing_the_same_bytes_again_makes_no_commit(fake, release, client):
    first = publish(release, REPO, "v1")
    commits = len(fake.store.dataset(REPO).commits)
    again = publish(release, REPO, "v1")
    assert again.plan.empty
    assert again.revision == first.revision
    assert len(fake.store.dataset(REPO).commits) == commits
    assert "no commit was made" in str(again)


def test_a_change_is_one_commit_that_sends_the_changed_and_deletes_the_stale(fake, release, client):
    publish(release, REPO)
    (release / "README.md").write_text(CARD + "More.\n")
    (release / "rejected" / "train-00000-of-00001.parquet").unlink()
    before = fake.store.dataset(REPO)
    commits, sent = len(before.commits), len(fake.requests)
    receipt = publish(release, REPO)
    assert [file.path for file in receipt.plan.sends] == ["README.md"]
    assert receipt.plan.deleted == ("rejected/train-00000-of-00001.parquet",)
    assert len(before.commits) == commits + 1
    assert ".gitattributes" in before.files
    assert not any("/_lfs/" in path for _, path in fake.requests[sent:])


def test_a_release_without_changes_can_still_be_tagged(fake, release, client):
    first = publish(release, REPO)
    publish(release, REPO, "v2")
    assert fake.store.dataset(REPO).tags == {"v2": first.revision}


@pytest.mark.parametrize("private", [True, False])
def test_a_new_dataset_is_private_if_asked_for(fake, release, client, private):
    publish(release, REPO, private=private)
    assert fake.store.dataset(REPO).private is private


@pytest.mark.parametrize("exists", [True, False])
def test_a_dry_run_only_reads(fake, release, client, exists):
    if exists:
        fake.store.create("dataset", REPO)
    receipt = publish(release, REPO, "v1", dry_run=True)
    assert receipt.revision is None
    assert len(receipt.plan.added) == 3
    assert fake.writes == []
    assert str(receipt).endswith("dry run: nothing was sent")


def test_a_dry_run_needs_no_token(fake, release, client):
    client("")
    assert publish(release, REPO, dry_run=True).plan.size_bytes > 0


def test_a_dry_run_without_a_hub_plans_to_send_everything_and_says_so(release, client, monkeypatch):
    unreachable(monkeypatch)
    receipt = publish(release, REPO, dry_run=True)
    assert len(receipt.plan.added) == 3
    assert "not compared with the Hub: the Hub does not answer" in str(receipt)


def test_a_head_that_moved_is_refused_and_left_as_it_is(fake, release, client):
    repo = fake.store.create("dataset", REPO)
    fake.before_commit = lambda: repo.commit({"theirs": Blob(b"x", lfs=False)}, "theirs")
    with pytest.raises(PublishError, match=r"nothing was committed: .*\(412\).*publish again"):
        publish(release, REPO, "v1")
    assert set(repo.files) == {".gitattributes", "theirs"}
    assert repo.tags == {}


@pytest.mark.parametrize(
    ("token", "message"),
    [
        ("", "there is no token for the Hub: set HF_TOKEN"),
        ("hf_made_up_secret", r"does not accept the token \(401\): set HF_TOKEN"),
        (READER, r"may not write to me/\w+ \(403\)"),
    ],
)
def test_a_token_that_will_not_do_is_refused_and_never_shown(fake, release, client, token, message):
    fake.store.create("dataset", "me/there")
    client(token)
    for repo in ("me/there", "me/new"):
        with pytest.raises(PublishError, match=message) as caught:
            publish(release, repo)
        assert not token or token not in str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", ["model", "space"])
def test_a_repo_of_another_kind_is_refused(fake, release, client, kind):
    fake.store.create(kind, REPO)
    with pytest.raises(PublishError, match=f"me/problems is a {kind} and no dataset"):
        publish(release, REPO)
    assert fake.writes == []


def test_a_tag_that_stands_elsewhere_is_refused_before_anything_is_sent(fake, release, client):
    publish(release, REPO, "v1")
    (release / "README.md").write_text(CARD + "More.\n")
    head, writes = fake.store.dataset(REPO).head, len(fake.writes)
    with pytest.raises(PublishError, match=r"tag v1 of me/problems stands on .* another --tag"):
        publish(release, REPO, "v1")
    assert fake.store.dataset(REPO).head == head
    assert len(fake.writes) == writes


def test_a_tag_that_fails_after_the_commit_says_what_was_done(fake, release, client):
    fake.refuse("POST", "/tag/", 503)
    with pytest.raises(
        PublishError, match=r"commit \w{7} holds the release, but has no tag: .*503"
    ):
        publish(release, REPO, "v1")


def test_private_is_not_promised_for_a_public_dataset(fake, release, client):
    fake.store.create("dataset", REPO)
    with pytest.raises(PublishError, match="is public, and --private cannot hide it"):
        publish(release, REPO, private=True)
    assert fake.writes == []


def test_a_hub_that_does_not_answer_is_one_clear_line(release, client, monkeypatch):
    unreachable(monkeypatch)
    with pytest.raises(
        PublishError, match=r"does not answer .*: check the network and HF_ENDPOINT"
    ):
        publish(release, REPO)


def test_an_upload_that_fails_commits_nothing(fake, release, client):
    fake.refuse("PUT", "/_lfs/", 400)
    with pytest.raises(PublishError, match=r"nothing was committed: Error while uploading .* 400"):
        publish(release, REPO)
    assert len(fake.store.dataset(REPO).commits) == 1


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("problems", None), "repo 'problems': expected OWNER/NAME"),
        (("a/b/c", None), "repo 'a/b/c': expected OWNER/NAME"),
        ((REPO, "v 1"), "tag 'v 1': expected letters"),
        ((REPO, ""), "tag '': expected letters"),
    ],
)
def test_names_that_cannot_be_right_are_refused_before_anything_is_read(
    fake, release, client, names, message
):
    with pytest.raises(UsageError, match=message):
        publish(release, *names)
    assert fake.requests == []


def test_a_folder_without_a_card_is_no_release(tmp_path):
    with pytest.raises(UsageError, match="is no release folder: it has no README"):
        publish(tmp_path, REPO)


def test_a_password_in_the_address_of_the_hub_is_never_shown(fake, release, client, monkeypatch):
    from huggingface_hub import HfApi

    api = HfApi(endpoint=fake.url.replace("//", "//user:hunter2@"))
    monkeypatch.setattr(publishing, "_client", lambda: api)
    with pytest.raises(PublishError) as caught:
        publish(release, REPO)
    assert "hunter2" not in str(caught.value)
    assert publishing._address(api) == fake.url


def test_importing_the_package_does_not_import_the_client():
    script = (
        "import sys, fusewright, fusewright.publish.hub, fusewright.testing.hub; "
        "sys.exit('huggingface_hub' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def unreachable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Point the client to a port where nothing listens."""
    from huggingface_hub import HfApi

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monkeypatch.setattr(publishing, "_client", lambda: HfApi(endpoint=f"http://127.0.0.1:{port}"))
