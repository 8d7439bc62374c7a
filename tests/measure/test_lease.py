import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fusewright.errors import MeasureError
from fusewright.measure.lease import Lease, holder, lease_file, lease_folder, open_lease
from fusewright.measure.stopwatch import LEASE, Stopwatch


def nothing(*_):
    pass


def make_lease(path, report=nothing, settle=nothing, watch=None):
    return Lease(path, report, settle, watch or Stopwatch())


def taken_elsewhere(path):
    """Whether another process would have to wait for the lease."""
    script = f"import fcntl; fcntl.lockf(open({str(path)!r}, 'r+'), fcntl.LOCK_EX | fcntl.LOCK_NB)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    return done.returncode != 0


def held_by_a_child(path):
    """Let a forked child hold the lease; returns its pid once it does."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        make_lease(path).acquire("timing")
        os.write(writer, b"held")
        signal.pause()
    os.read(reader, 4)
    os.close(reader)
    os.close(writer)
    return pid


def end(pid):
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def test_a_lease_is_exclusive_until_it_is_released(tmp_path):
    phases = []
    lease = make_lease(tmp_path / "lease", phases.append)
    lease.acquire("eager")
    held = taken_elsewhere(tmp_path / "lease")
    lease.leave("compile")

    assert held
    assert not taken_elsewhere(tmp_path / "lease")
    assert phases == ["waiting", "eager", "compile"]


def test_taking_a_lease_that_is_held_waits_for_nobody(tmp_path):
    phases = []
    lease = make_lease(tmp_path / "lease", phases.append)
    lease.acquire("build")
    lease.acquire("eager")

    assert phases == ["waiting", "build", "eager"]


def test_what_was_launched_has_run_before_the_lease_is_free(tmp_path):
    seen = []
    lease = make_lease(tmp_path / "lease", settle=lambda: seen.append(lease.held))
    lease.leave("compile")
    lease.acquire("eager")
    lease.leave("compile")

    assert seen == [True]


def test_a_lease_that_is_let_go_at_once_waits_for_nothing_that_was_launched(tmp_path):
    seen = []
    lease = make_lease(tmp_path / "lease", settle=lambda: seen.append(lease.held))
    lease.acquire("eager")
    lease.release()

    assert not taken_elsewhere(tmp_path / "lease")
    assert seen == []


def test_the_watch_is_told_each_step_and_how_long_the_device_was_held(tmp_path):
    watch = Stopwatch()
    lease = make_lease(tmp_path / "lease", watch=watch)
    lease.acquire("eager")
    time.sleep(0.02)
    lease.acquire("timing")
    lease.leave("compile")
    spent_s = watch.take()

    assert {"waiting", "eager", "timing", "compile", LEASE} <= set(spent_s)
    assert spent_s[LEASE] >= spent_s["eager"] >= 0.02


def test_a_dead_holder_frees_the_lease_though_its_child_lives(tmp_path):
    reader, writer = os.pipe()
    parent = os.fork()
    if parent == 0:
        make_lease(tmp_path / "lease").acquire("timing")
        child = os.fork()
        if child == 0:
            signal.pause()
        os.write(writer, str(child).encode())
        os._exit(0)
    child = int(os.read(reader, 20))
    os.waitpid(parent, 0)
    try:
        assert not taken_elsewhere(tmp_path / "lease")
    finally:
        os.kill(child, signal.SIGKILL)


def test_whoever_asks_learns_who_holds_a_lease(tmp_path):
    file = open_lease(tmp_path / "lease")
    nobody = holder(file)
    pid = held_by_a_child(tmp_path / "lease")
    somebody = holder(file)
    end(pid)
    afterwards = holder(file)
    os.close(file)

    assert (nobody, somebody, afterwards) == (None, pid, None)


def test_every_device_has_its_own_file():
    assert lease_file("/leases", "cpu-0") != lease_file("/leases", "cpu-1")
    assert lease_file("/leases", "cpu-0") == lease_file("/leases", "cpu-0")


def test_all_runs_of_a_user_find_the_leases_in_one_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    assert lease_folder() == lease_folder()
    assert Path(lease_folder()).stat().st_mode & 0o777 == 0o700


def test_a_folder_that_is_a_link_is_somebody_elses(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / f"fusewright-{os.getuid()}").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(MeasureError, match="belongs to another user: set TMPDIR"):
        lease_folder()


def test_a_lease_is_never_opened_through_a_link(tmp_path):
    (tmp_path / "lease").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(OSError, match="symbolic link"):
        open_lease(tmp_path / "lease")
