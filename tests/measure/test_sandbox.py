"""What a confined worker can and cannot do, tried for real in forked children."""

import ctypes
import fcntl
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from fusewright.measure import landlock, sandbox, seccomp
from fusewright.measure.isolation import PROMISES

from .children import in_child

REFUSED = ("EPERM", "EACCES")
NOBODY = 65534
PARENT = os.getpid()

needs_landlock = pytest.mark.skipif(
    landlock.version() < landlock.SCOPES_SINCE, reason="this kernel has no Landlock of version 6"
)
needs_filters = pytest.mark.skipif(
    os.uname().machine not in seccomp.ARCHITECTURES, reason="no filter for this processor"
)
pytestmark = [needs_landlock, needs_filters]


@pytest.fixture
def place(tmp_path):
    """A scratch folder, and beside it what belongs to others."""
    (tmp_path / "scratch").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("hf_secret")
    return tmp_path


@pytest.fixture
def listeners(place):
    """Sockets of other programs: by address, by file name, and by abstract name."""
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_UNIX) as named,
        socket.socket(socket.AF_UNIX) as abstract,
    ):
        here = Path.cwd()
        # A path of over 107 bytes is no address.
        os.chdir(place)
        named.bind("daemon")
        os.chdir(here)
        abstract.bind(f"\0fusewright-{os.getpid()}")
        named.listen()
        abstract.listen()
        yield {
            "tcp": (socket.AF_INET, tcp.getsockname()),
            "named": (socket.AF_UNIX, "daemon"),
            "abstract": (socket.AF_UNIX, abstract.getsockname()),
        }


def confined(place, work, **lent):
    """Outcome of *work* in a child that may write to the scratch folder of *place*."""

    def child():
        os.chdir(place)
        sandbox.confine(place / "scratch", **lent)
        return work(place)

    return in_child(child)


def loose(place, work):
    """Outcome of *work* in a child that is not confined."""

    def child():
        os.chdir(place)
        return work(place)

    return in_child(child)


def call(name, *arguments):
    """Make a system call by its name."""
    libc = ctypes.CDLL(None, use_errno=True)
    number = seccomp.NUMBERS[name][seccomp.ARCHITECTURES[os.uname().machine][0]]
    words = [ctypes.c_long(word) for word in (number, *arguments)]
    if libc.syscall(*words) < 0:
        raise OSError(ctypes.get_errno(), name)


def link_and_read(place):
    link = place / "scratch" / "link"
    link.symlink_to(place / "outside" / "secret")
    try:
        return link.read_text()
    finally:
        link.unlink()


def names_in(folder):
    return len(list(Path(folder).iterdir()))


def same_limit(pid):
    limits = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    return resource.prlimit(pid, resource.RLIMIT_NOFILE, limits)


FORBIDDEN = {
    "read a file outside": lambda at: (at / "outside" / "secret").read_text(),
    "read it through a link": link_and_read,
    "list a folder outside": lambda at: names_in(at / "outside"),
    "write a file outside": lambda at: (at / "outside" / "new").write_text("x"),
    "write to a file outside": lambda at: (at / "outside" / "secret").write_text("x"),
    "cut a file outside": lambda at: os.truncate(at / "outside" / "secret", 0),
    "remove a file outside": lambda at: (at / "outside" / "secret").unlink(),
    "change the mode of a file outside": lambda at: (at / "outside" / "secret").chmod(0),
    "change the time of a file outside": lambda at: os.utime(at / "outside" / "secret"),
    "read the parent's environment": lambda at: len(Path(f"/proc/{PARENT}/environ").read_bytes()),
    "read the parent's command": lambda at: len(Path(f"/proc/{PARENT}/cmdline").read_bytes()),
    "list the parent's files": lambda at: names_in(f"/proc/{PARENT}/fd"),
    "signal the parent": lambda at: os.kill(PARENT, 0),
    "limit the parent": lambda at: same_limit(PARENT),
    "slow down the parent": lambda at: os.setpriority(os.PRIO_PROCESS, PARENT, 0),
    "move the parent": lambda at: os.sched_setaffinity(PARENT, os.sched_getaffinity(PARENT)),
    "open an UDP socket": lambda at: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close(),
    "open a TCP socket over IPv6": lambda at: socket.socket(socket.AF_INET6).close(),
    "open a datagram socket": lambda at: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).close(),
    "share System V memory": lambda at: call("shmget", 0, 4096, 0o600),
    "be traced": lambda at: call("ptrace", 0, 0, 0, 0),
    "become its own user": lambda at: os.setuid(os.getuid()),
}


