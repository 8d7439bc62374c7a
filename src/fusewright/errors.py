"""Every error a caller can act on.

    FusewrightError              exit code 1: the work failed
    +-- UsageError               exit code 2: the call is wrong          (ValueError)
    |   +-- ConfigError          a config file or `--set` is wrong
    |   +-- PluginError          a plug-in is missing, broken or misnamed
    |   +-- RunFolderError       a run folder belongs to another config, version or process
    +-- LedgerError              a record was lost, doubled or torn
    +-- MeasureError             the measuring processes could not be started or kept alive
    +-- ServerError              Prefect's server cannot be reached or started
    +-- PublishError             the release could not be sent, and the remote is as it was

A bad candidate is never an exception: it is a `Rejection`, kept in the ledger with its reason.
A message says what was given, what was expected, and the valid choices or the next command.
"""

import difflib
from collections.abc import Iterable


class FusewrightError(Exception):
    """The work failed; the command line prints the message alone and exits with 1."""

    exit_code = 1


class UsageError(FusewrightError, ValueError):
    """The call or the config is wrong; nothing was done, and the exit code is 2."""

    exit_code = 2


class ConfigError(UsageError):
    """A config file, a setting or `--set` is wrong."""


class PluginError(UsageError):
    """A plug-in is missing, broken, or shadows another name."""


class RunFolderError(UsageError):
    """A run folder was written by another config or version, or is in use."""


class LedgerError(FusewrightError):
    """A stage's inputs do not equal what it kept plus what it rejected."""


class MeasureError(FusewrightError):
    """The measuring processes could not be started or kept alive."""


class ServerError(FusewrightError):
    """Prefect's server, which records what ran and when, cannot be reached or started."""


class PublishError(FusewrightError):
    """The release could not be sent; the remote is as it was."""


def unknown(kind: str, given: str, choices: Iterable[str]) -> str:
    """Say that `given` is no known *kind*, name its nearest neighbour and list the choices."""
    known = sorted(choices)
    near = difflib.get_close_matches(given, known, n=1)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    return f"no {kind} '{given}'{hint} (valid: {', '.join(known) or 'none'})"
