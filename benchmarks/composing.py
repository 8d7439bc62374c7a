"""Benchmark the graph composer: how fast it is, what it draws, and whether that runs.

    python benchmarks/composing.py --n 20000 --sample 200

Problems are run in the sandbox of the measuring engine, up to the end of its eager checks: all at
tiny sizes, and a sample with a small batch of the sizes that it was drawn with.
"""

import argparse
import itertools
import json
import platform
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fusewright.compose.graph import draw_sized, draws
from fusewright.compose.preset import PRESETS, TINY, Preset
from fusewright.compose.render import render
from fusewright.compose.size import choose_batch, least_batch
from fusewright.compose.summary import Drawn, summarize
from fusewright.measure.plan import Checks, Plan
from fusewright.measure.supervisor import Supervisor
from fusewright.operators.catalogue import CATALOGUE
from outcome import Line

HERE = Path(__file__).parent
NAMES = frozenset(op for rule in CATALOGUE for op in rule.ops)
COUNTS = (2, 8)
"""Fewest and most operators of a problem."""
BATCH = 8
"""Items of a batch when all but the batch has the size that it was drawn with."""
COMMONEST = 5
MEMORY_BYTES = 6 * 10**9
TARGETS = {
    "drawn and rendered per s": ("least", 2000.0),
    "sized per s": ("least", 1000.0),
    "branching": ("least", 0.4),
    "several inputs": ("least", 0.3),
    "operators of the catalogue": ("least", 150.0),
    "largest share of use": ("most", 0.04),
    "distinct skeletons": ("least", 0.6),
    "valid at tiny sizes": ("least", 0.999),
    "non-finite at tiny sizes": ("most", 0.0),
    "degenerate at real feature sizes": ("most", 0.05),
}
"""What the composer is held to."""


def main() -> int:
    """Run the command line; returns the exit code."""
    options = _parser().parse_args()
    found = measure(options)
    options.results.mkdir(parents=True, exist_ok=True)
    file = options.results / f"composing-{options.device}.json"
    file.write_text(json.dumps(found, indent=1) + "\n")
    print(table(found))
    return 0


