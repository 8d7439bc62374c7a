import json
import os
import signal
import socket

import pytest

from fusewright.measure import handle as handle_module
from fusewright.measure.handle import LARGEST_MESSAGE_BYTES, Handle, describe_exit


@pytest.fixture
def clock(monkeypatch):
    """Hands of a clock that a test moves."""
    hands = [1000.0]
    monkeypatch.setattr(handle_module.time, "monotonic", lambda: hands[0])
    return hands


@pytest.fixture
def line():
    """A worker's handle, and the worker's end of its socket."""
    ours, theirs = socket.socketpair()
    ours.settimeout(5)
    with ours, theirs:
        yield Handle(0, ours), theirs


def test_every_request_has_a_token_of_its_own(line):
    handle, theirs = line
    tokens = []
    for key in ("a", "b"):
        handle.send({"task": "measure", "key": key})
        sent = json.loads(theirs.recv(1000))
        assert (sent["key"], sent["token"]) == (key, handle.token)
        tokens.append(handle.token)

    assert tokens[0] != tokens[1]
    assert handle.served == 2


def test_a_phase_that_is_entered_again_goes_on_where_it_stood(line, clock):
    handle, _ = line
    handle.send({})
    for phase, seconds in (("eager", 5.0), ("waiting", 100.0), ("eager", 2.0)):
        handle.enter(phase)
        clock[0] += seconds

    assert handle.elapsed_s() == 7.0


def test_a_request_begins_with_fresh_clocks(line, clock):
    handle, _ = line
    handle.send({})
    clock[0] += 7.0
    handle.idle_waits = 3
    handle.enter("eager")
    begun = handle.begun
    handle.send({})

    assert (handle.phase, handle.elapsed_s(), handle.idle_waits) == ("build", 0.0, 0)
    assert (begun, handle.begun) == (True, False)


def test_messages_come_whole_however_they_were_cut(line):
    handle, theirs = line
    theirs.sendall(b'{"a": 1}\n{"b"')
    first = handle.receive()
    theirs.sendall(b": 2}\n")

    assert (first, handle.receive()) == ([{"a": 1}], [{"b": 2}])


def test_a_worker_that_has_hung_up_sends_nothing_more(line):
    handle, theirs = line
    theirs.close()

    assert handle.receive() is None


@pytest.mark.parametrize(
    "garbage",
    [b"nonsense\n", b"[1]\n", b"\xff\xfe\n", b"[" * 50_000 + b"\n", b"\n", b'"text"\n'],
    ids=["no JSON", "a list", "no text", "too deep", "empty", "a string"],
)
def test_what_is_no_message_is_garbage(line, garbage):
    handle, theirs = line
    theirs.sendall(garbage)

    with pytest.raises(ValueError, match=r"a message|Expecting|decode|utf-8"):
        handle.receive()


def test_a_message_without_end_is_garbage(line):
    handle, theirs = line
    handle._buffer = b"x" * LARGEST_MESSAGE_BYTES
    theirs.sendall(b"x")

    with pytest.raises(ValueError, match="a message of over"):
        handle.receive()


def test_a_worker_that_died_unasked_is_no_error_to_send_to(line):
    handle, theirs = line
    theirs.close()
    handle.send({"task": "measure"})

    assert handle.receive() is None


def test_a_worker_that_never_reads_holds_nobody_up_for_good(line):
    handle, _ = line
    handle.channel.settimeout(0.05)
    handle.send({"code": "x" * 10**7})

    assert handle.request


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (None, "the worker hung up"),
        (signal.SIGSEGV, "the worker was killed by SIGSEGV"),
        (40, "the worker was killed by signal 40"),
        (3 << 8, "the worker exited with status 3"),
    ],
)
def test_the_end_of_a_process_is_told_in_words(status, words):
    assert describe_exit(status) == words


def test_ending_a_worker_ends_what_is_in_its_group(line):
    handle, _ = line
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setsid()
        child = os.fork()
        if child:
            os.write(writer, str(child).encode())
        signal.pause()
    os.close(writer)
    child = int(os.read(reader, 20))
    handle.pid = pid
    handle.kill()
    os.waitpid(pid, 0)

    # The end of the pipe: nobody is left to write.
    assert child
    assert os.read(reader, 1) == b""
    os.close(reader)
