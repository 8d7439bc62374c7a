"""Measure problems on a machine that has PyTorch and nothing else.

    python -m fusewright.measure --in problems.jsonl --out results.jsonl --device cuda

A line of the input holds `key` and `code`; a line of the output holds `key` and either
`measurement` or `rejection`, and the first one describes the device. Keys that the output has
already are left out, so that a second sitting goes on where the first one stopped.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from fusewright.measure.handle import Message
from fusewright.measure.plan import Plan
from fusewright.measure.supervisor import DEADLINES_S, Supervisor


def main() -> int:
    """Run the command line; returns the exit code."""
    arguments = _parser().parse_args()
    candidates = list(read_lines(arguments.source))
    done = {line.get("key") for line in read_lines(arguments.target)}
    pending = [line for line in candidates if line["key"] not in done]
    drop_torn_line(arguments.target)
    plan = Plan(
        device=arguments.device,
        checks=arguments.checks,
        last=arguments.last,
        window_ms=arguments.window,
        budget_ms=arguments.budget_ms,
        max_spread=arguments.max_spread,
        keep_samples=arguments.samples,
    )
    begin, limit_s = time.monotonic(), arguments.deadline_s
    with (
        Supervisor(
            plan,
            arguments.workers,
            deadlines_s=dict.fromkeys(DEADLINES_S, limit_s) if limit_s else DEADLINES_S,
            devices=range(arguments.devices),
            canary_s=arguments.canary_s,
        ) as supervisor,
        arguments.target.open("a", buffering=1) as results,
    ):
        booted = {"boot_s": round(time.monotonic() - begin, 2), "workers": arguments.workers}
        about = {"device": supervisor.device, "peaks": supervisor.peaks}
        results.write(json.dumps({**about, "isolation": supervisor.isolation, **booted}) + "\n")
        decide = supervisor.remeasure if arguments.solo else supervisor.measure
        for count, verdict in enumerate(decide(pending), 1):
            verdict["at_s"] = round(verdict["at_s"] - begin, 3)
            results.write(json.dumps(verdict) + "\n")
            sys.stderr.write(f"\r{count}/{len(pending)}")
        drift = [post.drift.report() for post in supervisor.posts.values()]
        results.write(json.dumps({"drift": drift}) + "\n")
    sys.stderr.write("\n")
    return 0


def read_lines(path: Path) -> Iterator[Message]:
    """Whole lines of a JSON lines file; a last line that a kill cut short is left out."""
    if not path.exists():
        return
    # `splitlines` would also cut at what JSON may hold in a string, U+2028 for one.
    yield from map(json.loads, path.read_text().split("\n")[:-1])


def drop_torn_line(path: Path) -> None:
    """Cut off a last line that a kill left unfinished, so that the next one stands alone."""
    if path.exists():
        content = path.read_bytes()
        with path.open("r+b") as file:
            file.truncate(content.rfind(b"\n") + 1)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m fusewright.measure", description=__doc__)
    add = parser.add_argument
    add("--in", dest="source", type=Path, required=True, help="JSON lines of `key` and `code`")
    add("--out", dest="target", type=Path, required=True, help="JSON lines, appended to")
    add("--device", choices=("cpu", "cuda"), default="cuda")
    add("--devices", type=int, default=1, metavar="N", help="use the first N devices")
    add("--workers", type=int, default=max(1, (os.cpu_count() or 1) - 2), help="for each device")
    add("--checks", choices=("all", "basic", "none"), default="all")
    add("--last", choices=("eager", "timing"), default="timing", help="phase that ends it")
    add("--window", type=_window, metavar="LO,HI", help="eager ms worth compiling for")
    add("--budget-ms", type=float, default=Plan.budget_ms, help="timed for this long each")
    add("--max-spread", type=float, default=None, help="IQR over median that is noisy")
    add("--canary-s", type=float, default=None, help="seconds between canaries")
    add("--deadline-s", type=float, default=None, help="longest time of each phase")
    add("--samples", action="store_true", help="tell every single time")
    add("--solo", action="store_true", help="one after the other, timing alone")
    return parser


def _window(text: str) -> tuple[float, float]:
    low, high = map(float, text.split(","))
    return low, high


if __name__ == "__main__":
    sys.exit(main())
