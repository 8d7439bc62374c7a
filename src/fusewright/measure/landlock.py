"""Landlock: what this process and all that it starts may open, connect to and signal.

A thread hands its rules to the threads and processes that it starts; to those that exist only
from version 8 on. Nothing takes the rules away again.
Names and numbers are those of `linux/landlock.h`; an older kernel knows fewer of them.
"""

import contextlib
import ctypes
import os
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
ASK_VERSION = 1
PATH_BENEATH = 1

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REMOVE_DIR, REMOVE_FILE, MAKE_CHAR, MAKE_DIR = 1 << 4, 1 << 5, 1 << 6, 1 << 7
MAKE_REG, MAKE_SOCK, MAKE_FIFO, MAKE_BLOCK = 1 << 8, 1 << 9, 1 << 10, 1 << 11
MAKE_SYM, REFER, TRUNCATE, IOCTL_DEV = 1 << 12, 1 << 13, 1 << 14, 1 << 15
TCP_BIND, TCP_CONNECT = 1 << 0, 1 << 1
SCOPE_ABSTRACT_SOCKETS, SCOPE_SIGNALS = 1 << 0, 1 << 1

NETWORK_SINCE, SCOPES_SINCE, ALL_THREADS_SINCE = 4, 6, 8
ALL_THREADS = 1 << 3
KNOWN_FILE_RIGHTS = {1: REFER - 1, 2: TRUNCATE - 1, 3: IOCTL_DEV - 1, 5: (IOCTL_DEV << 1) - 1}
"""All rights to files from that version of the interface on."""
RIGHTS_TO_A_FILE = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
"""The others only make sense for a folder, and the kernel refuses them for a file."""

READ = EXECUTE | READ_FILE | READ_DIR
USE = READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEV
LOCK = READ_FILE | WRITE_FILE | MAKE_REG
OWN = ((IOCTL_DEV << 1) - 1) & ~(MAKE_CHAR | MAKE_BLOCK | IOCTL_DEV)


@dataclass(frozen=True)
class Rule:
    """Rights to a file, or to a folder and all that it holds."""

    path: Path
    rights: int


def version() -> int:
    """Version of Landlock's interface in this kernel, 0 without Landlock."""
    return max(0, _call(CREATE_RULESET, None, ctypes.c_size_t(0), ASK_VERSION))


def confine(rules: Iterable[Rule]) -> int:
    """Allow this process what *rules* list, no TCP, and no signal to a process outside.

    A path that does not exist is passed over. The process has to have given up new privileges.

    Returns:
        The version of Landlock that holds from now on; 0 where nothing does, or where threads ran
        already that it does not hold.
    """
    known = version()
    if not known:
        return 0
    files = KNOWN_FILE_RIGHTS[max(least for least in KNOWN_FILE_RIGHTS if least <= known)]
    network = TCP_BIND | TCP_CONNECT if known >= NETWORK_SINCE else 0
    scopes = SCOPE_ABSTRACT_SOCKETS | SCOPE_SIGNALS if known >= SCOPES_SINCE else 0
    # What an older kernel does not know is zero, and it accepts zeros beyond what it knows.
    attributes = struct.pack("QQQ", files, network, scopes)
    ruleset = _call(CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
    if ruleset < 0:
        return 0
    try:
        for rule in rules:
            _add(ruleset, rule, files)
        everywhere = known >= ALL_THREADS_SINCE
        whole = everywhere or _threads() == 1
        held = _call(RESTRICT_SELF, ruleset, ALL_THREADS if everywhere else 0) == 0
        return known if held and whole else 0
    finally:
        os.close(ruleset)


def _add(ruleset: int, rule: Rule, known: int) -> None:
    with contextlib.suppress(OSError):
        file = os.open(rule.path, os.O_PATH | os.O_CLOEXEC)
        try:
            rights = rule.rights & known
            if not rule.path.is_dir():
                rights &= RIGHTS_TO_A_FILE
            _call(ADD_RULE, ruleset, PATH_BENEATH, struct.pack("=Qi", rights, file), 0)
        finally:
            os.close(file)


def _threads() -> int:
    return len(list(Path("/proc/self/task").iterdir()))


def _call(number: int, *arguments: object) -> int:
    # Every argument is as wide as a register, whatever ctypes would make of a small number.
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    return int(ctypes.CDLL(None).syscall(ctypes.c_long(number), *words))
