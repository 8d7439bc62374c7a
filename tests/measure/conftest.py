import pytest

from fusewright.config import Deadlines, MeasureSettings
from fusewright.measure.meter import Supervised
from fusewright.testing import make_problem

SETTINGS = MeasureSettings(
    device="cpu",
    workers=2,
    memory_gb=3,
    max_spread=None,
    budget_ms=2,
    warmup_ms=1,
    deadlines=Deadlines(build_s=10, eager_s=10, compile_s=100, timing_s=20),
)


@pytest.fixture(scope="session")
def meter():
    """One real meter on the CPU for all tests; starting it costs seconds."""
    with Supervised(SETTINGS) as started:
        yield started


@pytest.fixture(scope="session")
def verdict_of(meter):
    """Measure one text, and return the measurement or the rejection."""

    def measure(code):
        (verdict,) = meter.measure([make_problem(code)])
        return verdict

    return measure
