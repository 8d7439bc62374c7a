"""Benchmark the measuring engine on this machine's device: speed, and how true its times are.

    python benchmarks/measuring.py --problems problems.jsonl --device cuda

Each part is a process of its own. What it measured stays in the raw folder, so that a part that is
whole is not run again; figures come from whatever lies there, and are written after every part.
"""

import argparse
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import report
from fusewright.measure.__main__ import read_lines
from outcome import Line
from parts import Folder, Part, shuffled

HERE = Path(__file__).parent
WINDOW_MS = {"cuda": (1.0, 100.0), "cpu": (0.05, 1000.0)}
"""Eager times that a run on each kind of device asks for."""
CANARY_S = 20.0
"""A processor is shared with others, and drifts all the time: canaries are for a GPU."""
SOLO_BUDGET_MS = 100.0
"""A yardstick is timed for longer than what it is held against."""
BASIC = ("--checks", "basic")
MIXED = "order"
"""The engine takes problems in an order drawn by hash, so that the few that a baseline measures too
are spread over its whole run, and are not the ones at which its workers warm up."""
LEVEL = "level2"
COMPOSED = ("all", "basic", "sequential", "solo")
KERNELBENCH = ("kernelbench", "kernelbench-own")
NAMES = (*COMPOSED, *KERNELBENCH)


def main() -> int:
    """Run the command line; returns the exit code."""
    options = _parser().parse_args()
    folder, failed = Folder(options.raw), False
    for name in default_parts(options) if options.parts is None else options.parts:
        part = make_part(name, options, folder)
        missing = len(folder.missing(part))
        print(f"{name}: {missing} of {len(part.problems)} to measure", flush=True)
        failure = folder.run(part, options.limit_s) if missing else None
        if failure:
            failed = True
            print(f"{name} {failure}; see {options.raw / name}.log", file=sys.stderr)
        write(folder, options)
    found = write(folder, options)
    if found is None:
        print(f"nothing was measured: {options.raw} is empty", file=sys.stderr)
        return 1
    print(f"\n{report.table(found)}")
    return int(failed)


def default_parts(options: argparse.Namespace) -> tuple[str, ...]:
    """Every part that can be run with *options*: KernelBench's problems are sized for a GPU."""
    return NAMES if options.kernelbench and options.device == "cuda" else COMPOSED


def make_part(name: str, options: argparse.Namespace, folder: Folder) -> Part:
    """What the part of that name measures, and by which options."""
    if name in KERNELBENCH:
        return kernelbench_part(name, options)
    device, timed, many = common(options)
    if name == "solo":
        budget = ("--workers", "1", "--solo", "--budget-ms", f"{SOLO_BUDGET_MS:g}")
        return Part(name, sample(options, folder), (*device, *budget), goes_on=True)
    problems = list(read_lines(options.problems))
    if name == "sequential":
        alone = (*timed, "--workers", "1", *BASIC)
        return Part(name, problems[: options.sequential], alone)
    canaries = ("--canary-s", f"{CANARY_S:g}") if options.device == "cuda" else ()
    checks = canaries if name == "all" else BASIC
    return Part(name, shuffled(problems, MIXED), (*timed, *many, *checks))


def kernelbench_part(name: str, options: argparse.Namespace) -> Part:
    """A part on KernelBench's problems: the engine on all, or its own code on the first few."""
    level = read_level(options.kernelbench)
    if name == KERNELBENCH[0]:
        device, _, many = common(options)
        # No window: KernelBench's own code times every problem as well.
        return Part(name, shuffled(level, MIXED), (*device, *many, *BASIC))
    script = HERE / "kernelbench_own.py"
    theirs = sorted((options.kernelbench / "src" / "kernelbench").glob("*.py"))
    command = (str(script), "--kernelbench", str(options.kernelbench))
    return Part(name, level[: options.slice], (), command, (script, *theirs))


def common(options: argparse.Namespace) -> Iterator[tuple[str, ...]]:
    """Options that name the device; those with the window as well; and those for many workers."""
    device = ("--device", options.device)
    yield device
    yield (*device, "--window", "{:g},{:g}".format(*WINDOW_MS[options.device]))
    yield ("--workers", str(options.workers))


def sample(options: argparse.Namespace, folder: Folder) -> list[Line]:
    """Problems to measure again, alone: drawn by hash among those that no part turned away."""
    outcomes = [folder.outcome(name) for name in ("all", "basic")]
    rejected = {v["key"] for o in outcomes if o for v in o.verdicts if "rejection" in v}
    problems = [p for p in read_lines(options.problems) if p["key"] not in rejected]
    return shuffled(problems, "sample")[: options.sample]


def read_level(checkout: Path | None) -> list[Line]:
    """Problems of KernelBench's level 2, in the order of their numbers.

    Raises:
        SystemExit: There is no checkout, or it holds no such problems.
    """
    if checkout is None:
        raise SystemExit("parts on KernelBench need --kernelbench, a checkout of it")
    files = list((checkout / "KernelBench" / LEVEL).glob("*.py"))
    if not files:
        raise SystemExit(f"'{checkout}' has no KernelBench/{LEVEL}/*.py; give a checkout of it")
    files.sort(key=lambda file: int(file.stem.split("_")[0]))
    return [{"key": file.stem, "code": file.read_text()} for file in files]


def write(folder: Folder, options: argparse.Namespace) -> Line | None:
    """Write the figures of what lies in *folder* under the device's name, and return them."""
    outcomes = {name: outcome for name in NAMES if (outcome := folder.outcome(name))}
    if not outcomes:
        return None
    abouts = {name: folder.about(name) for name in outcomes}
    found = report.record(outcomes, abouts, WINDOW_MS[options.device])
    options.results.mkdir(parents=True, exist_ok=True)
    file = options.results / f"{slug(options.device, found['device']['name'])}.json"
    file.write_text(json.dumps(found, indent=1) + "\n")
    return found


def slug(device: str, name: str) -> str:
    """Name of a file for the device called *name*."""
    words = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    return f"cpu-{words}" if device == "cpu" else words


def _names(text: str) -> list[str]:
    names = [name for name in text.split(",") if name and name != "none"]
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        raise argparse.ArgumentTypeError(f"no part '{unknown[0]}'; there are {', '.join(NAMES)}")
    return names


def _parser() -> argparse.ArgumentParser:
    kind = argparse.ArgumentDefaultsHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=kind)
    add = parser.add_argument
    add("--problems", type=Path, required=True, help="JSON lines of `key` and `code`")
    add("--device", choices=("cuda", "cpu"), required=True)
    add("--workers", type=int, default=max(1, (os.cpu_count() or 1) - 2))
    add("--parts", type=_names, help=f"of {','.join(NAMES)}; `none` makes figures alone")
    add("--sample", type=int, default=200, help="how many are measured again, alone")
    add("--sequential", type=int, default=40, help="how many one worker measures")
    add("--kernelbench", type=Path, help="checkout of KernelBench")
    add("--slice", type=int, default=30, help="how many its own code times")
    add("--raw", type=Path, default=HERE / "raw", help="what each part left")
    add("--results", type=Path, default=HERE / "results")
    add("--limit-s", type=float, help="longest time of one part, seconds")
    return parser


if __name__ == "__main__":
    sys.exit(main())
