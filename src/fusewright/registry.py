"""Built-ins and plug-ins through one door: Python entry points.

A group is `fusewright.operators`, `.composers`, `.meters` or `.filters`; the value of an entry is a
factory, usually a frozen dataclass, whose parameters are its settings in the config.
"""

import importlib.metadata
import importlib.util
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from fusewright.errors import PluginError, unknown

Group = Literal["operators", "composers", "meters", "filters"]
OWN = "fusewright"


def entries(group: Group) -> dict[str, importlib.metadata.EntryPoint]:
    """Installed entries of *group* by name.

    Raises:
        PluginError: Two packages claim one name, or a package shadows a built-in.
    """
    found: dict[str, importlib.metadata.EntryPoint] = {}
    for entry in importlib.metadata.entry_points(group=f"{OWN}.{group}"):
        other = found.get(entry.name)
        if other and other.value != entry.value:
            raise PluginError(
                f"{group} '{entry.name}' is claimed by {_package(other)} and by {_package(entry)}: "
                "uninstall one of them, or rename its entry point"
            )
        found[entry.name] = entry
    return found


def build(group: Group, name: str, settings: Mapping[str, Any] | None = None) -> Any:
    """Make the *group* member called *name* with its *settings*.

    Raises:
        PluginError: There is no such member, it cannot be imported, or it refuses the settings.
    """
    known = entries(group)
    if name not in known:
        raise PluginError(unknown(f"{group[:-1]} plug-in", name, known))
    where = f"{group} '{name}' ({_package(known[name])}, {known[name].value})"
    # A plug-in is foreign code: whatever it raises while loading is one clear line for the caller.
    try:
        factory = known[name].load()
    except (Exception, SystemExit) as error:
        raise PluginError(f"{where} cannot be loaded: {type(error).__name__}: {error}") from error
    return _make(factory, settings or {}, where)


def build_from_file(path: Path, attribute: str, settings: Mapping[str, Any] | None = None) -> Any:
    """Make a plug-in from *attribute* of the Python file at *path*.

    Raises:
        PluginError: The file is missing, fails while it runs, or has no such attribute.
    """
    where = f"plug-in file {path}"
    if not path.is_file():
        raise PluginError(f"{where} does not exist: give a path relative to the working folder")
    name = f"fusewright_plugin_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise PluginError(f"{where} is not a Python file: its name must end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise PluginError(f"{where} fails: {type(error).__name__}: {error}") from error
    if not hasattr(module, attribute):
        raise PluginError(f"{where} defines no '{attribute}'")
    return _make(getattr(module, attribute), settings or {}, where)


def require(made: Any, method: str) -> None:
    """Check that a plug-in has its one method.

    Raises:
        PluginError: It has not.
    """
    if not callable(getattr(made, method, None)):
        raise PluginError(f"plug-in '{made.name}' ({type(made).__name__}) has no method `{method}`")


def _make(factory: Callable[..., Any], settings: Mapping[str, Any], where: str) -> Any:
    try:
        made = factory(**settings)
    except (Exception, SystemExit) as error:
        raise PluginError(f"{where} refuses its settings {dict(settings)}: {error}") from error
    if not isinstance(getattr(made, "name", None), str):
        raise PluginError(f"{where} makes {type(made).__name__}, which has no `name`")
    return made


def _package(entry: importlib.metadata.EntryPoint) -> str:
    return entry.dist.name if entry.dist else "unknown package"
