"""Real workers on the CPU, their faults, and who has to pay for them."""

import ast
import itertools
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from fusewright.errors import MeasureError
from fusewright.measure.crew import STILLBIRTHS
from fusewright.measure.drift import Drift
from fusewright.measure.forker import Forker
from fusewright.measure.handle import Handle
from fusewright.measure.lease import lease_file
from fusewright.measure.scratch import CACHES
from fusewright.measure.supervisor import Supervisor
from fusewright.measure.verdict import untried
from fusewright.testing import RELU_MEAN

from .conftest import PLAN
from .programs import program

FAULTY = program("return x @ x")
SOUND = {"relu": RELU_MEAN, "sine": program("return torch.sin(x) + x.sum(1, keepdim=True)")}


def telling(*words, before="", name=""):
    """A candidate that tells what Python makes of *words*, by what it raises."""
    return f"import os, time\n{before}\nraise ValueError(repr(({', '.join(words)})))  # {name}\n"


def told(verdict):
    """What such a candidate has told."""
    return ast.literal_eval(verdict["rejection"]["detail"].removeprefix("ValueError: "))


def supervisor(workers=1, recycle_after=100, devices=(0,), canary_s=None, **plan):
    return Supervisor(
        replace(PLAN, **plan), workers, recycle_after, devices=devices, canary_s=canary_s
    )


def messages(codes):
    return [{"key": key, "code": code} for key, code in codes.items()]


def decided(running, codes, how="measure"):
    """Verdicts by key, of which there is one each."""
    verdicts = list(getattr(running, how)(messages(codes)))
    assert Counter(verdict["key"] for verdict in verdicts) == Counter(list(codes))
    return {verdict["key"]: verdict for verdict in verdicts}


def reasons(verdicts):
    return {key: v.get("rejection", {}).get("reason", "measured") for key, v in verdicts.items()}


@pytest.fixture
def alone(monkeypatch):
    """Keys of the candidates that are tried one by one."""
    tried = []
    one_by_one = Supervisor._one_by_one

    def noting(self, requests, plan):
        tried.extend(request["key"] for request in requests)
        return one_by_one(self, requests, plan)

    monkeypatch.setattr(Supervisor, "_one_by_one", noting)
    return tried


@pytest.fixture
def struck(monkeypatch):
    """Let a test kill something as soon as a candidate of that key is in that phase."""

    def strike(key, phase, kill):
        watch, dead = Supervisor._watch, []

        def watching(self, handle, found):
            at = (handle.request["key"], handle.phase, handle.begun)
            if at == (key, phase, True) and not dead:
                dead.append(handle)
                kill(handle)
            watch(self, handle, found)

        monkeypatch.setattr(Supervisor, "_watch", watching)
        return dead

    return strike


def gone(path):
    """Whether a path vanishes within seconds."""
    for _ in range(100):
        if not Path(path).exists():
            return True
        time.sleep(0.05)
    return False


# Several devices


def test_two_devices_share_the_candidates_and_each_has_a_lease(zygote):
    where = {str(i): telling("os.getpid()", before="time.sleep(0.1)", name=i) for i in range(4)}
    with supervisor(devices=(0, 1)) as running:
        device_of = {handle.pid: handle.device for handle in running._crew._handles.values()}
        verdicts = decided(running, where | SOUND)

    assert {device_of[told(verdicts[key])] for key in where} == {0, 1}
    assert {reasons(verdicts)[key] for key in SOUND} == {"measured"}
    assert lease_file(zygote.plan.leases, "cpu-0").exists()
    assert lease_file(zygote.plan.leases, "cpu-1").exists()


def test_devices_of_several_kinds_are_not_one_run(monkeypatch):
    receive = Handle.receive

    def other_name(self):
        found = receive(self)
        for message in found or []:
            if "ready" in message and self.device == 1:
                message["ready"]["name"] = "another"
        return found

    monkeypatch.setattr(Handle, "receive", other_name)
    with (
        pytest.raises(MeasureError, match=r"the devices differ: .* a run has one kind"),
        supervisor(devices=(0, 1)),
    ):
        pytest.fail("it went on")


