import pytest

from fusewright import doctor
from fusewright.errors import MeasureError
from fusewright.measure.isolation import PROMISES


@pytest.fixture
def machine(monkeypatch):
    """Pretend that workers on this machine start, with these isolations."""

    def pretend(isolation, error=None):
        class Supervisor:
            device = {"name": "a processor"}  # noqa: RUF012
            peaks = {"bytes_per_s": 1e9, "flops_per_s": 1e9}  # noqa: RUF012

            def __init__(self, plan):
                self.isolation = isolation

            def __enter__(self):
                if error:
                    raise MeasureError(error)
                return self

            def __exit__(self, *_):
                pass

        monkeypatch.setattr(doctor, "Supervisor", Supervisor)
        monkeypatch.setattr(doctor.shutil, "which", lambda name: name if name == "g++" else None)
        return {finding.what: finding for finding in doctor.examine()}

    return pretend


def test_each_isolation_is_listed_with_what_it_promises(machine):
    findings = machine(dict.fromkeys(PROMISES, True))

    assert findings["cpu: files"].state == "ok"
    assert findings["cpu: files"].detail == PROMISES["files"].holds
    assert {f"cpu: {name}" for name in PROMISES} <= set(findings)


def test_an_isolation_that_does_not_hold_is_absent_and_says_what_it_takes(machine):
    findings = machine({**dict.fromkeys(PROMISES, True), "signals": False, "processes": False})

    assert findings["cpu: signals"].state == "absent"
    assert "Linux 6.12" in findings["cpu: signals"].detail
    assert "root" in findings["cpu: processes"].detail
    assert findings["cpu: network"].state == "ok"


def test_an_isolation_of_which_nothing_is_known_is_absent(machine):
    assert machine({})["cpu: network"].state == "absent"


def test_a_processor_that_cannot_measure_is_missing_and_a_gpu_absent(machine):
    findings = machine({}, error="torch.compile does not work")

    assert findings["cpu"].state == "missing"
    assert findings["cpu"].detail == "torch.compile does not work"
    assert findings["cuda"].state == "absent"
