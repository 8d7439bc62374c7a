"""Flows that regenerate a dataset: thin Prefect around a plain pipeline.

Prefect is imported by `regenerate` and `guard` alone. `quiet` must run before that import.
"""

import importlib.metadata
import os

from fusewright.usercache import user_cache

QUIET = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
    "PREFECT_SERVER_UI_V2_ENABLED": "false",
    "PREFECT_TELEMETRY_ENABLE_RESOURCE_METRICS": "false",
    "PREFECT_LOGGING_LEVEL": "CRITICAL",
    "PREFECT_SERVER_LOGGING_LEVEL": "CRITICAL",
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "60",
}
"""No telemetry, no analytics, no remote content; the pipeline reports progress itself. A server
that makes its database on a busy machine takes longer than the 20 s that Prefect grants it."""
DATABASE = "PREFECT_API_DATABASE_CONNECTION_URL"


def quiet() -> None:
    """Set Prefect's defaults, unless the user's environment sets them otherwise."""
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    if DATABASE not in os.environ:
        # A database that a newer Prefect wrote stops an older one from starting its server.
        version = importlib.metadata.version("prefect")
        file = user_cache() / f"prefect-{version}.db"
        file.parent.mkdir(parents=True, exist_ok=True)
        os.environ[DATABASE] = f"sqlite+aiosqlite:///{file}"
