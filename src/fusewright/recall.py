"""How many copies of a benchmark's problems the filter finds, and how many others it condemns."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from fusewright.filters.benchmark import NearBenchmark
from fusewright.identity import read
from fusewright.planting import planted
from fusewright.records import Problem, Rejection


def recall(
    benchmark: str,
    problems: Iterable[Problem],
    independent: Iterable[Problem] = (),
    limit: float = 0.9,
) -> dict[str, Any]:
    """Plant copies of *problems*, and see which the filter turns away at *limit*.

    Args:
        benchmark: Name of a shipped fingerprint of the problems, or the path of one.
        problems: Those of the benchmark; each is copied in every way that changes it.
        independent: Problems that are no copies: what is turned away of them is a false positive.
        limit: Similarity from which a problem is turned away.

    Returns:
        `benchmark`, `limit`, `kinds` (of each `copies` and `found`) and `independent` (`problems`
        and `found`).
    """
    judge = NearBenchmark(limit, (benchmark,))
    copies, found = Counter[str](), Counter[str]()
    for problem in problems:
        for kind, code in planted(problem.code).items():
            copies[kind] += 1
            found[kind] += _is_found(judge, code)
    others = [_is_found(judge, problem.code) for problem in independent if _has_model(problem)]
    return {
        "benchmark": benchmark,
        "limit": limit,
        "kinds": {kind: {"copies": n, "found": found[kind]} for kind, n in copies.items()},
        "independent": {"problems": len(others), "found": sum(others)},
    }


def _is_found(judge: NearBenchmark, code: str) -> bool:
    verdict = judge.judge(Problem(code=code, ops=(), composer="planted", seed=0))
    return isinstance(verdict, Rejection) and verdict.reason == judge.name


def _has_model(problem: Problem) -> bool:
    return "Model" in read(problem.code).classes
