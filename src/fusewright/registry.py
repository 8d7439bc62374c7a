"""Built-ins and plug-ins through one door: Python entry points.

A group is `fusewright.operators`, `.composers`, `.meters` or `.filters`; the value of an entry is a
factory, usually a frozen dataclass, whose parameters are its settings in the config. In the group
`fusewright.rules` it is the typed rules of the operator source of that name.
"""

import importlib.metadata
import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from fusewright.errors import PluginError, unknown

Group = Literal["operators", "composers", "meters", "filters", "rules"]
OWN = "fusewright"


def entries(group: Group) -> dict[str, importlib.metadata.EntryPoint]:
    """Installed entries of *group* by name, those alone whose name is beyond dispute.

    A name of ours stays ours; a name that two packages claim belongs to neither.
    """
    return {name: claims[0] for name, claims in _claims(group).items() if len(_owners(claims)) == 1}


def disputes(group: Group) -> dict[str, str]:
    """One line on each name of *group* that some package claims in vain."""
    return {
        name: _dispute(group, claims)
        for name, claims in _claims(group).items()
        if len({claim.value for claim in claims}) > 1
    }


def built_in(group: Group) -> frozenset[str]:
    """Names of *group* that are fusewright's own."""
    return frozenset(name for name, claims in _claims(group).items() if _is_ours(claims[0]))


def require_known(group: Group, name: str) -> None:
    """Check that *name* is an entry of *group*; nothing is loaded.

    Raises:
        PluginError: It is not, or two packages claim it.
    """
    known = entries(group)
    if name not in known:
        raise PluginError(
            disputes(group).get(name) or unknown(f"{group[:-1]} plug-in", name, known)
        )


def build(group: Group, name: str, settings: Mapping[str, Any] | None = None) -> Any:
    """Make the *group* member called *name* with its *settings*.

    Raises:
        PluginError: There is no such member, it cannot be imported, or it refuses the settings.
    """
    return _make(load(group, name), settings or {}, _where(entries(group)[name], group))


def load(group: Group, name: str) -> Any:
    """Import what the *group* member called *name* points to.

    Raises:
        PluginError: There is no such member, or it cannot be imported.
    """
    require_known(group, name)
    entry = entries(group)[name]
    # A plug-in is foreign code: whatever it raises while loading is one clear line for the caller.
    try:
        return entry.load()
    except (Exception, SystemExit) as error:
        raise PluginError(f"{_where(entry, group)} cannot be loaded: {_said(error)}") from error


def build_from_file(path: Path, attribute: str, settings: Mapping[str, Any] | None = None) -> Any:
    """Make a plug-in from *attribute* of the Python file at *path*.

    Raises:
        PluginError: The file is missing, fails while it runs, or has no such attribute.
    """
    return _make(load_from_file(path, attribute), settings or {}, f"plug-in file {path}")


def load_from_file(path: Path, attribute: str) -> Any:
    """Run the Python file at *path* and give its *attribute*.

    Raises:
        PluginError: The file is missing, fails while it runs, or has no such attribute.
    """
    require_file(path)
    where = f"plug-in file {path}"
    name = f"fusewright_plugin_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise PluginError(f"{where} is not a Python file: its name must end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise PluginError(f"{where} fails: {_said(error)}") from error
    if not hasattr(module, attribute):
        raise PluginError(f"{where} defines no '{attribute}': expected it at the top level")
    return getattr(module, attribute)


def require_file(path: Path) -> None:
    """Check that a plug-in file is there.

    Raises:
        PluginError: It is not.
    """
    if not path.is_file():
        raise PluginError(
            f"plug-in file {path} does not exist: give a path relative to the working folder"
        )


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
        raise PluginError(
            f"{where} refuses its settings {dict(settings)}: {_said(error)}"
        ) from error
    name = getattr(made, "name", None)
    if not isinstance(name, str):
        raise PluginError(f"{where} makes {type(made).__name__}, which has no `name`")
    if not (name.strip() and name.isprintable() and ":" not in name):
        raise PluginError(f"{where} is called {name!r}: expected printable text without a colon")
    return made


def _claims(group: Group) -> dict[str, list[importlib.metadata.EntryPoint]]:
    """Entries of *group* by name, ours first."""
    found: dict[str, list[importlib.metadata.EntryPoint]] = {}
    for entry in importlib.metadata.entry_points(group=f"{OWN}.{group}"):
        found.setdefault(entry.name, []).append(entry)
    return {name: sorted(claims, key=_is_ours, reverse=True) for name, claims in found.items()}


def _owners(claims: Sequence[importlib.metadata.EntryPoint]) -> set[str]:
    """What the claims of one name point to that may have it."""
    return {claim.value for claim in claims if _is_ours(claim) or not _is_ours(claims[0])}


def _dispute(group: Group, claims: Sequence[importlib.metadata.EntryPoint]) -> str:
    packages = [_package(claim) for claim in claims]
    if _is_ours(claims[0]):
        return (
            f"{group} '{claims[0].name}' of {', '.join(packages[1:])} is left out: the name is a "
            "built-in's; the package has to rename its entry point"
        )
    return (
        f"{group} '{claims[0].name}' is claimed by {' and by '.join(packages)}: "
        "uninstall one of them, or rename its entry point"
    )


def _is_ours(entry: importlib.metadata.EntryPoint) -> bool:
    return entry.dist is not None and entry.dist.name == OWN


def _where(entry: importlib.metadata.EntryPoint, group: Group) -> str:
    return f"{group} '{entry.name}' ({_package(entry)}, {entry.value})"


def _package(entry: importlib.metadata.EntryPoint) -> str:
    return entry.dist.name if entry.dist else "unknown package"


def _said(error: BaseException) -> str:
    """What *error* says, on one line, and what to do about a package that is not there."""
    text = f"{type(error).__name__}: {' '.join(str(error).split())}"
    if isinstance(error, ModuleNotFoundError):
        return f"{text}; install it, or take the plug-in out of the config"
    return text
