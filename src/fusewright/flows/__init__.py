"""Flows that regenerate a dataset: thin Prefect around a plain pipeline.

Prefect is imported by `regenerate` alone. `quiet` must run before that import.
"""

import os

QUIET = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
    "PREFECT_SERVER_UI_V2_ENABLED": "false",
    "PREFECT_TELEMETRY_ENABLE_RESOURCE_METRICS": "false",
    "PREFECT_LOGGING_LEVEL": "CRITICAL",
    "PREFECT_SERVER_LOGGING_LEVEL": "CRITICAL",
}
"""No telemetry, no analytics, no remote content; the pipeline reports progress itself."""


def quiet() -> None:
    """Set Prefect's defaults, unless the user's environment sets them otherwise."""
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
