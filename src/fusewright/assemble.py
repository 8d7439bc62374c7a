"""Make what a config asks for, all through the registry."""

import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

from fusewright import registry
from fusewright.config import Config, Plugin
from fusewright.protocols import Composer, MeasuredFilter, ProblemFilter
from fusewright.texts import Place, is_place

logger = logging.getLogger("fusewright.stage")

FILE_ATTRIBUTE: dict[registry.Group, str] = {
    "operators": "source",
    "composers": "composer",
    "meters": "meter",
    "filters": "filter",
    "rules": "rules",
}
"""What a Python file that stands in the config in place of a name must define."""


def plugin(group: registry.Group, wanted: Plugin) -> Any:
    """Make one plug-in, by the name of its entry point or from a Python file."""
    if wanted.name.endswith(".py"):
        path = Path(wanted.name)
        return registry.build_from_file(path, FILE_ATTRIBUTE[group], wanted.settings)
    return registry.build(group, wanted.name, wanted.settings)


def composers(config: Config) -> dict[str, Composer]:
    """Composers by the name under which the config lists them."""
    made = {wanted.name: plugin("composers", wanted) for wanted in config.compose.composers}
    for composer in made.values():
        registry.require(composer, "compose")
    return made


def problem_filters(config: Config) -> list[ProblemFilter]:
    """Built-in filters in the order of the reasons, then the config's own."""
    screen = config.screen
    wanted = [
        Plugin(name="contract"),
        Plugin(name="banned"),
        Plugin(name="unused"),
        Plugin(name="label"),
        Plugin(name="exact_duplicate"),
        Plugin(name="near_duplicate", settings={"limit": screen.near_duplicate}),
        Plugin(
            name="near_benchmark",
            settings={"limit": screen.near_benchmark, "benchmarks": screen.benchmarks},
        ),
    ]
    return cast("list[ProblemFilter]", _filters([*wanted, *screen.filters]))


def measured_filters(config: Config) -> list[MeasuredFilter]:
    """Window and, where it is asked for, headroom; then the config's own."""
    judge = config.judge
    window = {"min_ms": judge.min_eager_ms, "max_ms": judge.max_eager_ms}
    wanted = [Plugin(name="window", settings=window)]
    if judge.min_headroom is not None:
        wanted.append(Plugin(name="headroom", settings={"min_ratio": judge.min_headroom}))
    return cast("list[MeasuredFilter]", _filters([*wanted, *judge.filters]))


def meter(config: Config) -> Any:
    """The meter that the config describes: a context manager with the method of `Meter`."""
    measure, judge = config.measure, config.judge
    if measure.window_ms:
        low, high = measure.window_ms
        window_ms = (min(low, judge.min_eager_ms), max(high, judge.max_eager_ms))
        measure = measure.model_copy(update={"window_ms": window_ms})
    wanted = Plugin(name=measure.meter, settings={"settings": measure})
    made = plugin("meters", wanted)
    registry.require(made, "measure")
    return made


def check(config: Config) -> None:
    """Make everything once, so that a plug-in that is missing or broken is told of at once.

    A package that claims a name which is not its to claim costs a line of warning.

    Operator sources need only be there: they are asked in processes of their own.

    Raises:
        PluginError: A plug-in is not there, or cannot be made.
    """
    require_sources(config.mine.sources)
    composers(config)
    problem_filters(config)
    measured_filters(config)
    meter(config)
    for group in ("composers", "filters", "meters"):
        for line in registry.disputes(group).values():
            logger.warning("%s", line)


def require_sources(sources: Iterable[Plugin]) -> None:
    """Check that each of *sources* is there to be asked; none is loaded.

    Raises:
        UsageError: One is not.
    """
    for source in sources:
        if source.name.endswith(".py"):
            registry.require_file(Path(source.name))
        elif is_place(source.name):
            Place(source.name).require()
        else:
            registry.require_known("operators", source.name)


def _filters(wanted: Iterable[Plugin]) -> list[Any]:
    made = [plugin("filters", one) for one in wanted]
    for one in made:
        registry.require(one, "judge")
    return made
