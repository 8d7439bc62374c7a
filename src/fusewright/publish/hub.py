"""Send a release folder to the Hugging Face Hub: one commit on the head that was read, one tag.

The only file that knows the Hub's client. A head that moved meanwhile is refused and never
overwritten; the same bytes make no commit. The token is the client's own affair (`HF_TOKEN`, or
`hf auth login`): it is no parameter, and stands in no message.
"""

import contextlib
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from fusewright.errors import PublishError, UsageError
from fusewright.publish.plan import Plan, Receipt, Remote, compare, read_folder

if TYPE_CHECKING:
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError

DATASET = "dataset"
REPO_PATTERN = re.compile(r"[\w.-]+/[\w.-]+")
TAG_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
LOGIN = "set HF_TOKEN to a token with write access, or run `hf auth login`"

UNAUTHORISED, FORBIDDEN, MISSING, CONFLICT, MOVED = 401, 403, 404, 409, 412


class _UnreachableError(PublishError):
    """Nothing answers; a dry run goes on without the remote."""


def publish(
    folder: Path, repo: str, tag: str | None = None, *, private: bool = False, dry_run: bool = False
) -> Receipt:
    """Make the dataset *repo* (`OWNER/NAME`) equal *folder*, and set *tag* on it.

    Files that only the dataset has are deleted, but for those that the Hub puts there. A dataset
    that is not there yet is created, private if *private*. A dry run only reads.

    Raises:
        UsageError: The folder holds no release, or a name cannot be right.
        PublishError: The Hub refused, or nothing answered.
    """
    _require_names(folder, repo, tag)
    files, api = read_folder(folder), _client()
    if not dry_run:
        _require_token()
    note = ""
    try:
        with _explained(repo):
            remote = _read(api, repo)
            if remote is None:
                _require_no_namesake(api, repo)
                note = "there is no such dataset yet, or none that the token may see"
    except _UnreachableError as error:
        if not dry_run:
            raise
        remote, note = None, f"not compared with the Hub: {error}"
    plan = replace(compare(repo, tag, files, remote), note=note)
    if remote:
        _require_privacy(repo, remote, private=private)
        _require_tag(plan, remote)
    if dry_run:
        return Receipt(plan, None)
    return _send(api, plan, folder, private=private)


def _send(api: "HfApi", plan: Plan, folder: Path, *, private: bool) -> Receipt:
    if plan.head is None:
        plan = _create(api, plan, folder, private=private)
    revision = plan.head if plan.empty and plan.head else _commit(api, plan, folder)
    if plan.tag:
        with _explained(plan.repo, f"commit {revision[:7]} holds the release, but has no tag: "):
            _tag(api, plan.repo, plan.tag, revision)
    url = f"{_address(api)}/datasets/{plan.repo}/tree/{plan.tag or revision}"
    return Receipt(plan, revision, url)


def _create(api: "HfApi", plan: Plan, folder: Path, *, private: bool) -> Plan:
    with _explained(plan.repo):
        # None leaves the choice to the owner's settings, which may say private.
        api.create_repo(plan.repo, repo_type=DATASET, private=private or None, exist_ok=True)
        remote = _read(api, plan.repo)
    if remote is None:
        raise PublishError(f"{plan.repo} was created, but the Hub does not show it: publish again")
    _require_privacy(plan.repo, remote, private=private)
    return compare(plan.repo, plan.tag, read_folder(folder), remote)


def _commit(api: "HfApi", plan: Plan, folder: Path) -> str:
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

    additions = [CommitOperationAdd(file.path, folder / file.path) for file in plan.sends]
    deletions = [CommitOperationDelete(path) for path in plan.deleted]
    with _explained(plan.repo, "nothing was committed: "):
        done = api.create_commit(
            plan.repo,
            [*additions, *deletions],
            commit_message=f"Release {plan.tag}" if plan.tag else "Release",
            commit_description=plan.counts(),
            repo_type=DATASET,
            parent_commit=plan.head,
        )
    return done.oid


def _tag(api: "HfApi", repo: str, tag: str, revision: str) -> None:
    """Set *tag*, unless it stands there already."""
    refs = api.list_repo_refs(repo, repo_type=DATASET)
    if any(ref.name == tag and ref.target_commit == revision for ref in refs.tags):
        return
    api.create_tag(repo, tag=tag, revision=revision, repo_type=DATASET)