def measure(options: argparse.Namespace) -> Line:
    """Everything about the composer, as one record."""
    preset = PRESETS[options.device]
    seeds = range(options.seed, options.seed + options.n)
    found: Line = {
        "date": datetime.now(UTC).date().isoformat(),
        "python": platform.python_version(),
        "settings": {"device": options.device, "seed": options.seed, "operators": list(COUNTS)},
        "catalogue": {"operators": len(NAMES), "rules": len(CATALOGUE)},
        "speed": speed(seeds[: options.timed], preset),
    }
    drawn = [drawn_from(seed, preset) for seed in seeds]
    found["drawn"] = summarize(drawn)
    tiny = [drawn_from(seed, TINY).code for seed in seeds[: options.tiny]]
    found["tiny"] = verdicts(tiny, "basic", options.workers)
    sample = drawn[:: max(1, len(drawn) // options.sample)][: options.sample]
    codes = [with_batch(one, BATCH) for one in sample]
    found["checked"] = {**verdicts(codes, "all", options.workers), "batch": BATCH}
    return found


def drawn_from(seed: int, preset: Preset) -> Drawn:
    """The problem that *seed* determines."""
    found = draw_sized(NAMES, seed, preset, COUNTS)
    if found is None:
        raise SystemExit(f"seed {seed}: no problem was drawn from the whole catalogue")
    graph, batch, dice = found
    return Drawn(graph, batch, render(graph, batch, dice))


def speed(seeds: Sequence[int], preset: Preset) -> Line:
    """Rates on one core, by processor time: of drawing and writing, of sizing, and of all."""
    drawn_from(seeds[0], preset)
    began = time.process_time()
    graphs = [next(draws(NAMES, seed, preset, COUNTS)) for seed in seeds]
    for graph, dice in graphs:
        render(graph, BATCH, dice)
    written = time.process_time()
    sized = [choose_batch(graph, dice, preset) for graph, dice in graphs]
    end = time.process_time()
    for seed in seeds:
        drawn_from(seed, preset)
    all_s = time.process_time() - end
    return {
        "n": len(seeds),
        "drawn_per_s": len(seeds) / (written - began),
        "sized_per_s": len(seeds) / (end - written),
        "unsizable_share": sized.count(None) / len(sized),
        "all_per_s": len(seeds) / all_s,
    }


def with_batch(one: Drawn, batch: int) -> str:
    """Text of *one* with *batch* items, or as many more as its norms need."""
    batch = min(one.batch, max(batch, least_batch(one.graph)))
    return one.code.replace(f"batch_size = {one.batch}\n", f"batch_size = {batch}\n")


def verdicts(codes: Iterable[str], checks: Checks, workers: int) -> Line:
    """Run *codes* in the sandbox and count what became of them."""
    candidates = [{"key": str(key), "code": code} for key, code in enumerate(codes)]
    plan = Plan(device="cpu", checks=checks, last="eager", memory_bytes=MEMORY_BYTES)
    reasons: Counter[str] = Counter()
    details: list[Line] = []
    began = time.monotonic()
    with Supervisor(plan, workers) as supervisor:
        for verdict in supervisor.measure(candidates):
            if rejection := verdict.get("rejection"):
                reasons[rejection["reason"]] += 1
                details.append({"key": verdict["key"], **rejection})
            sys.stderr.write(".")
    sys.stderr.write("\n")
    return {
        "n": len(candidates),
        "rejected": dict(reasons.most_common()),
        "per_s": len(candidates) / (time.monotonic() - began),
        "details": details,
    }


def figures(found: Line) -> dict[str, float]:
    """The figures that have a target, by name."""
    drawn, tiny, checked = found["drawn"], found["tiny"], found["checked"]
    invalid = sum(tiny["rejected"].values())
    return {
        "drawn and rendered per s": found["speed"]["drawn_per_s"],
        "sized per s": found["speed"]["sized_per_s"],
        "branching": drawn["branching_share"],
        "several inputs": drawn["several_inputs_share"],
        "operators of the catalogue": found["catalogue"]["operators"],
        "largest share of use": max(drawn["uses"].values()),
        "distinct skeletons": drawn["skeleton_share"],
        "valid at tiny sizes": 1 - invalid / tiny["n"],
        "non-finite at tiny sizes": tiny["rejected"].get("nonfinite_output", 0) / tiny["n"],
        "degenerate at real feature sizes": sum(checked["rejected"].values()) / checked["n"],
    }


def held(value: float, target: tuple[str, float]) -> bool:
    """Whether *value* keeps to *target*."""
    which, limit = target
    return value >= limit if which == "least" else value <= limit


def table(found: Line) -> str:
    """The record *found* in a few aligned lines."""
    rows = [
        (name, _number(value), f"{TARGETS[name][0]} {_number(TARGETS[name][1])}",
         "held" if held(value, TARGETS[name]) else "missed")
        for name, value in figures(found).items()
    ]  # fmt: skip
    width = max(len(row[0]) for row in rows)
    lines = [f"{a.ljust(width)}  {b.rjust(9)}  {c.ljust(12)}  {d}" for a, b, c, d in rows]
    drawn = found["drawn"]
    commonest = itertools.islice(drawn["uses"].items(), COMMONEST)
    told = {
        "operators a problem": _listed(drawn["operators"]),
        "commonest operators": _listed({op: f"{share:.1%}" for op, share in commonest}),
        "motifs": _listed({name: f"{share:.1%}" for name, share in drawn["motifs"].items()}),
        "exact duplicates": f"{drawn['duplicate_share']:.2%}",
        "odd batches, all sizes": f"{drawn['odd_batch_share']:.1%}, {drawn['odd_size_share']:.1%}",
        "all steps per s": f"{found['speed']['all_per_s']:,.0f}",
        **{f"rejected, {part}": _tally(found[part]) for part in ("tiny", "checked")},
    }
    lines += ["", *(f"{name.ljust(width)}  {text}" for name, text in told.items())]
    return "\n".join(lines)


def _listed(counts: dict[Any, Any]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def _tally(part: Line) -> str:
    return f"{_listed(part['rejected']) or 'none'} of {part['n']:,}"


def _number(value: float) -> str:
    return f"{value:,.4g}" if value > 1 else f"{value:.2%}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--n", type=int, default=20000, help="problems to draw")
    add("--tiny", type=int, default=None, help="of them, problems to run at tiny sizes (all)")
    add("--sample", type=int, default=200, help="problems to check at real feature sizes")
    add("--timed", type=int, default=3000, help="problems to time the composer by")
    add("--seed", type=int, default=0, help="seed of the first")
    add("--device", choices=sorted(PRESETS), default="cuda", help="whose sizes are drawn")
    add("--workers", type=int, default=1)
    add("--results", type=Path, default=HERE / "results")
    return parser


if __name__ == "__main__":
    sys.exit(main())
