"""Default configurations of one model, from a configuration module of its own."""

import importlib
from collections.abc import Mapping

from fusewright.operators.expression import attempt
from fusewright.operators.transformers.settings import Settings, flatten

BASE = ("configuration_utils", "PreTrainedConfig")
"""Module and name of what every configuration class of the library inherits from."""


def warm_up(package: str) -> type:
    """Import what every configuration needs, and no model; the class that all inherit from."""
    kind: type = getattr(importlib.import_module(f"{package}.{BASE[0]}"), BASE[1])
    return kind


def defaults(package: str, module: str) -> Mapping[str, Settings]:
    """Settings of each configuration class that *module* of *package* defines, by class name.

    Foreign code runs here: call it in a process that may die. A class that cannot be built without
    arguments has no defaults, and is left out.
    """
    base, name = warm_up(package), f"{package}.{module}"
    kinds = [k for k in vars(importlib.import_module(name)).values() if isinstance(k, type)]
    own = [kind for kind in kinds if issubclass(kind, base) and kind.__module__ == name]
    built = {kind.__name__: attempt(kind) for kind in own}
    return {n: flatten(b, base) for n, b in built.items() if not isinstance(b, Exception)}
