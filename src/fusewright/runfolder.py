"""One run's folder: its lock, its `run.yaml`, and its ledger.

`run.yaml` holds the resolved config, the versions and the commit that the run began with. A folder
that another config or version wrote is refused before anything in it is touched.
"""

import fcntl
import importlib.metadata
import json
import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import yaml

from fusewright.config import Config, Settings, describe
from fusewright.configfile import make_config
from fusewright.errors import RunFolderError
from fusewright.ledger import Ledger

JUDGING = ("judge", "select", "release", "limits")
"""Sections that may change without measuring anything again."""
FREE = ("measure.remeasure_fraction",)
"""Settings that may change from sitting to sitting: nothing decided so far depends on them."""
RUN_FILE = "run.yaml"
OPERATORS_FILE = "operators.parquet"


class RunFolder:
    """A run folder that this process alone writes; use it as a context manager.

    Args:
        path: The folder; it is made if need be.
        config: What the run must have been begun with.
        rejudge: Whether *config* may differ in the sections on judging: then what these decide is
            forgotten, and decided anew.

    Raises:
        RunFolderError: The folder is another run's, is in use, or is no run folder at all.
    """

    def __init__(self, path: Path, config: Config, *, rejudge: bool = False) -> None:
        self.path = path
        self.ledger = Ledger(path)
        self._lock: int | None = None
        self.config = config
        self.facts = _read(path) or _facts()
        self._changed = False
        if not (path / RUN_FILE).exists():
            _require_empty(path)
        # A run that has decided nothing yet is free to begin anew.
        elif any(path.glob("*/*.parquet")):
            _require_versions(path, self.facts)
            self._changed = _require_config(path, read_config(path), config, rejudge=rejudge)
        else:
            self.facts = _facts()

    def __enter__(self) -> Self:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(self.path / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise RunFolderError(f"{self.path} cannot be used as a run folder: {error}") from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(self._lock)
            raise RunFolderError(f"{self.path} is in use by another fusewright process") from error
        for torn in self.path.glob("*/*.tmp"):
            torn.unlink()
        if self._changed:
            self.ledger.reset("select")
            self.ledger.reset("judge")
        self._write()
        return self

    def __exit__(self, *_: object) -> None:
        if self._lock is not None:
            os.close(self._lock)

    @property
    def operators_file(self) -> Path:
        """Where the mined operators lie."""
        return self.path / OPERATORS_FILE

    @property
    def device(self) -> dict[str, Any] | None:
        """Device that the run was measured on, with its peaks; None before the first sitting."""
        if not self._device_file.exists():
            return None
        noted: dict[str, Any] = json.loads(self._device_file.read_text())
        return noted

    @property
    def _device_file(self) -> Path:
        return self.path / "device.json"

    def same_device(self, device: dict[str, Any]) -> dict[str, Any]:
        """Note *device* with its peaks, or return what the first sitting noted of the same one.

        Raises:
            RunFolderError: The run was measured on another device so far.
        """
        noted = self.device
        if noted is None:
            temporary = self._device_file.with_suffix(".tmp")
            temporary.write_text(json.dumps(device, indent=2) + "\n")
            temporary.rename(self._device_file)
            return device
        if noted["name"] != device["name"]:
            raise RunFolderError(
                f"{self.path} was measured on {noted['name']}, this is {device['name']}: "
                "go on there, or use another --run"
            )
        return noted

    @property
    def release(self) -> Path:
        """Folder of the release."""
        return self.path / "release"

    def _write(self) -> None:
        self.facts = {**self.facts, "config": self.config.model_dump(mode="json")}
        temporary = self.path / f".{RUN_FILE}"
        temporary.write_text(yaml.safe_dump(self.facts, sort_keys=False))
        temporary.rename(self.path / RUN_FILE)


def read_config(path: Path) -> Config:
    """Config that the run in *path* began with.

    Raises:
        RunFolderError: No run was begun there.
    """
    found = _read(path)
    if found is None:
        raise RunFolderError(
            f"{path} is no run folder (it has no {RUN_FILE}): begin one with "
            f"`fusewright run --config FILE --run {path}`"
        )
    return make_config(found["config"], str(path / RUN_FILE))


def _read(path: Path) -> dict[str, Any] | None:
    file = path / RUN_FILE
    if not file.is_file():
        return None
    try:
        facts = yaml.safe_load(file.read_text())
        dict(facts["config"])
        return dict(facts)
    except (yaml.YAMLError, OSError, ValueError, TypeError, KeyError) as error:
        raise RunFolderError(f"{file} cannot be read: restore it, or use another --run") from error


def _facts() -> dict[str, Any]:
    return {
        "fusewright": importlib.metadata.version("fusewright"),
        "torch": importlib.metadata.version("torch"),
        "python": platform.python_version(),
        "commit": _commit(),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _commit() -> str | None:
    """Commit of the checkout that this package is imported from; None in an installed wheel."""
    root = Path(__file__).parents[2]
    if not (root / ".git").exists():
        return None
    git = subprocess.run(  # noqa: S603 -- a fixed command
        ["git", "-C", str(root), "rev-parse", "HEAD"],  # noqa: S607 -- git from PATH, as users run it
        capture_output=True,
        text=True,
        check=False,
    )
    return git.stdout.strip() or None


def _require_empty(path: Path) -> None:
    if path.exists() and not path.is_dir():
        raise RunFolderError(f"{path} is a file; expected a folder for the run")
    if path.is_dir() and any(entry.name != ".lock" for entry in path.iterdir()):
        raise RunFolderError(f"{path} holds other files and no {RUN_FILE}: use another --run")


def _require_versions(path: Path, found: dict[str, Any]) -> None:
    now = _facts()
    for name in ("fusewright", "torch"):
        if found.get(name) != now[name]:
            raise RunFolderError(
                f"{path} was written with {name} {found.get(name)}, this is {now[name]}: "
                "install that version to go on, or use another --run"
            )


def _require_config(path: Path, begun: Config, config: Config, *, rejudge: bool) -> bool:
    """Return whether the configs differ, in a way that is allowed."""
    before, now = _flat(begun), _flat(config)
    changed = [name for name in now if now[name] != before.get(name) and name not in FREE]
    if not changed:
        return False
    name = next((n for n in changed if n.split(".")[0] not in JUDGING), changed[0])
    if name.split(".")[0] not in JUDGING:
        hint = "use another --run"
    elif not rejudge:
        hint = f"`fusewright judge --run {path} --set {name}={now[name]}` judges anew"
    else:
        return True
    raise RunFolderError(
        f"{path} was written by another config: {name} was {before.get(name)!r}, "
        f"is {now[name]!r}; {hint}"
    )


def _flat(settings: Settings) -> dict[str, Any]:
    return {name: value for name, value, _ in describe(settings)}
