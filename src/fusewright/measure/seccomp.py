"""A filter of system calls for this process and all that it starts: what no candidate needs fails.

Landlock guards what is opened by name; the filter guards the rest. Nothing is killed: a call that
is refused fails with EPERM, and the program goes on.
"""

import ctypes
import errno
import os
import struct
import sys
from collections.abc import Sequence

from fusewright.measure.syscalls import NUMBERS

ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""Column of `NUMBERS` and AUDIT_ARCH of each machine."""
SECCOMP = (317, 277)
SET_MODE_FILTER = 1
TSYNC, SPEC_ALLOW = 1, 4
"""For every thread; and without the mitigations that would slow down what is timed (before Linux
5.16 a filter switched them on)."""

LOAD, AND, RETURN = 0x20, 0x54, 0x06
JUMP_EQUAL, JUMP_SET, JUMP_FROM = 0x15, 0x45, 0x35
NUMBER_AT, ARCHITECTURE_AT, ARGUMENTS_AT = 0, 4, 16
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM
# The C library takes ENOSYS for an old kernel, and calls clone, whose flags a filter can read.
NO_SUCH_CALL = 0x00050000 | errno.ENOSYS
X32 = 0x40000000

AF_UNIX, SOCK_STREAM, SOCK_SEQPACKET, TYPE_MASK = 1, 1, 5, 0xF
NEW_NAMESPACES = 0x7E020000
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET."""

OTHER_PROCESSES = """
ptrace process_vm_readv process_vm_writev process_madvise kcmp pidfd_getfd ioprio_set migrate_pages
shmget shmat shmctl semget semop semctl semtimedop msgget msgsnd msgrcv msgctl mq_open mq_unlink
"""
FILE_ATTRIBUTES = """
chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes futimesat utimensat
setxattr lsetxattr fsetxattr setxattrat removexattr lremovexattr fremovexattr removexattrat
truncate file_setattr
"""
"""By name or on a file opened to be read: Landlock lets all of these pass, or once did."""
IDENTITY = "setuid setgid setreuid setregid setresuid setresgid setgroups setfsuid setfsgid"
FILE_SYSTEMS = """
unshare setns mount umount2 pivot_root chroot fsopen fsconfig fsmount fspick move_mount open_tree
open_tree_attr mount_setattr open_by_handle_at
"""
KERNEL = """
bpf perf_event_open userfaultfd io_uring_setup io_uring_enter io_uring_register fanotify_init
keyctl add_key request_key init_module finit_module delete_module kexec_load kexec_file_load
"""
REFUSED = (
    "connect " + OTHER_PROCESSES + FILE_ATTRIBUTES + IDENTITY + FILE_SYSTEMS + KERNEL
).split()
"""`connect` is among the sockets: what the user's other programs listen on would do a candidate's
bidding (a container daemon, the session bus), and only Landlock from version 9 on guards it."""
OF_THIS_PROCESS = (
    *("prlimit64", "sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler"),
    "move_pages",
)
"""Allowed with 0 for the process; a limit on CPU time would kill another one."""

Instruction = tuple[int, int, int, int]


def install() -> bool:
    """Refuse from now on; False where the kernel or the machine is of another kind.

    The process has to have given up new privileges.
    """
    machine = os.uname().machine
    if machine not in ARCHITECTURES or sys.maxsize < 2**32:
        return False
    column, architecture = ARCHITECTURES[machine]
    code = program(column, architecture)
    packed = b"".join(struct.pack("HBBI", *instruction) for instruction in code)
    held = ctypes.create_string_buffer(packed, len(packed))
    filter_ = ctypes.create_string_buffer(
        struct.pack("HxxxxxxQ", len(code), ctypes.addressof(held))
    )
    words = (SECCOMP[column], SET_MODE_FILTER, TSYNC | SPEC_ALLOW)
    return bool(ctypes.CDLL(None).syscall(*map(ctypes.c_long, words), filter_) == 0)


def program(column: int, architecture: int) -> list[Instruction]:
    """Write the filter in classic BPF, for that column of `NUMBERS`."""
    code = [
        (LOAD, 0, 0, ARCHITECTURE_AT),
        (JUMP_EQUAL, 1, 0, architecture),
        (RETURN, 0, 0, REFUSE),
        (LOAD, 0, 0, NUMBER_AT),
        (JUMP_FROM, 0, 1, X32),
        (RETURN, 0, 0, REFUSE),
    ]
    socket = [*_only(0, (AF_UNIX,)), *_only(1, (SOCK_STREAM, SOCK_SEQPACKET), TYPE_MASK)]
    rules = {
        **{name: [(RETURN, 0, 0, REFUSE)] for name in REFUSED},
        **{name: _only(0, (0,)) for name in OF_THIS_PROCESS},
        "setpriority": [*_only(0, (0,)), *_only(1, (0,))],
        "socket": socket,
        "socketpair": socket,
        "clone": [(LOAD, 0, 0, ARGUMENTS_AT), (JUMP_SET, 0, 1, NEW_NAMESPACES), _REFUSAL],
        "clone3": [(RETURN, 0, 0, NO_SUCH_CALL)],
    }
    for name, rule in rules.items():
        number = NUMBERS[name][column]
        if number is not None:
            code += [(JUMP_EQUAL, 0, len(rule) + 1, number), *rule, (RETURN, 0, 0, ALLOW)]
    return [*code, (RETURN, 0, 0, ALLOW)]


_REFUSAL: Instruction = (RETURN, 0, 0, REFUSE)


def _only(argument: int, values: Sequence[int], mask: int = 0xFFFFFFFF) -> list[Instruction]:
    """Refuse unless the *argument*, a C int, is one of *values* under *mask*."""
    # The kernel takes the lower half of the register, which comes first on either machine.
    code: list[Instruction] = [
        (LOAD, 0, 0, ARGUMENTS_AT + 8 * argument),
        (AND, 0, 0, mask),
    ]
    for place, value in enumerate(values):
        code.append((JUMP_EQUAL, len(values) - place, 0, value))
    return [*code, _REFUSAL]
