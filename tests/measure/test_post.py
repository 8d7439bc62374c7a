"""One device as the supervisor keeps it, without a device: canaries and verdicts are made up."""

import os

import pytest

from fusewright.errors import MeasureError
from fusewright.measure import post as post_module
from fusewright.measure.handle import Handle
from fusewright.measure.lease import lease_file
from fusewright.measure.post import IDLE_WAITS, LOOK_S, SILENT_CANARIES, Post

from .test_lease import end, held_by_a_child

CANARY = {"task": "canary", "key": "canary"}


@pytest.fixture
def clock(monkeypatch):
    """Hands of a clock that a test moves."""
    hands = [1000.0]
    monkeypatch.setattr(post_module.time, "monotonic", lambda: hands[0])
    return hands


def measured(key, **request):
    request = {"task": "measure", "key": key, **request}
    return {"key": key, "measurement": {}, "request": request}


def rejected(key):
    request = {"task": "measure", "key": key}
    return {"key": key, "rejection": {"reason": "forward_error"}, "request": request}


def canary(ms):
    return {"key": "canary", "canary": {"matmul_ms": ms}, "request": CANARY}


def keys(verdicts):
    return [verdict["key"] for verdict in verdicts]


def test_without_canaries_every_verdict_is_handed_out_at_once():
    post = Post()

    assert post.take(measured("a")) == ([measured("a")], [])
    assert post.unproven == []


def test_without_canaries_none_is_called_for(clock):
    post = Post()
    post.call_for_canary()
    post.disturbed()
    post.call_if_due()

    assert not post.chores


def test_verdicts_are_held_back_until_the_next_canary():
    post = Post(60.0)
    post.take(canary(1.0))

    assert post.take(measured("a")) == ([], [])
    assert post.take(rejected("b")) == ([], [])
    assert keys(post.unproven) == ["a", "b"]


def test_a_canary_that_agrees_hands_out_what_was_held_back():
    post = Post(60.0)
    post.take(canary(1.0))
    post.take(measured("a"))
    post.take(rejected("b"))
    handed_out, again = post.take(canary(1.01))

    assert (keys(handed_out), again) == (["a", "b"], [])
    assert post.unproven == []


def test_a_canary_that_drifted_sends_measurements_back_and_hands_out_rejections():
    post = Post(60.0)
    post.take(canary(1.0))
    post.take(measured("a"))
    post.take(rejected("b"))
    handed_out, again = post.take(canary(1.1))

    assert keys(handed_out) == ["b"]
    assert again == [{"task": "measure", "key": "a", "again": True}]
    assert post.unproven == []


def test_what_was_measured_a_second_time_is_taken_as_it_is():
    post = Post(60.0)
    post.take(canary(1.0))
    post.take(measured("a"))
    _, (request,) = post.take(canary(1.1))
    post.take(measured(**request))
    post.take(measured("b"))
    handed_out, again = post.take(canary(1.3))

    assert keys(handed_out) == ["a"]
    assert keys(again) == ["b"]


def test_a_verdict_that_calls_itself_a_canary_is_none():
    post = Post(60.0)
    post.take({**measured("a"), "canary": {"matmul_ms": 1.0}})

    assert post.drift.readings == []
    assert keys(post.unproven) == ["a"]


def test_a_device_whose_canaries_nobody_answers_is_lost():
    post = Post(60.0)
    for _ in range(SILENT_CANARIES):
        post.call_for_canary()
        post.chores.clear()

    with pytest.raises(MeasureError, match="works no more"):
        post.call_for_canary()


def test_a_canary_that_is_answered_forgives_those_before(clock):
    post = Post(60.0)
    for _ in range(SILENT_CANARIES):
        post.call_for_canary()
        post.chores.clear()
    post.take(canary(1.0))
    post.call_for_canary()

    assert len(post.chores) == 1


def test_a_canary_is_due_at_first_and_then_when_its_time_has_passed(clock):
    post = Post(60.0)
    post.call_if_due()
    first = [post.chores.popleft()]
    post.take(canary(1.0))
    clock[0] += 60.0
    post.call_if_due()
    too_soon = list(post.chores)
    clock[0] += 0.1
    post.call_if_due()

    assert (first, too_soon, list(post.chores)) == ([CANARY], [], [CANARY])


def test_a_canary_that_is_being_timed_is_not_due_again(clock):
    post = Post(0.1)
    post.call_if_due()
    post.chores.popleft()
    clock[0] += 5.0
    post.call_if_due()

    assert not post.chores


def test_one_canary_waits_at_a_time():
    post = Post(60.0)
    post.call_for_canary()
    post.call_for_canary()

    assert list(post.chores) == [CANARY]


def test_the_death_of_a_worker_makes_a_canary_due(clock):
    post = Post(60.0)
    post.take(canary(1.0))
    post.call_if_due()
    before = list(post.chores)
    post.disturbed()
    post.call_if_due()

    assert (before, list(post.chores)) == ([], [CANARY])


@pytest.fixture
def opened(tmp_path, clock):
    """A post whose lease lies in a folder of this test; no child may outlive it."""
    post = Post()
    post.open(str(tmp_path), "cpu-0")
    yield post
    post.close()


def waiting():
    return Handle(os.getpid(), channel=None)


def looks(post, handle, clock, count):
    """Look at *handle* so often; returns what the last look said."""
    for _ in range(count):
        clock[0] += 1.01 * LOOK_S
        said = post.waits_in_vain(handle)
    return said


def test_a_worker_waits_in_vain_from_more_than_40_looks_on(opened, clock):
    handle = waiting()

    assert not looks(opened, handle, clock, IDLE_WAITS)
    assert looks(opened, handle, clock, 1)


def test_looks_in_quick_succession_count_as_one(opened, clock):
    handle = waiting()
    clock[0] += LOOK_S
    for _ in range(2 * IDLE_WAITS):
        assert not opened.waits_in_vain(handle)

    assert handle.idle_waits == 1


def test_the_count_begins_anew_when_somebody_else_holds_the_device(opened, clock, tmp_path):
    handle = waiting()
    looks(opened, handle, clock, IDLE_WAITS)
    pid = held_by_a_child(lease_file(str(tmp_path), "cpu-0"))
    while_held = looks(opened, handle, clock, 2 * IDLE_WAITS)
    end(pid)

    assert not while_held
    assert not looks(opened, handle, clock, IDLE_WAITS)
    assert looks(opened, handle, clock, 1)


def test_whoever_says_to_wait_for_what_it_holds_waits_in_vain(opened, clock, tmp_path):
    pid = held_by_a_child(lease_file(str(tmp_path), "cpu-0"))
    vain = looks(opened, Handle(pid, channel=None), clock, IDLE_WAITS + 1)
    end(pid)

    assert vain


def test_a_post_that_knows_no_lease_yet_says_of_nobody_that_it_waits_in_vain(clock):
    assert not looks(Post(), waiting(), clock, 2 * IDLE_WAITS)
