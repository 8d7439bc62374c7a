"""A configuration as flat values by dotted path, `vision_config.hidden_size` and its like."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Path = tuple[str, ...]

_DEEPEST = 3
_PLAIN = (bool, int, float, str, type(None))


@dataclass(frozen=True)
class Settings:
    """Default values of one configuration class."""

    values: Mapping[str, Any]
    """Plain values by dotted path."""
    parts: frozenset[str] = frozenset()
    """Dotted paths of the configurations within it."""

    def has(self, path: Path) -> bool:
        """Whether *path* names a plain value."""
        return ".".join(path) in self.values

    def is_part(self, path: Path) -> bool:
        """Whether *path* names a configuration, the empty one this itself."""
        return not path or ".".join(path) in self.parts

    def __getitem__(self, path: Path) -> Any:
        return self.values[".".join(path)]


def flatten(configuration: Any, base: type, prefix: str = "", depth: int = 0) -> Settings:
    """Settings of the object *configuration*; what inherits from *base* is a part."""
    values: dict[str, Any] = {}
    parts: set[str] = set()
    for name in dir(configuration):
        if name.startswith("_"):
            continue
        try:
            value = getattr(configuration, name)
        except Exception:  # noqa: S112 -- a property that raises is no default value
            continue
        if isinstance(value, base) and depth < _DEEPEST:
            inner = flatten(value, base, f"{prefix}{name}.", depth + 1)
            values |= inner.values
            parts |= {f"{prefix}{name}", *inner.parts}
        elif _is_plain(value):
            values[f"{prefix}{name}"] = value
    return Settings(values, frozenset(parts))


def _is_plain(value: object) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(value[key]) for key in value)
    return type(value) in _PLAIN and value == value  # noqa: PLR0124 -- NaN has no literal
