"""Commands that run stages: the whole flow, or one stage at a time."""

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from fusewright import assemble
from fusewright.cli.opening import ConfigFile, RunDir, Sets, opened, require_run, settings_of
from fusewright.configfile import load_config
from fusewright.console import out, print_funnel, print_stage, print_table, progress
from fusewright.errors import ConfigError, FusewrightError, UsageError, unknown
from fusewright.protocols import Composer, Inspectable
from fusewright.records import Operator
from fusewright.runfolder import RunFolder

COMMONEST = 5
"""Operators whose share of use is printed."""


def run(
    *,
    config: ConfigFile = None,
    sets: Sets = (),
    run_dir: Annotated[Path | None, Parameter(name=["--run"])] = None,
) -> None:
    """Make a release, end to end; a run that was stopped goes on where it was.

    Args:
        config: YAML file of settings; without one, the quickstart that the package ships.
        sets: One setting in place of the file's, as `section.key=value`; may be repeated.
        run_dir: Folder of the run, by default `runs/<config name>`.
    """
    from fusewright.flows import quiet  # before Prefect is imported

    folder = run_dir or Path("runs") / load_config(config, sets).name
    settings = settings_of(folder, config, sets)
    # What can be refused is refused here, before a server is started for it.
    RunFolder(folder, settings)
    assemble.check(settings)
    quiet()
    with progress():
        # Prefect takes seconds to import, and reads its settings then.
        from fusewright.flows.guard import reach_server
        from fusewright.flows.regenerate import regenerate

        reach_server()
        rows = regenerate(folder, settings)
    release = folder / "release"
    print_funnel(json.loads((release / "stats" / "funnel.json").read_text()))
    for label, path in (("release", release), ("dashboard", release / "dashboard.html")):
        out.print(f"{label:10} {path}", soft_wrap=True)
    if rows < settings.select.target:
        raise FusewrightError(
            f"the release is short: {rows} rows of {settings.select.target}; a limit was reached "
            f"(candidates {settings.limits.candidates}, rounds {settings.limits.rounds}, "
            f"hours {settings.limits.hours:g})"
        )


def mine(*, run_dir: RunDir, config: ConfigFile = None, sets: Sets = ()) -> None:
    """Find operators and test each of them.

    Args:
        run_dir: Folder of the run; begun if need be.
        config: YAML file of settings for a run that begins here.
        sets: One setting, as `section.key=value`; may be repeated.
    """
    with opened(run_dir, config, sets) as pipeline:
        pipeline.mine()
        print_stage("mine", pipeline.ledger.tally("mine"))


def compose(
    *,
    run_dir: RunDir,
    composer: str | None = None,
    n: int | None = None,
    seed: int = 0,
    check: bool = True,
    config: ConfigFile = None,
    sets: Sets = (),
) -> None:
    """Write candidates: those that the run still owes, or *n* by one composer.

    Of the *n*, tell how fast they came, how many run, and what they are made of.

    Args:
        run_dir: Folder of the run; begun, and operators mined, if need be.
        composer: Name of the one composer to ask.
        n: Number of candidates to ask it for.
        seed: Seed of the first; the others count up from it.
        check: Run what these seeds give at tiny sizes, in processes that are confined.
        config: YAML file of settings for a run that begins here.
        sets: One setting, as `section.key=value`; may be repeated.
    """
    if (composer is None) != (n is None):
        raise UsageError(
            "--composer and --n go together: `fusewright compose --composer graph --n 100`"
        )
    if n is not None and n < 1:
        raise UsageError(f"--n {n}: expected a positive number of candidates")
    with opened(run_dir, config, sets) as pipeline:
        names = [share.name for share in pipeline.run.config.compose.composers]
        if composer is not None and composer not in names:
            raise ConfigError(unknown("composer in this run's config", composer, names))
        pipeline.mine()
        if composer is not None and n is not None:
            pipeline.draw(composer, range(seed, seed + n))
        elif not pipeline.ledger.shards("draw"):
            next(pipeline.rounds(), None)
        before, began = pipeline.ledger.tally("compose").inputs, time.monotonic()
        pipeline.decide_all("compose")
        took_s, tally = time.monotonic() - began, pipeline.ledger.tally("compose")
        print_stage("compose", tally)
        if composer is not None and n is not None:
            made = assemble.composers(pipeline.run.config)[composer]
            rate = (tally.inputs - before) / took_s if tally.inputs > before else None
            _print_drawn(made, pipeline.operators(), range(seed, seed + n), rate, check=check)


