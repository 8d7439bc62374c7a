"""One zygote for all of these tests: starting one costs seconds, forking from it next to none."""

from dataclasses import fields, replace

import pytest

from fusewright.config import Deadlines, MeasureSettings
from fusewright.measure.forker import Forker
from fusewright.measure.handle import Handle
from fusewright.measure.meter import Supervised
from fusewright.measure.plan import Plan
from fusewright.testing import make_problem

SETTINGS = MeasureSettings(
    device="cpu",
    workers=2,
    memory_gb=3,
    max_spread=None,
    window_ms=None,
    budget_ms=2,
    warmup_ms=1,
    deadlines=Deadlines(build_s=10, eager_s=10, compile_s=100, timing_s=20),
)
PLAN = Plan(memory_bytes=3 * 10**9, budget_ms=2.0, warmup_ms=1.0)
"""What the one zygote was told."""
ITS_OWN = ("index", "scratch", "leases")
"""What of a plan is not the supervisor's to change."""


class Told(Handle):
    """A worker of the one zygote that is told by every request what its supervisor wants."""

    wanted = None

    def send(self, request):
        super().send({**request, "plan": {**self.wanted, **request.get("plan", {})}})
        self.request = request


class Shared(Forker):
    """The one zygote, in the hands of one supervisor after another."""

    def wants(self, plan):
        self.wanted = {
            field.name: getattr(plan, field.name)
            for field in fields(Plan)
            if field.name not in ITS_OWN
        }
        return self

    def fork(self, device):
        handle = super().fork(device)
        told = Told(handle.pid, handle.channel, handle.device)
        told.wanted = self.wanted
        return told

    def close(self):
        """It outlives its supervisors."""

    def end(self):
        super().close()


@pytest.fixture(scope="package")
def zygote(tmp_path_factory):
    """The one zygote."""
    shared = Shared(replace(PLAN, leases=str(tmp_path_factory.mktemp("leases"))))
    yield shared
    shared.end()


@pytest.fixture(scope="package", autouse=True)
def every_supervisor_uses_it(request):
    """Let whoever asks for a zygote in these tests have the one, started when first asked for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "fusewright.measure.crew.Forker",
            lambda plan: request.getfixturevalue("zygote").wants(plan),
        )
        yield


@pytest.fixture(scope="package")
def meter(every_supervisor_uses_it):
    """One meter on the CPU that many tests use."""
    with Supervised(SETTINGS) as started:
        yield started


@pytest.fixture(scope="package")
def verdict_of(meter):
    """Measure one text, and return the measurement or the rejection."""

    def measure(code):
        (verdict,) = meter.measure([make_problem(code)])
        return verdict

    return measure
