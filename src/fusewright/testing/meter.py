"""A meter that needs no device: what it says follows from the problem's key alone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from fusewright.records import Measurement, Problem, Rejection
from fusewright.testing.samples import make_measurement


@dataclass(frozen=True)
class FakeMeter:
    """Reject one problem in *reject_every* as `nonfinite_output`, and time the others alike.

    Measured again, eager takes *deviation* of its time longer, and compiled twice that.

    A config takes it as it takes any meter: `measure: {meter: my_meter.py}`, the file being
    `from fusewright.testing import FakeMeter as meter`.
    """

    settings: object = None
    reject_every: int = 5
    deviation: float = 0.001
    name: str = "fake"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing was started."""

    def measure(self, problems: Sequence[Problem]) -> Iterator[Measurement | Rejection]:
        """Yield one verdict a problem, in the order given."""
        for problem in problems:
            draw = int(problem.key, 16)
            if draw % self.reject_every == 0:
                yield Rejection.of(problem, "measure", "nonfinite_output", "made up by FakeMeter")
            else:
                yield self._timed(problem)

    def remeasure(self, problems: Sequence[Problem]) -> Iterator[Measurement | Rejection]:
        """Time each problem as `measure` would, but for the deviation."""
        for problem in problems:
            yield self._timed(problem, self.deviation)

    def _timed(self, problem: Problem, deviation: float = 0.0) -> Measurement:
        eager_ms = 1.5 + int(problem.key, 16) % 64
        times_ms = (eager_ms * (1 + deviation), eager_ms / 2 * (1 + 2 * deviation))
        return make_measurement(problem, *times_ms, sol_ms=eager_ms / 4)