def _print_drawn(
    composer: Composer,
    operators: Sequence[Operator],
    seeds: Sequence[int],
    per_s: float | None,
    *,
    check: bool,
) -> None:
    """Print rate, validity, duplicates, skeletons and use of operators, as far as it tells them."""
    rows = [("candidates per s", "none was new" if per_s is None else f"{per_s:,.0f}")]
    if isinstance(composer, Inspectable):
        if check:
            from fusewright.tryout import try_out  # starts the measuring engine

            rows += _validity_rows(try_out(composer, operators, seeds, os.cpu_count() or 1))
        rows += _drawn_rows(composer.describe(operators, seeds))
    print_table(f"{composer.name}: {len(seeds):,} seeds", ("figure", "value"), rows)


def _validity_rows(told: Counter[str]) -> list[tuple[str, str]]:
    ran, total = told["ran"], told.total()
    faults = [(f"  {name}", f"{count:,}") for name, count in told.most_common() if name != "ran"]
    return [("run at tiny sizes", f"{ran:,} of {total:,} ({ran / total:.2%})"), *faults]


def _drawn_rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    if not found:
        return []
    uses = found["uses"]
    commonest = ", ".join(f"{op} {uses[op]:.1%}" for op in list(uses)[:COMMONEST])
    return [
        ("exact duplicates", f"{found['duplicate_share']:.2%}"),
        ("distinct skeletons", f"{found['skeleton_share']:.1%}"),
        ("operators in use", f"{len(uses):,}"),
        ("commonest", commonest),
    ]


def _stage_command(stage: str, sentence: str) -> Callable[..., None]:
    def command(*, run_dir: RunDir) -> None:
        require_run(run_dir)
        with opened(run_dir) as pipeline:
            pipeline.decide_all(stage)
            print_stage(stage, pipeline.ledger.tally(stage))

    command.__doc__ = f"{sentence}\n\nArgs:\n    run_dir: Folder of the run.\n"
    return command


screen = _stage_command(
    "screen", "Turn away, by text alone, what is broken, copied or contaminated."
)


def measure(*, run_dir: RunDir, sets: Sets = ()) -> None:
    """Run the candidates on the device, and then a sample of them again, alone.

    Args:
        run_dir: Folder of the run.
        sets: `measure.remeasure_fraction=SHARE`, to make the sample larger or smaller.
    """
    require_run(run_dir)
    with opened(run_dir, sets=sets) as pipeline:
        for stage in ("measure", "remeasure"):
            pipeline.decide_all(stage)
            print_stage(stage, pipeline.ledger.tally(stage))


def judge(*, run_dir: RunDir, config: ConfigFile = None, sets: Sets = ()) -> None:
    """Apply the thresholds to stored measurements; changed ones measure nothing again.

    Args:
        run_dir: Folder of the run.
        config: YAML file of settings, if they changed.
        sets: One setting in place of the run's, as `judge.key=value`; may be repeated.
    """
    require_run(run_dir)
    with opened(run_dir, config, sets, rejudge=True) as pipeline:
        pipeline.decide_all("judge")
        print_stage("judge", pipeline.ledger.tally("judge"))


def select(*, run_dir: RunDir, config: ConfigFile = None, sets: Sets = ()) -> None:
    """Choose the rows of the release, diverse first.

    Args:
        run_dir: Folder of the run.
        config: YAML file of settings, if they changed.
        sets: One setting in place of the run's, as `select.key=value`; may be repeated.
    """
    require_run(run_dir)
    with opened(run_dir, config, sets, rejudge=True) as pipeline:
        pipeline.decide_all("judge")
        pipeline.select()
        print_stage("select", pipeline.ledger.tally("select"))


def release(*, run_dir: RunDir, config: ConfigFile = None, sets: Sets = ()) -> None:
    """Write the release folder from what the run holds.

    Args:
        run_dir: Folder of the run.
        config: YAML file of settings, if they changed.
        sets: One setting in place of the run's, as `release.key=value`; may be repeated.
    """
    require_run(run_dir)
    with opened(run_dir, config, sets, rejudge=True) as pipeline:
        pipeline.decide_all("judge")
        pipeline.select()
        pipeline.release()
        out.print(str(pipeline.run.release), soft_wrap=True)
