"""What a fake Hub answers to each request: one pure function a route, over a `Store`.

The routes are those that `huggingface_hub` 2 and `datasets` 5 use to create a repo, to commit, tag
and list, and to load a dataset; every other is answered with 501, so that a gap is seen.
"""

import base64
import json
import re
from collections.abc import Callable
from typing import Any, cast
from urllib.parse import parse_qs

from fusewright.testing.hub_messages import ROLES, Reply, Request
from fusewright.testing.hub_store import BRANCH, Blob, Kind, Refused, Repo, Store

LARGE_SUFFIXES = (".parquet", ".bin")
"""Files that travel by large file storage, whatever their size."""

DATE = "2026-01-01T00:00:00.000Z"
USER = "me"

Route = Callable[[Store, Request, tuple[str, ...]], Reply]


def answer(store: Store, request: Request) -> Reply:
    """Answer *request*; what is refused carries the code by which the client picks its error."""
    try:
        return _route(store, request)
    except Refused as refused:
        headers = {"x-error-code": refused.code, "x-error-message": str(refused)}
        body = json.dumps({"error": str(refused)}).encode()
        return Reply(body, refused.status, {"content-type": "application/json"} | headers)


def _route(store: Store, request: Request) -> Reply:
    if request.token and request.token not in ROLES:
        raise Refused(401, "Unauthorized", "Invalid credentials in Authorization header")
    for methods, pattern, route in ROUTES:
        found = re.fullmatch(pattern, request.path)
        if found and request.method in methods.split():
            return route(store, request, found.groups())
    raise Refused(501, "NotImplemented", f"{request.method} {request.path}")


def _repo(store: Store, request: Request, kind: str, name: str) -> Repo:
    repo = store.repos.get((cast("Kind", kind), name))
    if repo is None or (repo.private and request.token is None):
        raise Refused(404 if request.token else 401, "RepoNotFound")
    return repo


def _require_write(request: Request) -> None:
    if request.token is None:
        raise Refused(401, "Unauthorized", "Log in first")
    if ROLES[request.token] != "write":
        raise Refused(403, "Forbidden", "This token may only read")


def _whoami(_: Store, request: Request, __: tuple[str, ...]) -> Reply:
    if request.token is None:
        raise Refused(401, "Unauthorized")
    token = {"type": "access_token", "accessToken": {"role": ROLES[request.token]}}
    return Reply.of({"name": USER, "type": "user", "orgs": [], "auth": token})


def _validate(_: Store, __: Request, ___: tuple[str, ...]) -> Reply:
    return Reply.of({"errors": [], "warnings": []})


def _create(store: Store, request: Request, _: tuple[str, ...]) -> Reply:
    _require_write(request)
    wanted = request.json
    kind, name = wanted.get("type", "model"), f"{wanted['organization'] or USER}/{wanted['name']}"
    store.create(kind, name, private=wanted.get("visibility") == "private")
    return Reply.of({"url": f"{request.base}/{kind}s/{name}", "name": name, "id": name})


def _info(store: Store, request: Request, groups: tuple[str, ...]) -> Reply:
    kind, name, revision = groups
    repo = _repo(store, request, kind, name)
    commit = repo.at(revision or BRANCH)
    facts = {"id": name, "sha": commit.oid, "private": repo.private, "gated": False, "tags": []}
    siblings = [{"rfilename": path, "size": len(b.data)} for path, b in commit.files.items()]
    counts = {"disabled": False, "downloads": 0, "likes": 0}
    dates = {"lastModified": DATE, "createdAt": DATE}
    return Reply.of(facts | counts | dates | {"siblings": siblings})


def _tree(store: Store, request: Request, groups: tuple[str, ...]) -> Reply:
    kind, name, revision, folder = groups
    files = _repo(store, request, kind, name).at(revision).files
    prefix = f"{folder}/" if folder else ""
    inside = {path: blob for path, blob in files.items() if path.startswith(prefix)}
    if folder and not inside:
        raise Refused(404, "EntryNotFound")
    deep = request.query.get("recursive", "").lower() == "true"
    shown = [_file(p, b) for p, b in inside.items() if deep or "/" not in p[len(prefix) :]]
    parts = [path[len(prefix) :].split("/")[:-1] for path in inside]
    depth = None if deep else 1
    folders = {prefix + "/".join(p[: n + 1]) for p in parts for n in range(len(p[:depth]))}
    return Reply.of(shown + [_folder(path) for path in sorted(folders)])


def _paths(store: Store, request: Request, groups: tuple[str, ...]) -> Reply:
    kind, name, revision = groups
    files = _repo(store, request, kind, name).at(revision).files
    wanted = parse_qs(request.body.decode()).get("paths", [])
    found = [_file(path, files[path]) for path in wanted if path in files]
    folders = [path for path in wanted if any(p.startswith(f"{path}/") for p in files)]
    return Reply.of(found + [_folder(path) for path in folders])


def _refs(store: Store, request: Request, groups: tuple[str, ...]) -> Reply:
    repo = _repo(store, request, *groups)
    branch = {"name": BRANCH, "ref": f"refs/heads/{BRANCH}", "targetCommit": repo.head}
    tags = [
        {"name": name, "ref": f"refs/tags/{name}", "targetCommit": oid}
        for name, oid in repo.tags.items()
    ]
    return Reply.of({"branches": [branch], "tags": tags, "converts": []})