@pytest.mark.parametrize("name", FORBIDDEN)
def test_a_confined_worker_cannot(place, name):
    refused = confined(place, FORBIDDEN[name])
    allowed = loose(place, FORBIDDEN[name])

    assert refused in REFUSED
    assert allowed.startswith("returned")


@pytest.mark.parametrize("kind", ["tcp", "named", "abstract"])
def test_a_confined_worker_cannot_connect_to(place, listeners, kind):
    family, address = listeners[kind]

    def connect(_):
        with socket.socket(family) as ours:
            ours.connect(address)

    assert confined(place, connect) in REFUSED
    assert loose(place, connect) == "returned: null"


KERNEL = {
    "io_uring_setup": (1, 0),
    "userfaultfd": (0,),
    "bpf": (0, 0, 0),
    "perf_event_open": (0, 0, -1, -1, 0),
    "keyctl": (0, -1, 0),
    "unshare": (0x10000000,),
    "mount": (0, 0, 0, 0, 0),
    "process_vm_readv": (PARENT, 0, 0, 0, 0, 0),
    "open_by_handle_at": (0, 0, 0),
}


@pytest.mark.parametrize("name", KERNEL)
def test_the_kernel_refuses_a_confined_worker(place, name):
    assert confined(place, lambda _: call(name, *KERNEL[name])) == "EPERM"


def test_a_confined_worker_cannot_read_the_home_folder(place):
    home = Path.home()
    if not loose(place, lambda _: names_in(home)).startswith("returned"):
        pytest.skip("this user has no home folder")

    assert confined(place, lambda _: names_in(home)) == "EACCES"


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def in_thread(_):
    found = []
    thread = threading.Thread(target=lambda: found.append(1))
    thread.start()
    thread.join()
    return found


def tidy_scratch(at):
    (at / "scratch" / "a").mkdir()
    (at / "scratch" / "a" / "new").write_text("x")
    (at / "scratch" / "a" / "new").rename(at / "scratch" / "b")
    shutil.rmtree(at / "scratch" / "a")
    os.ftruncate(os.open(at / "scratch" / "b", os.O_RDWR), 0)
    return (at / "scratch" / "b").read_text()


def compile_cpp(at):
    (at / "scratch" / "a.cpp").write_text("#include <vector>\nint f() { return 1; }\n")
    os.environ["TMPDIR"] = str(at / "scratch")
    os.chdir(at / "scratch")
    run("g++", "-shared", "-fPIC", "-O1", "a.cpp", "-o", "a.so")
    return ctypes.CDLL("./a.so")._Z1fv()


def kill_own_child(_):
    child = os.fork()
    if not child:
        signal.pause()
    seen = sandbox.children()
    sandbox.kill_children()
    return seen == {child} and os.waitpid(child, 0)[1]


ALLOWED = {
    "write, move and remove in scratch": (tidy_scratch, '""'),
    "read the standard library": (lambda at: Path(os.__file__).read_text()[:4], '"r\\"\\"\\""'),
    "import what was not imported": (lambda at: __import__("colorsys").ONE_THIRD < 1, "true"),
    "describe the processor": (lambda at: len(Path("/proc/cpuinfo").read_text()) > 0, "true"),
    "read about itself": (lambda at: len(Path("/proc/self/maps").read_text()) > 0, "true"),
    "throw output away": (lambda at: Path(os.devnull).write_text("x"), "1"),
    "run a thread": (in_thread, "[1]"),
    "run Python": (lambda at: run(sys.executable, "-c", "print(1)"), '"1"'),
    "end its own child": (kill_own_child, "9"),
    "talk to its own child": (lambda at: len(socket.socketpair()), "2"),
    "limit itself": (lambda at: same_limit(0), None),
    "compile C++": (compile_cpp, "1"),
}


@pytest.mark.parametrize("name", ALLOWED)
def test_a_confined_worker_can(place, name):
    if name == "compile C++" and not shutil.which("g++"):
        pytest.skip("no g++")
    work, expected = ALLOWED[name]
    outcome = confined(place, work)

    assert (
        outcome.startswith("returned") if expected is None else outcome == f"returned: {expected}"
    )


def test_what_is_lent_can_be_read_and_not_written(place):
    secret = place / "outside" / "secret"

    assert confined(place, lambda _: secret.read_text(), lent=[secret]) == 'returned: "hf_secret"'
    assert confined(place, lambda _: secret.write_text("x"), lent=[secret]) == "EACCES"