# Deaths


def test_a_worker_killed_from_outside_costs_one_candidate(struck, alone):
    dead = struck("victim", "build", lambda handle: os.kill(handle.pid, signal.SIGKILL))
    codes = {"before": FAULTY, "victim": f"import time; time.sleep(30)\n{FAULTY}", **SOUND}
    with supervisor() as running:
        verdicts = decided(running, codes)

    assert len(dead) == 1
    assert reasons(verdicts) == {
        "before": "forward_error", "victim": "crash", "relu": "measured", "sine": "measured"
    }  # fmt: skip
    assert verdicts["victim"]["rejection"]["detail"] == "the worker was killed by SIGKILL"
    assert alone == []


@pytest.mark.parametrize(
    "tampering",
    [
        "",
        "import torch; torch.nn.functional.relu = None",
        "os.environ['TORCH_LOGS'] = 'all'",
        "import threading; threading.Thread(target=threading.Event().wait, daemon=True).start()",
    ],
    ids=["nothing", "name", "environment", "thread"],
)
def test_a_worker_that_was_tampered_with_serves_no_other(tampering):
    with supervisor() as running:
        first, second = (
            told(verdict)
            for code in (telling("os.getpid()", before=tampering), telling("os.getpid()"))
            for verdict in running.measure(messages({"pid": code}))
        )

    assert (first != second) == bool(tampering)


def test_an_idle_worker_that_dies_costs_nothing():
    with supervisor() as running:
        (handle,) = running._crew._handles.values()
        os.kill(handle.pid, signal.SIGKILL)
        verdicts = decided(running, {"a": FAULTY, "b": FAULTY + "# b"})

    assert set(reasons(verdicts).values()) == {"forward_error"}


@pytest.mark.parametrize(
    ("ready", "begun", "request_", "expected"),
    [
        (False, False, {}, True),
        (False, True, {"sent_again": True}, True),
        (True, False, {}, True),
        (True, False, {"sent_again": True}, False),
        (True, True, {}, False),
    ],
    ids=["booting", "booting again", "idle", "idle again", "at work"],
)
def test_a_request_is_blamed_for_a_death_once_a_worker_was_at_it(ready, begun, request_, expected):
    handle = Handle(0, channel=None, ready=ready, begun=begun, request=request_)

    assert untried(handle) == expected


def test_a_worker_that_dies_before_it_is_ready_costs_nothing(zygote, monkeypatch):
    fork, forked = type(zygote).fork, []

    def stillborn(self, device):
        handle = fork(self, device)
        forked.append(handle.pid)
        if 1 < len(forked) < 5:
            os.kill(handle.pid, signal.SIGKILL)
        return handle

    monkeypatch.setattr(type(zygote), "fork", stillborn)
    with supervisor(recycle_after=1) as running:
        verdicts = decided(running, {"a": FAULTY, "b": FAULTY + "# b"})

    assert len(forked) == 6
    assert set(reasons(verdicts).values()) == {"forward_error"}


def test_a_device_on_which_no_worker_gets_ready_any_more_ends_the_run(zygote, monkeypatch):
    fork, forked = type(zygote).fork, []

    def stillborn(self, device):
        handle = fork(self, device)
        forked.append(handle.pid)
        if len(forked) > 1:
            os.kill(handle.pid, signal.SIGKILL)
        return handle

    monkeypatch.setattr(type(zygote), "fork", stillborn)
    with (
        supervisor(recycle_after=1) as running,
        pytest.raises(MeasureError, match="device 0 gets ready any more: the worker was killed by"),
    ):
        decided(running, {"a": FAULTY, "b": FAULTY + "# b"})

    assert len(forked) == 1 + STILLBIRTHS + 2


def test_a_candidate_cannot_kill_the_process_that_forks():
    with supervisor() as running:
        if not running.isolation["signals"]:
            pytest.skip("this kernel lets a candidate signal what is outside")
        verdicts = decided(running, {"a": program("import os; os.kill(os.getppid(), 9)")})

    assert verdicts["a"]["rejection"]["detail"].startswith("PermissionError")