def _resolve(store: Store, request: Request, groups: tuple[str, ...]) -> Reply:
    kind, name, revision, path = groups
    commit = _repo(store, request, kind, name).at(revision)
    if path not in commit.files:
        raise Refused(404, "EntryNotFound")
    blob = commit.files[path]
    headers = {"x-repo-commit": commit.oid, "etag": f'"{blob.name}"', "accept-ranges": "bytes"}
    if blob.lfs:
        linked = {"x-linked-etag": f'"{blob.sha256}"', "x-linked-size": str(len(blob.data))}
        headers |= linked
    span = re.fullmatch(r"bytes=(\d+)-(\d*)", request.headers.get("range", ""))
    if span is None:
        return Reply(blob.data, headers=headers)
    first = int(span[1])
    part = blob.data[first : int(span[2]) + 1 if span[2] else None]
    headers["content-range"] = f"bytes {first}-{first + len(part) - 1}/{len(blob.data)}"
    return Reply(part, 206, headers)


def _preupload(store: Store, request: Request, groups: tuple[str, ...]) -> Reply:
    _require_write(request)
    kind, name, revision = groups
    files = _repo(store, request, kind, name).at(revision).files
    paths = [wanted["path"] for wanted in request.json["files"]]
    answers = [
        {
            "path": path,
            "uploadMode": "lfs" if path.endswith(LARGE_SUFFIXES) else "regular",
            "shouldIgnore": False,
            "oid": files[path].name if path in files else None,
        }
        for path in paths
    ]
    return Reply.of({"files": answers})


def _batch(store: Store, request: Request, _: tuple[str, ...]) -> Reply:
    _require_write(request)
    objects = []
    for wanted in request.json["objects"]:
        upload = {"upload": {"href": f"{request.base}/_lfs/{wanted['oid']}", "header": {}}}
        known = wanted["oid"] in store.large
        objects.append(wanted | {"authenticated": True} | ({} if known else {"actions": upload}))
    reply = {"transfer": "basic", "objects": objects}
    return Reply.of(reply, "application/vnd.git-lfs+json")


def _upload(store: Store, request: Request, groups: tuple[str, ...]) -> Reply:
    if Blob(request.body, lfs=True).sha256 != groups[0]:
        raise Refused(422, "Unprocessable", "the bytes are not those that were announced")
    store.large[groups[0]] = request.body
    return Reply()


def _commit(store: Store, request: Request, groups: tuple[str, ...]) -> Reply:
    _require_write(request)
    kind, name, _ = groups
    repo = _repo(store, request, kind, name)
    header: dict[str, Any] = {}
    changes: dict[str, Blob | None] = {}
    for line in request.body.splitlines():
        operation = json.loads(line)
        value = operation["value"]
        match operation["key"]:
            case "header":
                header = value
            case "file":
                changes[value["path"]] = Blob(base64.b64decode(value["content"]), lfs=False)
            case "lfsFile":
                changes[value["path"]] = Blob(store.large[value["oid"]], lfs=True)
            case "deletedFile":
                changes[value["path"]] = None
    done = repo.commit(changes, header["summary"], header.get("parentCommit"))
    url = f"{request.base}/{kind}s/{name}/commit/{done.oid}"
    return Reply.of({"success": True, "commitOid": done.oid, "commitUrl": url})


def _tag(store: Store, request: Request, groups: tuple[str, ...]) -> Reply:
    _require_write(request)
    kind, name, revision = groups
    _repo(store, request, kind, name).tag(request.json["tag"], revision)
    return Reply.of({})


def _file(path: str, blob: Blob) -> dict[str, Any]:
    entry = {"type": "file", "oid": blob.git, "size": len(blob.data), "path": path}
    large = {"oid": blob.sha256, "size": len(blob.data), "pointerSize": 130}
    return entry | ({"lfs": large} if blob.lfs else {})


def _folder(path: str) -> dict[str, Any]:
    return {"type": "directory", "oid": "0" * 40, "size": 0, "path": path}


_API = r"/api/(model|dataset|space)s/([^/]+/[^/]+)"
_NAME = r"([^/]+)"
ROUTES: tuple[tuple[str, str, Route], ...] = (
    ("GET", r"/api/whoami-v2", _whoami),
    ("POST", r"/api/validate-yaml", _validate),
    ("POST", r"/api/repos/create", _create),
    ("GET", rf"{_API}(?:/revision/{_NAME})?", _info),
    ("GET", rf"{_API}/tree/{_NAME}(?:/(.+))?", _tree),
    ("POST", rf"{_API}/paths-info/{_NAME}", _paths),
    ("GET", rf"{_API}/refs", _refs),
    ("POST", rf"{_API}/preupload/{_NAME}", _preupload),
    ("POST", rf"{_API}/commit/{_NAME}", _commit),
    ("POST", rf"{_API}/tag/{_NAME}", _tag),
    ("POST", r"/(?:datasets/)?[^/]+/[^/]+\.git/info/lfs/objects/batch", _batch),
    ("PUT", r"/_lfs/([0-9a-f]{64})", _upload),
    ("HEAD GET", rf"/(dataset)s/([^/]+/[^/]+)/resolve/{_NAME}/(.+)", _resolve),
)
