"""Requests to a fake Hub and its answers, apart from any socket."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

WRITER, READER = "hf_writer", "hf_reader"
ROLES = {WRITER: "write", READER: "read"}
"""Tokens that are accepted, and what each may do."""


@dataclass(frozen=True)
class Request:
    """One request as the routes see it."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes
    base: str
    """Address of the fake itself."""

    @property
    def json(self) -> Any:
        """The body, read as JSON."""
        return json.loads(self.body)

    @property
    def token(self) -> str | None:
        """The token it came with."""
        return self.headers.get("authorization", "").removeprefix("Bearer ") or None


@dataclass(frozen=True)
class Reply:
    """One answer."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, content: Any, kind: str = "application/json") -> "Reply":
        """Answer with *content* as JSON."""
        return cls(json.dumps(content).encode(), headers={"content-type": kind})
