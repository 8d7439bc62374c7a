"""Time problems by KernelBench's own code, one after the other in one process.

    python kernelbench_own.py --in problems.jsonl --out results.jsonl --kernelbench CHECKOUT

Reads and writes lines as `python -m fusewright.measure` does. Each problem is timed eager and under
`torch.compile` in the default mode, 100 trials each, by `measure_ref_program_time` as it stands in
the checkout. Runs on a GPU alone, as that code does.
"""

import argparse
import importlib
import importlib.util
import json
import sys
import time
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

TRIALS = 100
Timer = Callable[..., dict[str, Any] | None]


def main() -> int:
    """Run the command line; returns the exit code."""
    begin = time.monotonic()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--in", dest="source", type=Path, required=True)
    parser.add_argument("--out", dest="target", type=Path, required=True)
    parser.add_argument("--kernelbench", type=Path, required=True)
    arguments = parser.parse_args()
    problems = [json.loads(line) for line in arguments.source.read_text().splitlines()]
    timer = load_timer(arguments.kernelbench)
    device = {
        "name": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
    }
    boot_s = round(time.monotonic() - begin, 2)
    with arguments.target.open("w", buffering=1) as results:
        results.write(json.dumps({"device": device, "boot_s": boot_s, "workers": 1}) + "\n")
        for verdict in decide(problems, timer):
            verdict["at_s"] = round(time.monotonic() - begin, 3)
            results.write(json.dumps(verdict) + "\n")
    return 0


def decide(problems: list[dict[str, str]], timer: Timer) -> Iterator[dict[str, Any]]:
    """Yield a verdict a problem; the device is held for all the time that it takes."""
    for problem in problems:
        begin = time.perf_counter()
        found = {
            name: timer(
                ref_arch_name=problem["key"],
                ref_arch_src=problem["code"],
                num_trials=TRIALS,
                use_torch_compile=name == "compiled",
            )
            for name in ("eager", "compiled")
        }
        spent_s = {"lease": round(time.perf_counter() - begin, 5)}
        yield {"key": problem["key"], **_verdict(found), "spent_s": spent_s}


def load_timer(checkout: Path) -> Timer:
    """Import KernelBench's timing code alone.

    Raises:
        SystemExit: The folder is no checkout of KernelBench.
    """
    folder = checkout / "src" / "kernelbench"
    if not (folder / "timing.py").is_file():
        raise SystemExit(f"'{checkout}' has no src/kernelbench/timing.py; give a checkout of it")
    # Its __init__ imports clients of language models, which timing has no use for.
    package = types.ModuleType("kernelbench")
    package.__path__ = [str(folder)]
    sys.modules["kernelbench"] = package
    # eval.py, which loads a problem, imports these two for other things that it does: where they
    # are missing, an empty module and a plain class stand in. Nothing that is timed uses them.
    for name, members in (("requests", {}), ("pydantic", {"BaseModel": object})):
        if importlib.util.find_spec(name) is None:
            stand_in = types.ModuleType(name)
            stand_in.__dict__.update(members)
            sys.modules[name] = stand_in
    timer: Timer = importlib.import_module("kernelbench.timing").measure_ref_program_time
    return timer


def _verdict(found: dict[str, dict[str, Any] | None]) -> dict[str, Any]:
    if all(found.values()):
        return {"measurement": found}
    return {"rejection": {"reason": "failed", "detail": "KernelBench gave no time"}}


if __name__ == "__main__":
    sys.exit(main())
