"""The folder of the user's in which runs share what costs time to make again."""

import os
from pathlib import Path


def user_cache() -> Path:
    """Path of the folder, by the XDG Base Directory Specification; it need not exist."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "fusewright"
