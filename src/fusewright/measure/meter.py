"""The meter of the product: records in, supervised processes behind, records out."""

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from fusewright.config import MeasureSettings
from fusewright.errors import MeasureError
from fusewright.measure.isolation import gaps
from fusewright.measure.plan import Plan
from fusewright.measure.supervisor import Supervisor
from fusewright.records import Measurement, Problem, Rejection

logger = logging.getLogger(__name__)

SPARE_CORES = 2
"""Cores left to the supervisor and the rest of the system."""


@dataclass
class Supervised:
    """Measure problems in supervised processes; use it as a context manager."""

    settings: MeasureSettings = field(default_factory=MeasureSettings)
    name: str = "supervisor"

    def __enter__(self) -> Self:
        settings = self.settings
        plan = Plan(
            device=settings.device,
            memory_bytes=int(settings.memory_gb * 1e9),
            warmup_ms=settings.warmup_ms,
            budget_ms=settings.budget_ms,
            min_repetitions=settings.min_repetitions,
            max_repetitions=settings.max_repetitions,
            max_spread=settings.max_spread,
            window_ms=settings.window_ms,
        )
        deadlines = settings.deadlines
        cores = max(1, (os.cpu_count() or 1) - SPARE_CORES)
        self._supervisor = Supervisor(
            plan,
            settings.workers or max(1, cores // len(settings.devices)),
            settings.recycle_after,
            {
                "build": deadlines.build_s,
                "eager": deadlines.eager_s,
                "compile": deadlines.compile_s,
                "timing": deadlines.timing_s,
            },
            devices=settings.devices,
            # A processor is shared with others, and drifts all the time.
            canary_s=settings.canary_s if settings.device == "cuda" else None,
        )
        self._supervisor.__enter__()
        try:
            self._require_isolation()
        except MeasureError:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._supervisor.__exit__()

    @property
    def device(self) -> dict[str, Any]:
        """Name of the device, the versions its timings depend on, and its measured peaks."""
        return {**self._supervisor.device, "peaks": self._supervisor.peaks}

    def draw_rooflines_with(self, peaks: dict[str, float]) -> None:
        """Use *peaks* that an earlier sitting measured, so that one run has one roofline."""
        self._supervisor.peaks = peaks

    def measure(self, problems: Sequence[Problem]) -> Iterator[Measurement | Rejection]:
        """Yield one verdict a problem, in the order in which they are decided."""
        return self._decide(problems, self._supervisor.measure)

    def remeasure(self, problems: Sequence[Problem]) -> Iterator[Measurement | Rejection]:
        """Yield a second verdict a problem, each alone on the device, with stock benchmarks."""
        return self._decide(problems, self._supervisor.remeasure)

    def _decide(
        self,
        problems: Sequence[Problem],
        decide: Callable[[Iterable[dict[str, Any]]], Iterator[dict[str, Any]]],
    ) -> Iterator[Measurement | Rejection]:
        by_key = {problem.key: problem for problem in problems}
        candidates = [{"key": key, "code": problem.code} for key, problem in by_key.items()]
        for verdict in decide(candidates):
            yield self._record(by_key[verdict["key"]], verdict)

    def _require_isolation(self) -> None:
        missing = gaps(self._supervisor.isolation)
        if not missing:
            return
        if self.settings.isolation == "required":
            raise MeasureError(
                f"{missing}; `measure.isolation` is required: measure elsewhere, or set it to best"
            )
        logger.warning("%s", missing)

    def _record(self, problem: Problem, verdict: dict[str, Any]) -> Measurement | Rejection:
        device = self._supervisor.device
        try:
            if "rejection" in verdict:
                return Rejection.of(problem, "measure", **verdict["rejection"])
            return Measurement(
                problem=problem.key,
                device=device["name"],
                torch=device["torch"],
                **verdict["measurement"],
            )
        except (TypeError, ValueError, KeyError) as error:
            # A candidate can write to its worker's socket, though not much that makes sense.
            return Rejection.of(problem, "measure", "crash", f"the worker sent garbage: {error}")