# A zygote of its own, to be killed, and with a full disk where the machine lets one be made

FULL_BYTES = 400 * 2**20
PRIVATE = """#!/bin/sh
exec unshare --mount sh -c '
    for folder in {folder}/fusewright-*; do
        mount -t tmpfs -o size={size} small "$folder" || exit 1
    done
    exec {python} "$@"' sh "$@"
"""
"""Starts a zygote whose scratch folder is a small disk that it alone sees."""


def mounts_privately():
    command = ["unshare", "--mount", "mount", "-t", "tmpfs", "small", "/mnt"]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@pytest.fixture(scope="module")
def mortal(zygote, tmp_path_factory):
    """A supervisor whose zygote may be killed; the next one is the one that all tests share."""
    folder = tmp_path_factory.mktemp("mortal")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(folder))
        if mounts_privately():
            script = folder / "python"
            text = PRIVATE.format(folder=folder, size=FULL_BYTES, python=sys.executable)
            script.write_text(text)
            script.chmod(0o700)
            patch.setattr(sys, "executable", str(script))
        forkers = iter([Forker(replace(PLAN, leases=zygote.plan.leases))])
        patch.setattr(
            "fusewright.measure.crew.Forker",
            lambda plan: next(forkers, None) or zygote.wants(plan),
        )
        with supervisor(workers=2) as running:
            yield running


FILL = """
with open("full", "wb") as file:
    while True:
        file.write(bytes(2**20))
        file.flush()
"""


@pytest.mark.skipif(not mounts_privately(), reason="no small disk can be mounted here")
def test_a_full_disk_costs_whoever_filled_it_when_it_does_so_alone_too(mortal, alone):
    verdicts = decided(mortal, {"fills": FILL, "beside": FAULTY, **SOUND})

    assert reasons(verdicts) == {
        "fills": "crash", "beside": "forward_error", "relu": "measured", "sine": "measured"
    }  # fmt: skip
    assert "No space left on device" in verdicts["fills"]["rejection"]["detail"]
    assert "fills" in alone


def test_a_zygote_that_is_killed_costs_nobody_anything(mortal, struck, alone):
    zygote, scratch = mortal._crew._forker._zygote.pid, mortal._crew._forker.plan.scratch
    dead = struck("4", "build", lambda _: os.kill(zygote, signal.SIGKILL))
    codes = {str(i): telling("os.getpid()", before="time.sleep(0.2)", name=i) for i in range(8)}
    codes |= {"4": f"import time; time.sleep(0.5)\n{FAULTY}", **SOUND}
    verdicts = decided(mortal, codes)

    assert len(dead) == 1
    assert {reasons(verdicts)[key] for key in SOUND} == {"measured"}
    assert {verdict for key, verdict in reasons(verdicts).items() if key not in SOUND} == {
        "init_error", "forward_error",
    }  # fmt: skip
    assert "4" in alone
    assert len(alone) <= 2
    assert gone(scratch)
    assert gone(f"/proc/{dead[0].pid}")


# What is believed


ONCE = """import os
try:
    os.close(os.open({marker!r}, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
except FileExistsError:
    raise ValueError("'a second time'")
raise OSError(28, "No space left on device")
"""


def test_a_disk_that_is_full_for_a_while_costs_nobody(zygote, alone):
    code = ONCE.format(marker=f"{zygote.plan.leases}/once")
    with supervisor() as running:
        verdicts = decided(running, {"once": code, "other": FAULTY})

    assert told(verdicts["once"]) == "a second time"
    assert alone == ["once"]


def test_a_disk_that_is_full_alone_too_is_believed(alone):
    full = telling(before="raise OSError(28, 'No space left on device')")
    with supervisor() as running:
        verdicts = decided(running, {"full": full})

    assert reasons(verdicts) == {"full": "crash"}
    assert alone == ["full"]


