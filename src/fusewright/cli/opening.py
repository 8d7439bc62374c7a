"""What most commands begin with: options that name a run, and opening its pipeline."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from fusewright import assemble
from fusewright.config import Config
from fusewright.configfile import load_config, override
from fusewright.console import progress
from fusewright.runfolder import OPERATORS_FILE, RUN_FILE, RunFolder, read_config

if TYPE_CHECKING:
    from fusewright.flows.pipeline import Pipeline

ConfigFile = Annotated[Path | None, Parameter(name="--config")]
Sets = Annotated[tuple[str, ...], Parameter(name="--set", negative="")]
RunDir = Annotated[Path, Parameter(name="--run")]
Format = Annotated[Literal["table", "json"], Parameter(name="--format")]


def settings_of(run_dir: Path, config: Path | None, sets: tuple[str, ...]) -> Config:
    """Settings asked for: the file's, or else those the run began with, with *sets* on top."""
    if config is None and (run_dir / RUN_FILE).is_file():
        return override(read_config(run_dir), sets)
    return load_config(config, sets)


def require_run(run_dir: Path) -> None:
    """Refuse a folder in which no run was begun."""
    read_config(run_dir)


@contextmanager
def opened(
    run_dir: Path, config: Path | None = None, sets: tuple[str, ...] = (), *, rejudge: bool = False
) -> "Iterator[Pipeline]":
    """Open the pipeline of *run_dir*, with progress shown while it is open."""
    from fusewright.flows.pipeline import Pipeline  # imports all that stages need

    settings = settings_of(run_dir, config, sets)
    if not (run_dir / OPERATORS_FILE).exists():
        assemble.require_sources(settings.mine.sources)
    with (
        progress(),
        RunFolder(run_dir, settings, rejudge=rejudge) as run,
        Pipeline(run) as pipeline,
    ):
        yield pipeline
