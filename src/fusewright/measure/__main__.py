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
from collections.abc import Iterator
from pathlib import Path

from fusewright.measure.handle import Message
from fusewright.measure.plan import Plan
from fusewright.measure.supervisor import Supervisor


def main() -> int:
    """Run the command line; returns the exit code."""
    arguments = _parser().parse_args()
    candidates = list(read_lines(arguments.source))
    done = {line.get("key") for line in read_lines(arguments.target)}
    pending = [line for line in candidates if line["key"] not in done]
    drop_torn_line(arguments.target)
    plan = Plan(device=arguments.device, max_spread=arguments.max_spread)
    with (
        Supervisor(plan, arguments.workers) as supervisor,
        arguments.target.open("a", buffering=1) as results,
    ):
        results.write(json.dumps({"device": supervisor.device, "peaks": supervisor.peaks}) + "\n")
        for count, verdict in enumerate(supervisor.measure(pending), 1):
            results.write(json.dumps(verdict) + "\n")
            sys.stderr.write(f"\r{count}/{len(pending)}")
    sys.stderr.write("\n")
    return 0


def read_lines(path: Path) -> Iterator[Message]:
    """Whole lines of a JSON lines file; a last line that a kill cut short is left out."""
    if not path.exists():
        return
    for line in path.read_text().splitlines(keepends=True):
        if line.endswith("\n"):
            yield json.loads(line)


def drop_torn_line(path: Path) -> None:
    """Cut off a last line that a kill left unfinished, so that the next one stands alone."""
    if path.exists():
        content = path.read_bytes()
        with path.open("r+b") as file:
            file.truncate(content.rfind(b"\n") + 1)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m fusewright.measure", description=__doc__)
    parser.add_argument("--in", dest="source", type=Path, required=True)
    parser.add_argument("--out", dest="target", type=Path, required=True)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda")
    parser.add_argument("--workers", type=int, default=max(1, (os.cpu_count() or 1) - 2))
    parser.add_argument("--max-spread", type=float, default=None)
    return parser


if __name__ == "__main__":
    sys.exit(main())