def test_a_candidate_that_says_to_wait_is_not_waited_for_an_hour():
    waits = (
        "import os, time\n"
        "for fd in range(3, 64):\n"
        "    try:\n"
        '        os.write(fd, b\'{"phase": "waiting"}\\n\')\n'
        "    except OSError:\n"
        "        pass\n"
        "time.sleep(3000)\n"
    )
    with supervisor() as running:
        begin = time.monotonic()
        verdicts = decided(running, {"waits": waits, "other": FAULTY})
        elapsed_s = time.monotonic() - begin

    assert reasons(verdicts) == {"waits": "timeout", "other": "forward_error"}
    assert "nobody else holds" in verdicts["waits"]["rejection"]["detail"]
    assert elapsed_s < 30


def test_a_long_text_is_handed_over_whole():
    with supervisor(recycle_after=1) as running:
        verdicts = decided(
            running,
            {key: f"{FAULTY}\n# {'x' * 2**20} {key}" for key in ("to an idle worker", "to a new")},
        )

    assert set(reasons(verdicts).values()) == {"forward_error"}


# Canaries


@pytest.fixture
def restless(monkeypatch):
    """Every canary drifts."""
    monkeypatch.setattr("fusewright.measure.post.Drift", lambda: Drift(limit=-1.0))


def test_each_candidate_has_one_verdict_however_often_canaries_drift(restless):
    with supervisor(canary_s=0.2, workers=2) as running:
        verdicts = decided(running, {**SOUND, "faulty": FAULTY})
        report = running.posts[0].drift.report()

    assert reasons(verdicts) == {
        "relu": "measured", "sine": "measured", "faulty": "forward_error"
    }  # fmt: skip
    assert report["drifted"] == report["canaries"] >= 3


def test_what_was_measured_between_canaries_that_drifted_is_measured_again(restless, monkeypatch):
    sent, send = Counter(), Handle.send

    def counting(self, request):
        sent[request["key"]] += 1
        send(self, request)

    monkeypatch.setattr(Handle, "send", counting)
    with supervisor(canary_s=60.0) as running:
        decided(running, {"relu": RELU_MEAN, "faulty": FAULTY})

    assert (sent["relu"], sent["faulty"]) == (2, 1)


def test_canaries_that_are_due_all_the_time_let_candidates_through():
    with supervisor(canary_s=0.001) as running:
        verdicts = decided(running, {str(i): f"{FAULTY}# {i}" for i in range(4)})

    assert set(reasons(verdicts).values()) == {"forward_error"}


@pytest.mark.parametrize("how", ["measure", "remeasure"])
def test_canaries_among_candidates_that_are_alone_are_no_verdicts(how, alone):
    doubtful = {str(i): telling(before="raise MemoryError", name=i) for i in range(3)}
    with supervisor(canary_s=0.001) as running:
        verdicts = decided(running, doubtful, how)
        canaries = running.posts[0].drift.report()["canaries"]

    assert set(reasons(verdicts).values()) == {"out_of_memory"}
    assert sorted(alone) == ["0", "1", "2"]
    assert canaries >= 3


def test_without_canaries_none_is_timed():
    with supervisor() as running:
        decided(running, {"faulty": FAULTY})

        assert running.posts[0].drift.report() == {}


# One by one


TIMED = telling("begin, time.monotonic()", before="begin = time.monotonic(); time.sleep(0.3)")


@pytest.mark.parametrize(("how", "beside"), [("measure", True), ("remeasure", False)])
def test_what_is_measured_again_has_nothing_beside_it(how, beside):
    with supervisor(workers=2) as running:
        verdicts = decided(running, {key: f"{TIMED}# {key}" for key in "abcd"}, how)
    spans = itertools.pairwise(sorted(map(told, verdicts.values())))

    assert any(begin < end for (_, end), (begin, _) in spans) == beside


def test_measuring_again_asks_no_question_but_for_the_time():
    with supervisor(window_ms=(1e3, 2e3)) as running:
        first = decided(running, {"relu": RELU_MEAN})
        again = decided(running, {"relu": RELU_MEAN}, "remeasure")

    assert reasons(first) == {"relu": "too_easy"}
    assert reasons(again) == {"relu": "measured"}
    assert again["relu"]["measurement"]["compile_error_ratio"] is None