def _read(api: "HfApi", repo: str) -> Remote | None:
    """Read head, files and tags; None where there is no such dataset, or none we may see."""
    from huggingface_hub import RepoFile
    from huggingface_hub.errors import RepositoryNotFoundError

    try:
        info = api.repo_info(repo, repo_type=DATASET)
    except RepositoryNotFoundError:
        return None
    entries = api.list_repo_tree(repo, recursive=True, revision=info.sha, repo_type=DATASET)
    refs = api.list_repo_refs(repo, repo_type=DATASET)
    return Remote(
        head=info.sha,
        private=bool(info.private),
        names={
            entry.path: entry.lfs.sha256 if entry.lfs else entry.blob_id
            for entry in entries
            if isinstance(entry, RepoFile)
        },
        tags={ref.name: ref.target_commit for ref in refs.tags},
    )


def _client() -> "HfApi":
    from huggingface_hub import HfApi

    return HfApi()


def _address(api: "HfApi") -> str:
    """Address of the Hub, without a user's name or password that may stand in it."""
    parts = urlsplit(api.endpoint)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname}{port}"


def _require_names(folder: Path, repo: str, tag: str | None) -> None:
    if not (folder / "README.md").is_file():
        raise UsageError(f"{folder} is no release folder: it has no README.md")
    if not REPO_PATTERN.fullmatch(repo):
        raise UsageError(f"repo '{repo}': expected OWNER/NAME, as in my-org/fused-problems")
    if tag is not None and not TAG_PATTERN.fullmatch(tag):
        raise UsageError(f"tag '{tag}': expected letters, digits, '.', '_' and '-', as in v0.1.0")


def _require_token() -> None:
    from huggingface_hub import get_token

    if not get_token():
        raise PublishError(f"there is no token for the Hub: {LOGIN}")


def _require_no_namesake(api: "HfApi", repo: str) -> None:
    from huggingface_hub.errors import RepositoryNotFoundError

    for kind in ("model", "space"):
        with contextlib.suppress(RepositoryNotFoundError):
            api.repo_info(repo, repo_type=kind)
            raise PublishError(f"{repo} is a {kind} and no dataset: give another --repo")


def _require_privacy(repo: str, remote: Remote, *, private: bool) -> None:
    if private and not remote.private:
        raise PublishError(
            f"{repo} is public, and --private cannot hide it: make it private in its settings on "
            "the Hub, or publish without --private"
        )


def _require_tag(plan: Plan, remote: Remote) -> None:
    at = remote.tags.get(plan.tag or "")
    if at and not (plan.empty and at == remote.head):
        raise PublishError(
            f"tag {plan.tag} of {plan.repo} stands on {at[:7]}, which is not this release: "
            "give another --tag, or delete that one on the Hub"
        )


@contextlib.contextmanager
def _explained(repo: str, so_far: str = "") -> Iterator[None]:
    """Turn whatever the client raises into one line that begins with *so_far*."""
    from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled
    from huggingface_hub.utils import httpx  # type: ignore[attr-defined]  # exported lazily

    try:
        yield
    except OfflineModeIsEnabled as error:
        raise _UnreachableError(f"{so_far}HF_HUB_OFFLINE is set: unset it") from error
    except HfHubHTTPError as error:
        raise PublishError(so_far + _refusal(repo, error)) from error
    except (httpx.HTTPError, ConnectionError) as error:
        what = f"the Hub does not answer ({type(error).__name__})"
        raise _UnreachableError(f"{so_far}{what}: check the network and HF_ENDPOINT") from error
    except RuntimeError as error:  # what the client makes of an upload that failed
        cause = error.__cause__
        why = f"{type(cause).__name__}: publish again"
        if isinstance(cause, HfHubHTTPError):
            why = _refusal(repo, cause)
        raise PublishError(f"{so_far}{' '.join(str(error).split())} {why}") from error
    except ValueError as error:  # the card's metadata, or a name, that the client refuses itself
        raise PublishError(f"{so_far}refused: {' '.join(str(error).split())}") from error


def _refusal(repo: str, error: "HfHubHTTPError") -> str:
    status = error.response.status_code
    said = {
        UNAUTHORISED: f"the Hub does not accept the token (401): {LOGIN}",
        FORBIDDEN: f"the token may not write to {repo} (403): {LOGIN}",
        MISSING: f"{repo} is not there, or the token may not see it (404): {LOGIN}",
        CONFLICT: f"{repo} has one of that name already, or is being changed (409): publish again",
        MOVED: f"{repo} was changed by somebody else meanwhile (412): look at it, publish again",
    }
    return said.get(status, f"the Hub answered {status} for {repo}: try again later")
