import os
import threading
from pathlib import Path

import pytest

from fusewright.measure import landlock, privileges
from fusewright.measure.landlock import OWN, READ, Rule

from .children import in_child

PARENT = os.getpid()

pytestmark = pytest.mark.skipif(not landlock.version(), reason="this kernel has no Landlock")


def under(rules, work):
    """Outcome of *work* in a child that *rules* confine."""

    def child():
        privileges.drop()
        landlock.confine(rules)
        return work()

    return in_child(child)


def test_another_process_s_environment_is_closed_where_all_files_are_open():
    everything = [Rule(Path("/"), READ)]
    environment, command = Path(f"/proc/{PARENT}/environ"), Path(f"/proc/{PARENT}/cmdline")

    assert under(everything, lambda: len(environment.read_bytes())) == "EACCES"
    assert under(everything, lambda: len(command.read_bytes())).startswith("returned")


@pytest.mark.parametrize("known", [1, 2, 3, 4, 5, 6, 7])
def test_an_older_kernel_is_asked_for_no_more_than_it_knows(tmp_path, monkeypatch, known):
    if known > landlock.version():
        pytest.skip("this kernel does not know it")
    monkeypatch.setattr(landlock, "version", lambda: known)
    rules = [Rule(tmp_path / "own", OWN), Rule(Path("/usr"), READ)]
    (tmp_path / "own").mkdir()

    def child():
        privileges.drop()
        held = landlock.confine(rules)
        (tmp_path / "own" / "new").write_text("x")
        return held

    assert in_child(child) == f"returned: {known}"
    assert under(rules, lambda: (tmp_path / "new").write_text("x")) == "EACCES"


def test_no_landlock_confines_nothing_and_says_so(monkeypatch):
    monkeypatch.setattr(landlock, "version", lambda: 0)

    assert landlock.confine([Rule(Path("/"), READ)]) == 0


def test_without_giving_up_new_privileges_an_ordinary_user_is_not_confined():
    def child():
        if os.getuid() == 0:
            os.setresuid(65534, 65534, 65534)
        return landlock.confine([])

    assert in_child(child) == "returned: 0"


def test_a_rule_for_one_file_opens_no_other(tmp_path):
    for name in ("mine", "other"):
        (tmp_path / name).write_text(name)
    rules = [Rule(tmp_path / "mine", OWN), Rule(tmp_path / "missing", OWN)]

    assert under(rules, (tmp_path / "mine").read_text) == 'returned: "mine"'
    assert under(rules, (tmp_path / "other").read_text) == "EACCES"


@pytest.mark.parametrize("beside", [False, True])
def test_only_a_process_of_one_thread_is_said_to_be_confined(beside):
    if landlock.version() >= landlock.ALL_THREADS_SINCE:
        pytest.skip("this Landlock confines every thread")
    waiting = threading.Event()

    def child():
        if beside:
            threading.Thread(target=waiting.wait, daemon=True).start()
        privileges.drop()
        return landlock.confine([]) > 0

    assert in_child(child) == f"returned: {str(not beside).lower()}"