def test_measuring_nothing_again_lets_nobody_go():
    with supervisor() as running:
        workers = list(running._crew._handles)

        assert decided(running, {}, "remeasure") == {}
        assert list(running._crew._handles) == workers


@pytest.mark.parametrize("how", ["measure", "remeasure"])
def test_whoever_stops_to_listen_hears_nothing_of_it_later(how):
    first = {str(i): f"import time; time.sleep(0.2)\n{FAULTY}# {i}" for i in range(4)}
    with supervisor(workers=2, canary_s=0.1) as running:
        verdicts = getattr(running, how)(messages(first))
        next(verdicts)
        verdicts.close()

        assert reasons(decided(running, {"other": FAULTY})) == {"other": "forward_error"}


# The scratch folder


LEAVES = telling(
    "os.getcwd()",
    before="os.makedirs('left/behind')\nopen('left/file', 'wb').write(bytes(2**20))",
)


def test_no_candidate_finds_what_another_one_left():
    with supervisor() as running:
        verdicts = decided(running, {"leaves": LEAVES, "looks": telling("os.listdir()")})

    assert set(told(verdicts["looks"])) <= {*CACHES, "problem_looks.py"}


def test_scratch_folders_go_with_their_workers(zygote):
    with supervisor(recycle_after=2) as running:
        verdicts = decided(running, {str(i): f"{LEAVES}# {i}" for i in range(6)})
        folders = {told(verdict) for verdict in verdicts.values()}
        last = told(verdicts["5"])

        assert len(folders) >= 3
        assert all(gone(folder) for folder in folders - {last})
        assert {path.name for path in Path(last).iterdir()} <= set(CACHES)
    assert gone(last)


def size_bytes(folder):
    return sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())


def test_a_worker_keeps_the_caches_of_its_candidates_and_no_more(zygote):
    with supervisor() as running:
        (folder,) = (told(v) for v in running.measure(messages({"where": telling("os.getcwd()")})))
        decided(running, SOUND)
        left = {path.name for path in Path(folder).iterdir()}
        held_bytes = size_bytes(folder)
        decided(running, {str(i): f"{LEAVES}# {i}" for i in range(5)})

        assert left == {"inductor"}
        assert size_bytes(folder) == held_bytes
    assert gone(folder)


# The first look


@pytest.mark.parametrize(
    ("window_ms", "reason"), [((1e3, 2e3), "too_easy"), ((1e-6, 2e-6), "too_slow")]
)
def test_what_is_far_outside_the_window_is_never_compiled(window_ms, reason):
    with supervisor(window_ms=window_ms) as running:
        verdict = decided(running, {"relu": RELU_MEAN})["relu"]

    assert verdict["rejection"]["reason"] == reason
    assert verdict["rejection"]["value"] > 0
    assert not {"survey", "compile", "timing"} & set(verdict["spent_s"])
    assert {"build", "eager", "lease"} <= set(verdict["spent_s"])


def test_what_ends_with_eager_is_checked_and_described_and_never_compiled():
    odd = {"name": program("return torch.log(x - 10)")}
    with supervisor(last="eager") as running:
        verdicts = decided(running, {"relu": RELU_MEAN, **odd})
    sound = verdicts["relu"]
    assert sound["measurement"]["dtype"] == "float32"
    assert "eager" not in sound["measurement"]
    assert not {"compile", "timing"} & sound["spent_s"].keys()
    assert verdicts["name"]["rejection"]["reason"] == "nonfinite_output"


def test_what_is_inside_the_window_is_measured_and_says_where_its_time_went():
    with supervisor(window_ms=(1e-6, 1e6)) as running:
        verdict = decided(running, {"relu": RELU_MEAN})["relu"]
    spent_s = verdict["spent_s"]
    steps = {"build", "eager", "checks", "survey", "compile", "compare", "timing", "clean_up"}

    assert "measurement" in verdict
    assert steps <= set(spent_s)
    assert 0 < spent_s["lease"] < sum(s for step, s in spent_s.items() if step != "lease")
