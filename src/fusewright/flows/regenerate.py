"""Regenerate a dataset, end to end: a Prefect flow whose tasks are batches of the pipeline.

    fusewright run --config configs/quickstart.yaml

runs it in this process. Prefect records what ran and when; what became of each candidate stands in
the run's ledger, which needs no server.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from prefect import flow, task
from prefect.cache_policies import NO_CACHE
from prefect.schedules import Cron
from prefect.settings import PREFECT_API_URL

from fusewright.config import Config
from fusewright.configfile import make_config
from fusewright.errors import UsageError
from fusewright.flows.guard import Guard, guarded_server
from fusewright.flows.pipeline import BATCHED, Pipeline
from fusewright.publish import fidelity
from fusewright.records import Record
from fusewright.runfolder import RunFolder


@flow(name="regenerate", validate_parameters=False)
def regenerate(run_dir: Path, config: Config) -> int:
    """Run every stage over *run_dir* until the target or a limit is met; returns the rows."""
    with (
        guarded_server() as guard,
        RunFolder(run_dir, config) as run,
        Pipeline(run) as pipeline,
    ):
        return run_pipeline(pipeline, guard)


def run_pipeline(pipeline: Pipeline, guard: Guard) -> int:
    """Run every stage of *pipeline*, each piece of work a task."""
    pending: list[Sequence[Record]] = []

    @task(name="batch", task_run_name="{stage}-{number}", cache_policy=NO_CACHE)
    def decide(stage: str, number: int) -> None:  # noqa: ARG001 -- the number names the task run
        with guard.working():
            pipeline.decide(stage, pending.pop())

    @task(name="mine", cache_policy=NO_CACHE)
    def mine() -> None:
        with guard.working():
            pipeline.mine()

    def decide_all(stage: str) -> None:
        for number, batch in enumerate(pipeline.batches(stage)):
            # Records stay in this process: Prefect would copy and hash what a task is given.
            pending.append(batch)
            decide(stage, number)
        pipeline.finish(stage)

    mine()
    for _ in pipeline.rounds():
        for stage in BATCHED:
            decide_all(stage)
    # Once all is measured, so that the device is left alone with the sample.
    decide_all(fidelity.STAGE)
    rows = task(name="select", cache_policy=NO_CACHE)(pipeline.select)()
    task(name="release", cache_policy=NO_CACHE)(pipeline.release)()
    return rows


@flow(name="scheduled", validate_parameters=False)
def scheduled(settings: dict[str, Any]) -> int:
    """Regenerate into a folder of its own, named after the config and the start of the run."""
    config = make_config(settings, "schedule")
    started = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    return regenerate(Path("runs") / f"{config.name}-{started}", config)


def serve(config: Config, cron: str) -> None:
    """Begin a run whenever *cron* says so, until interrupted; only one runs at a time.

    Raises:
        UsageError: *cron* is no schedule, or there is no Prefect server, which begins the runs.
    """
    if not PREFECT_API_URL.value():
        raise UsageError(
            "serve needs a Prefect server: start one with `prefect server start`, and set "
            "PREFECT_API_URL to the address that it prints"
        )
    parameters = {"settings": config.model_dump(mode="json")}
    try:
        schedule = Cron(cron)
    except ValueError as error:
        raise UsageError(f"--cron '{cron}': expected `minute hour day month weekday`") from error
    # Stopping and starting again must not leave the schedule paused.
    scheduled.serve(
        name=config.name, schedule=schedule, parameters=parameters, limit=1, pause_on_shutdown=False
    )
