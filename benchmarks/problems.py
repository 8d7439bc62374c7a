"""Write the problems that a run folder has composed as JSON lines of `key` and `code`.

    python benchmarks/problems.py RUN FILE.jsonl [N]

This needs the package with all it depends on; measuring what it wrote needs PyTorch alone.
"""

import itertools
import sys
from pathlib import Path

from fusewright.ledger import Ledger
from fusewright.records import Problem
from parts import write_lines


def main(run: str, target: str, most: str | None = None) -> None:
    """Write the first *most* problems, or all of them."""
    problems = Ledger(Path(run)).kept("compose", Problem)
    texts = {problem.key: problem.code for problem in problems}
    count = None if most is None else int(most)
    chosen = itertools.islice(texts.items(), count)
    write_lines(Path(target), [{"key": key, "code": code} for key, code in chosen])


if __name__ == "__main__":
    main(*sys.argv[1:])
