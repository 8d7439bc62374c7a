"""A fake Hugging Face Hub on loopback, in memory, for tests of what publishes and loads.

    with FakeHub() as hub:
        subprocess.run(command, env=os.environ | hub.environment(tmp_path))
        assert hub.store.dataset("me/problems").tags

The client reads its environment when it is imported, so run it in a process of its own.
"""

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Self
from urllib.parse import parse_qsl, unquote, urlsplit

from fusewright.testing.hub_messages import READER, WRITER, Reply, Request
from fusewright.testing.hub_routes import answer
from fusewright.testing.hub_store import Blob, Store

__all__ = ["READER", "WRITER", "Blob", "FakeHub"]

POLL_S = 0.01
"""How often the server looks whether it should stop."""


class FakeHub:
    """Serves a `Store` from entering to leaving the context.

    Attributes:
        store: The repos, to prepare and to look at.
        requests: Method and path of every request so far.
        before_commit: Called before a commit is applied: what somebody else does meanwhile.
    """

    def __init__(self) -> None:
        self.store = Store()
        self.requests: list[tuple[str, str]] = []
        self.before_commit: Callable[[], object] = lambda: None
        self._refused: dict[tuple[str, str], int] = {}
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        serve = self._server.serve_forever
        self._thread = threading.Thread(target=serve, args=(POLL_S,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """Address to give as `HF_ENDPOINT`."""
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def writes(self) -> list[tuple[str, str]]:
        """Requests that were not mere reading."""
        reads = ("GET", "HEAD")
        return [request for request in self.requests if request[0] not in reads]

    def environment(self, home: Path, token: str | None = WRITER) -> dict[str, str]:
        """Variables for a client that talks to this Hub alone and keeps its files in *home*."""
        quiet = ("XET", "TELEMETRY", "PROGRESS_BARS", "UPDATE_CHECK")
        return {
            "HF_ENDPOINT": self.url,
            "HF_HOME": str(home),
            "HF_TOKEN": token or "",
            "HF_HUB_OFFLINE": "0",
            "HF_DATASETS_OFFLINE": "0",
            **{f"HF_HUB_DISABLE_{name}": "1" for name in quiet},
        }

    def refuse(self, method: str, part: str, status: int) -> None:
        """Answer with *status* to every request with *part* in its path."""
        self._refused[method, part] = status

    def serve(self, request: Request) -> Reply:
        """Answer one request; they are answered one at a time."""
        with self._lock:
            self.requests.append((request.method, request.path))
            for (method, part), status in self._refused.items():
                if method == request.method and part in request.path:
                    return Reply(b"{}", status, {"content-type": "application/json"})
            if "/commit/" in request.path:
                self.before_commit()
            return answer(self.store, request)


def _handler(hub: FakeHub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Keep quiet: the requests are in `FakeHub.requests`."""

        def respond(self) -> None:
            url = urlsplit(self.path)
            reply = hub.serve(
                Request(
                    method=self.command,
                    path=unquote(url.path),
                    query=dict(parse_qsl(url.query)),
                    headers={name.lower(): value for name, value in self.headers.items()},
                    body=self._body(),
                    base=hub.url,
                )
            )
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(reply.body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(reply.body)

        do_GET = do_HEAD = do_POST = do_PUT = respond  # noqa: N815 -- names that http.server calls

        def _body(self) -> bytes:
            if self.headers.get("transfer-encoding") == "chunked":
                return b"".join(iter(self._chunk, b""))
            return self.rfile.read(int(self.headers.get("content-length") or 0))

        def _chunk(self) -> bytes:
            size = int(self.rfile.readline().strip(), 16)
            data = self.rfile.read(size)
            self.rfile.readline()
            return data

    return Handler
