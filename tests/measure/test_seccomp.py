import ctypes
import os
import re
import socket
import struct
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from fusewright.measure import privileges, seccomp
from fusewright.measure.syscalls import NUMBERS

from .children import in_child

HEADERS = {
    0: Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    1: Path("/usr/include/asm-generic/unistd.h"),
}
DEFINITION = re.compile(r"#define __NR(?:3264)?_(\w+)\s+(\d+)")
X86, ARM = seccomp.ARCHITECTURES.values()
NEW_USER, NEW_THREAD = 0x10000000, 0x00010F00

runs_here = pytest.mark.skipif(
    os.uname().machine not in seccomp.ARCHITECTURES, reason="no filter for this processor"
)


def judge(name, *arguments, machine=X86, claims=None):
    """Run the filter on a call, as the kernel's interpreter of BPF does; `allow` or an error."""
    column, architecture = machine
    number = NUMBERS[name][column] if isinstance(name, str) else name
    words = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("iIQ6Q", number, claims or architecture, 0, *words)
    code, at, held = seccomp.program(column, architecture), 0, 0
    while True:
        operation, then, otherwise, k = code[at]
        at += 1
        match operation:
            case seccomp.LOAD:
                (held,) = struct.unpack_from("I", data, k)
            case seccomp.AND:
                held &= k
            case seccomp.RETURN:
                return {seccomp.ALLOW: "allow", seccomp.REFUSE: "EPERM"}.get(k, "ENOSYS")
            case seccomp.JUMP_EQUAL:
                at += then if held == k else otherwise
            case seccomp.JUMP_SET:
                at += then if held & k else otherwise
            case seccomp.JUMP_FROM:
                at += then if held >= k else otherwise


@pytest.mark.parametrize("machine", [X86, ARM])
@pytest.mark.parametrize(
    ("name", "arguments", "verdict"),
    [
        ("socket", (socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC), "allow"),
        ("socket", (socket.AF_UNIX, socket.SOCK_SEQPACKET), "allow"),
        ("socket", (socket.AF_UNIX, socket.SOCK_DGRAM), "EPERM"),
        ("socket", (socket.AF_INET, socket.SOCK_STREAM), "EPERM"),
        ("socket", (socket.AF_INET6, socket.SOCK_DGRAM), "EPERM"),
        ("socket", (16, socket.SOCK_RAW), "EPERM"),
        ("socketpair", (socket.AF_UNIX, socket.SOCK_STREAM), "allow"),
        ("socketpair", (socket.AF_UNIX, socket.SOCK_DGRAM), "EPERM"),
        ("connect", (3, 1, 2), "EPERM"),
        ("clone", (NEW_THREAD,), "allow"),
        ("clone", (NEW_THREAD | NEW_USER,), "EPERM"),
        ("clone3", (1, 88), "ENOSYS"),
        ("prlimit64", (0, 7), "allow"),
        ("prlimit64", (1, 7), "EPERM"),
        ("setpriority", (0, 0, 5), "allow"),
        ("setpriority", (0, 1, 5), "EPERM"),
        ("setpriority", (2, 0, 5), "EPERM"),
        ("sched_setaffinity", (0,), "allow"),
        ("sched_setaffinity", (1,), "EPERM"),
        # The kernel reads the lower half of the register.
        ("prlimit64", (1 << 32, 7), "allow"),
        ("prlimit64", (1 << 32 | 1, 7), "EPERM"),
        *[(name, (), "EPERM") for name in seccomp.REFUSED if NUMBERS[name][1] is not None],
    ],
)
def test_the_filter_says(machine, name, arguments, verdict):
    assert judge(name, *arguments, machine=machine) == verdict


def test_calls_of_another_architecture_are_refused():
    assert judge(0, claims=X86[1]) == "allow"
    assert judge(0, claims=0x40000003) == "EPERM"
    assert judge(seccomp.X32 - 1) == "allow"
    assert judge(seccomp.X32) == "EPERM"


@pytest.mark.parametrize("column", HEADERS)
def test_numbers_are_those_of_the_kernel(column):
    if not HEADERS[column].exists():
        pytest.skip("the kernel's headers are not installed")
    told = {name: int(number) for name, number in DEFINITION.findall(HEADERS[column].read_text())}
    known = {name: numbers[column] for name, numbers in NUMBERS.items() if name in told}

    assert known == {name: told[name] for name in known}
    assert len(known) > len(NUMBERS) * 0.8


@runs_here
def test_a_thread_that_runs_already_is_filtered_too():
    def child():
        begin, outcome = threading.Event(), []

        def late():
            begin.wait()
            try:
                socket.socket(socket.AF_INET)
            except PermissionError:
                outcome.append("refused")

        thread = threading.Thread(target=late)
        thread.start()
        privileges.drop()
        installed = seccomp.install()
        begin.set()
        thread.join()
        return [installed, *outcome]

    assert in_child(child) == 'returned: [true, "refused"]'


@runs_here
def test_a_call_of_the_x32_kind_is_refused_and_kills_nobody():
    def child():
        privileges.drop()
        seccomp.install()
        libc = ctypes.CDLL(None, use_errno=True)
        libc.syscall(ctypes.c_long(seccomp.X32 | NUMBERS["ptrace"][0]))
        raise OSError(ctypes.get_errno(), "refused")

    assert in_child(child) == "EPERM"


def test_an_unknown_processor_has_no_filter(monkeypatch):
    monkeypatch.setattr(seccomp.os, "uname", lambda: SimpleNamespace(machine="riscv64"))

    assert not seccomp.install()
