import os
import signal

from fusewright.measure.lease import Lease, lease_file


def taken_elsewhere(path):
    """Whether another process would have to wait for the lease."""
    import subprocess
    import sys

    script = f"import fcntl; fcntl.lockf(open({str(path)!r}, 'r+'), fcntl.LOCK_EX | fcntl.LOCK_NB)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    return done.returncode != 0


def test_a_lease_is_exclusive_until_it_is_released(tmp_path):
    phases = []
    lease = Lease(tmp_path / "lease", phases.append)
    lease.acquire("eager")
    held = taken_elsewhere(tmp_path / "lease")
    lease.leave("compile")

    assert held
    assert not taken_elsewhere(tmp_path / "lease")
    assert phases == ["waiting", "eager", "compile"]


def test_taking_a_lease_that_is_held_waits_for_nobody(tmp_path):
    phases = []
    lease = Lease(tmp_path / "lease", phases.append)
    lease.acquire("build")
    lease.acquire("eager")

    assert phases == ["waiting", "build", "eager"]


def test_a_dead_holder_frees_the_lease_though_its_child_lives(tmp_path):
    reader, writer = os.pipe()
    holder = os.fork()
    if holder == 0:
        lease = Lease(tmp_path / "lease", lambda _: None)
        lease.acquire("timing")
        child = os.fork()
        if child == 0:
            signal.pause()
        os.write(writer, str(child).encode())
        os._exit(0)
    child = int(os.read(reader, 20))
    os.waitpid(holder, 0)
    try:
        assert not taken_elsewhere(tmp_path / "lease")
    finally:
        os.kill(child, signal.SIGKILL)


def test_every_device_has_its_own_file():
    assert lease_file("cpu") != lease_file("cuda-1")
    assert lease_file("cpu") == lease_file("cpu")
