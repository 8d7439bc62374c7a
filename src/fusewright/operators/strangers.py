"""Texts of strangers, laid out for the process that is to run them and sees nothing else."""

import json
import re
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from fusewright.config import Plugin, TextSettings
from fusewright.errors import PluginError, unknown
from fusewright.texts import Place


def lay_out(plugin: Plugin, folder: Path) -> dict[str, Any]:
    """Write the texts that *plugin* names into *folder*, and return the request for its process.

    Raises:
        PluginError: A setting is wrong.
        UsageError: The texts cannot be read.
    """
    settings = _settings(plugin)
    place = Place(plugin.name, settings.column, settings.split, settings.revision)
    file = folder / "texts.jsonl"
    with file.open("w") as lines:
        for text in place.texts():
            line = {"name": text.path.replace("/", "."), "code": text.code}
            lines.write(json.dumps(line) + "\n")
    known = {"name": settings.name or _called(plugin.name), "license": settings.license}
    return {"name": plugin.name, "settings": known, "texts": str(file)}


def _settings(plugin: Plugin) -> TextSettings:
    try:
        return TextSettings(**plugin.settings)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        if first["type"] == "extra_forbidden":
            said = unknown("setting", field, TextSettings.model_fields)
        else:
            said = f"setting '{field}': {first['msg']} (given {first['input']!r})"
        raise PluginError(f"operator source '{plugin.name}': {said}") from error


def _called(place: str) -> str:
    """What a place is called where its settings do not say: the last part of its path."""
    path = Path(place)
    name = path.stem if path.is_file() else path.resolve().name
    return re.sub(r"[^\w.-]", "_", name)
