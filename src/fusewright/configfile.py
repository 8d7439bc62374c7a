"""From YAML to a checked config; an unknown key names its nearest neighbour.

Files hold what differs from the defaults. `--set a.b=c` overrides one setting, its value read as
YAML. There is no other override, and secrets never stand in a config.
"""

from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, get_args

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from fusewright.config import Config
from fusewright.errors import ConfigError, unknown


def load_config(path: Path | None, overrides: Sequence[str] = ()) -> Config:
    """Read the file at *path* (None: the shipped quickstart) and apply *overrides*, `a.b=c` each.

    Raises:
        ConfigError: The file is missing or no YAML, or a key or value is wrong.
    """
    where = str(path) if path else "quickstart"
    settings = _parse(_read(path), where)
    for override in overrides:
        _apply(settings, override)
    return make_config(settings, where)


def override(config: Config, overrides: Sequence[str]) -> Config:
    """Apply *overrides*, `a.b=c` each, to a config.

    Raises:
        ConfigError: A key or value is wrong.
    """
    settings = config.model_dump(mode="json")
    for one in overrides:
        _apply(settings, one)
    return make_config(settings, "--set")


def make_config(settings: dict[str, Any], where: str) -> Config:
    """Check plain *settings*; *where* names them in an error."""
    try:
        return Config.model_validate(settings)
    except ValidationError as error:
        # A misspelt key is also a missing one: name what was given before what was not.
        errors = sorted(error.errors(), key=lambda e: e["type"] != "extra_forbidden")
        raise ConfigError(f"{where}: {_explain(errors[0])}") from error


def _read(path: Path | None) -> str:
    if path is None:
        return (resources.files("fusewright") / "data" / "quickstart.yaml").read_text()
    if not path.is_file():
        near = sorted(str(p) for p in path.parent.glob("*.yaml")) if path.parent.is_dir() else []
        there = f"; there is {', '.join(near)}" if near else ""
        raise ConfigError(f"config file {path} does not exist{there}")
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"config file {path} cannot be read: {error}") from error


def _parse(text: str, where: str) -> dict[str, Any]:
    try:
        settings = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ConfigError(f"{where} is not YAML: {' '.join(str(error).split())}") from error
    if settings is None:
        return {}
    if not isinstance(settings, dict):
        raise ConfigError(f"{where} holds a {type(settings).__name__}; expected `key: value` lines")
    return settings


def _apply(settings: dict[str, Any], override: str) -> None:
    path, equals, value = override.partition("=")
    if not equals or not path:
        raise ConfigError(f"--set '{override}': expected `section.key=value`")
    *parents, last = path.split(".")
    for parent in parents:
        inner = settings.setdefault(parent, {})
        if not isinstance(inner, dict):
            raise ConfigError(f"--set '{override}': '{parent}' is a value, not a section")
        settings = inner
    try:
        settings[last] = yaml.safe_load(value)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ConfigError(f"--set '{override}': the value is not YAML") from error


def _explain(error: ErrorDetails) -> str:
    location = [str(part) for part in error["loc"]]
    dotted = ".".join(location)
    if error["type"] == "extra_forbidden":
        return unknown(
            "setting", dotted, [".".join([*location[:-1], n]) for n in _siblings(location)]
        )
    given = "" if isinstance(error["input"], dict) else f" (given {error['input']!r})"
    return f"{dotted or 'config'}: {error['msg'].removeprefix('Value error, ')}{given}"


def _siblings(location: Sequence[str]) -> Iterator[str]:
    model: type[BaseModel] = Config
    for part in location[:-1]:
        if part in model.model_fields:
            annotation = model.model_fields[part].annotation
            model = next((a for a in (annotation, *get_args(annotation)) if _is_model(a)), model)
    yield from model.model_fields


def _is_model(annotation: object) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)
