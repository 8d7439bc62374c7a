"""Problems on which the compiler leaves nothing to gain."""

from dataclasses import dataclass
from typing import ClassVar

from fusewright.records import Measurement, Problem, Rejection


@dataclass(frozen=True)
class Headroom:
    """Rejects compiled times under *min_ratio* times the speed-of-light time.

    Source: the reward of arXiv 2602.24286 asks for 5 % over the compiler, which nobody can get
    within 10 % of the bound.
    """

    min_ratio: float = 1.1
    name: ClassVar[str] = "headroom"
    reasons: ClassVar[tuple[str, ...]] = ("no_headroom",)

    def __post_init__(self) -> None:
        """Check the settings.

        Raises:
            ValueError: The ratio is under 1, or not a number.
        """
        if not self.min_ratio >= 1:
            raise ValueError(f"min_ratio {self.min_ratio} is out of range; expected 1 or more")

    def judge(self, problem: Problem, measurement: Measurement) -> Rejection | None:
        """Keep a problem whose compiled time is *min_ratio* times the bound or more."""
        ratio = measurement.headroom
        if ratio >= self.min_ratio:
            return None
        detail = (
            f"compiled {measurement.compiled.median_ms:.4g} ms is {ratio:.3f} times the "
            f"speed-of-light time, under {self.min_ratio:g} times"
        )
        limit = self.min_ratio
        return Rejection.of(problem, "judge", "no_headroom", detail, value=ratio, limit=limit)