def test_leases_can_be_made_and_locked_and_not_removed(place):
    path = place / "outside" / "lease"

    def lock(_):
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    leases = place / "outside"
    assert confined(place, lock, leases=leases) == "returned: null"
    assert confined(place, lambda _: path.unlink(), leases=leases) == "EACCES"


def test_a_kernel_with_everything_isolates_all_but_root_s_processes(place):
    held = in_child(lambda: sandbox.confine(place / "scratch"))
    lacking = [name for name in PROMISES if f'"{name}": false' in held]

    assert all(f'"{name}"' in held for name in PROMISES)
    assert set(lacking) <= {"processes"}


def test_a_thread_that_runs_already_is_not_passed_off_as_confined(place):
    if landlock.version() >= landlock.ALL_THREADS_SINCE:
        pytest.skip("this Landlock confines every thread")

    def child():
        threading.Thread(target=time.sleep, args=(5,), daemon=True).start()
        return sandbox.confine(place / "scratch")["files"]

    assert in_child(child) == "returned: false"


def as_nobody(work):
    """Do *work* as a user other than root, whom no limit on processes binds."""

    def child():
        if os.getuid() == 0:
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
        return work()

    return in_child(child)


def test_an_ordinary_user_is_confined_in_everything(tmp_path):
    def read():
        held = sandbox.confine(tmp_path)
        Path("/proc/self/status").read_text()
        return [name for name, holds in held.items() if not holds and name != "processes"]

    assert as_nobody(read) == "returned: []"


def test_processes_beyond_the_spare_ones_are_refused(monkeypatch):
    monkeypatch.setattr(sandbox, "SPARE_TASKS", 3)

    def breed():
        sandbox.limit(10**9, address_space=False)
        born = []
        try:
            while len(born) < 10:
                born.append(os.fork())
                if not born[-1]:
                    signal.pause()
        finally:
            sandbox.kill_children()
        return len(born)

    assert as_nobody(breed) == "EAGAIN"


def test_a_worker_keeps_no_file_of_its_parent_but_its_channel(place):
    ours, theirs = socket.socketpair()
    inherited = os.open(place / "outside" / "secret", os.O_RDONLY)

    def child():
        os.dup2(os.open(os.devnull, os.O_RDWR), 0)
        sandbox.keep_open(theirs.fileno())
        left = Path(f"/proc/self/fd/{ours.fileno()}").readlink()
        theirs.sendall(f"{left} {os.read(inherited, 9)}".encode())

    try:
        in_child(child)
        theirs.close()
        assert ours.recv(100) == b"/dev/null b''"
    finally:
        ours.close()
        theirs.close()
        os.close(inherited)


def test_no_worker_looks_for_modules_in_the_working_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", f":{tmp_path}:")
    elsewhere = sandbox.child_environment("s")
    monkeypatch.chdir(Path(sandbox.__file__).parents[2])
    beside = sandbox.child_environment("s")

    assert elsewhere["PYTHONSAFEPATH"] == "1"
    assert elsewhere["PYTHONPATH"] == str(tmp_path)
    assert beside["PYTHONPATH"] == f"{Path.cwd()}:{tmp_path}"


COMPILE = """
import pathlib, sys, torch
from fusewright.measure import sandbox
scratch, device = pathlib.Path(sys.argv[1]), sys.argv[2]
held = sandbox.confine(scratch)
model = torch.nn.Sequential(torch.nn.GELU(), torch.nn.Softmax(1))
x = torch.randn(4, 8, device=device)
with torch.no_grad():
    compiled = torch.compile(model, fullgraph=True, dynamic=False)(x)
print(held["files"], torch.allclose(compiled, model(x), atol=1e-5))
"""


@pytest.mark.parametrize(
    ("device", "compiler", "made"),
    [
        ("cpu", "g++", "inductor/**/*.so"),
        pytest.param("cuda", "nvidia-smi", "triton/**/*.cubin", marks=pytest.mark.gpu),
    ],
)
def test_inductor_compiles_inside_the_confinement(tmp_path, device, compiler, made):
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler}")
    # Without the precompiled header, which pays off from the second compilation on.
    header = {"TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS": "0"}
    done = subprocess.run(
        [sys.executable, "-c", COMPILE, tmp_path, device],
        env=sandbox.child_environment(str(tmp_path)) | header,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout == "True True\n", done.stderr
    assert any(tmp_path.glob(made))
