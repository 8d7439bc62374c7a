"""Keep workers busy, and turn their deaths, hangs and excesses into verdicts.

The supervisor never imports PyTorch and never touches a device. One candidate that kills, blocks or
bloats its worker costs that worker and itself; the worker is forked anew. What a neighbour may have
brought about is believed only when it comes again with nothing beside the candidate. Where canaries
are sent, verdicts are handed out only between two of them that agree, but for those found alone.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

from fusewright.measure import sandbox
from fusewright.measure.crew import Crew
from fusewright.measure.forker import ForkerDiedError
from fusewright.measure.handle import Handle, Message
from fusewright.measure.plan import Plan
from fusewright.measure.post import Post
from fusewright.measure.verdict import about, doubtful, is_answer, stripped, task_of, told, untried

WAITING_S = 600.0
"""Longest wait for the device, all waits of a candidate together. Other runs may hold it as well,
each hold bounded by a deadline; who has only said that it waits is found out here."""
DEADLINES_S = {"build": 30.0, "eager": 60.0, "compile": 120.0, "timing": 60.0}
OTHER_DEADLINES_S = {"waiting": WAITING_S, "survey": 60.0, "clean_up": 30.0}
ALONE = {"device_share": 0.95}
"""What changes in the plan for a candidate that has the device to itself."""
LONGEST_PHASE = 20
"""Characters of a phase that are heard: a candidate can write what it likes."""
ROOM_ALONE = 4
"""How many times the host memory of one worker it may hold then."""
SOLO = {**ALONE, "checks": "none", "window_ms": None, "stock_benchmarks": True}
"""What changes for a second measurement: it only times, with the compiler's own settings."""


class Supervisor:
    """Worker processes for the devices of one machine; use it as a context manager.

    Args:
        plan: What the workers are told; its scratch folder is made here.
        workers: How many candidates are in flight at once on each device.
        recycle_after: Candidates after which a worker is replaced.
        deadlines_s: Longest time of each phase, seconds.
        devices: Numbers of the devices, among those that this process sees.
        canary_s: Seconds between canaries; None sends none.
    """

    def __init__(  # noqa: PLR0913
        self,
        plan: Plan,
        workers: int = 1,
        recycle_after: int = 100,
        deadlines_s: Mapping[str, float] = DEADLINES_S,
        *,
        devices: Sequence[int] = (0,),
        canary_s: float | None = None,
    ) -> None:
        self._plan = plan
        self._workers, self._recycle_after = workers, recycle_after
        self._deadlines_s = {**DEADLINES_S, **deadlines_s, **OTHER_DEADLINES_S}
        self.posts = {device: Post(canary_s) for device in devices}
        self.device: dict[str, Any] = {}
        self.peaks: dict[str, float] = {}
        self.isolation: dict[str, bool] = {}

    def __enter__(self) -> Self:
        self._crew = Crew(self._plan)
        try:
            roll = self._crew.boot(self.posts, self._workers)
        except BaseException:
            self._crew.close()
            raise
        self.device, self.peaks, self.isolation = roll.device, roll.peaks, roll.isolation
        for number, identity in roll.identities.items():
            self.posts[number].open(self._crew.leases, identity)
        return self

    def __exit__(self, *_: object) -> None:
        self._crew.close()
        for post in self.posts.values():
            post.close()

    def measure(self, candidates: Iterable[Message]) -> Iterator[Message]:
        """Yield one verdict for each of *candidates* (`key`, `code`), as they are decided.

        A verdict has `key`, either `measurement` or `rejection`, `at_s`, when it fell on the
        monotonic clock, and `spent_s`, seconds by step, where the worker lived to tell.

        Raises:
            MeasureError: No worker can be had any more.
        """
        retries: list[Message] = []
        try:
            for verdict in self._proven(deque(map(task_of, candidates))):
                if doubtful(verdict):
                    retries.append(verdict["request"])
                else:
                    yield stripped(verdict)
            yield from self._one_by_one(retries, ALONE)
        finally:
            self._leave_off()

    def remeasure(self, candidates: Iterable[Message]) -> Iterator[Message]:
        """Measure *candidates* anew, one after the other with nothing else at work."""
        try:
            yield from self._one_by_one(list(map(task_of, candidates)), SOLO)
        finally:
            self._leave_off()

    def _leave_off(self) -> None:
        """Drop what is unfinished: whoever has stopped to listen wants none of it later."""
        for handle in self._crew.busy():
            self._crew.drop(handle)
        for post in self.posts.values():
            post.forget()

    def _one_by_one(
        self, requests: Sequence[Message], plan: Mapping[str, Any]
    ) -> Iterator[Message]:
        if requests:
            # The contexts of idle workers hold memory that may be missed.
            self._crew.dismiss()
        for request in requests:
            for verdict in self._run(deque([{**request, "plan": plan}]), 1):
                if verdict["request"]["task"] == "canary":
                    # It is noted; nothing waits for it.
                    self.posts[verdict["device"]].take(verdict)
                else:
                    yield stripped(verdict)

    def _proven(self, queue: deque[Message]) -> Iterator[Message]:
        """Hold verdicts back until a canary agrees with the one before; else measure again."""
        while queue or any(post.unproven for post in self.posts.values()):
            for post in self.posts.values():
                post.call_for_canary()
            for verdict in self._run(queue, self._workers):
                handed_out, again = self.posts[verdict["device"]].take(verdict)
                queue.extend(again)
                yield from handed_out

    def _run(self, queue: deque[Message], workers: int) -> Iterator[Message]:
        """Decide everything in *queue* with at most *workers* at work on each device."""
        while queue or any(post.chores for post in self.posts.values()) or self._crew.busy():
            found: list[Message] = []
            try:
                self._assign(queue, workers)
                self._attend(found)
            except ForkerDiedError as error:
                self._revive(str(error), found)
            for verdict in found:
                if verdict.get("untried"):
                    queue.append({**verdict["request"], "sent_again": True})
                else:
                    yield verdict

    def _assign(self, queue: deque[Message], workers: int) -> None:
        for number, post in self.posts.items():
            post.call_if_due()
            while (queue or post.chores) and len(self._crew.busy(number)) < workers:
                handle = self._crew.idle(number, self._recycle_after) or self._crew.fork(number)
                request = post.chores.popleft() if post.chores else queue.popleft()
                handle.send({"peaks": self.peaks, **request})

    def _attend(self, found: list[Message]) -> None:
        """Hear the workers, look after them, and append what was decided to *found*."""
        for handle in self._crew.heard():
            self._hear(handle, found)
        for handle in self._crew.busy():
            self._watch(handle, found)
        self._crew.listen()

    def _hear(self, handle: Handle, found: list[Message]) -> None:
        try:
            messages = handle.receive()
        except ValueError as error:
            self._fail(handle, found, "crash", detail=f"the worker sent garbage: {error}")
            return
        if messages is None:
            self._fail(handle, found, "crash", detail=self._crew.end_of(handle))
            return
        for message in messages:
            if "phase" in message:
                handle.enter(str(message["phase"])[:LONGEST_PHASE])
            elif "ready" in message:
                self._crew.greet(handle)
            elif "unusable" in message and not handle.ready:
                self._fail(handle, found, "crash", detail=str(message["unusable"]))
                return
            elif handle.request and message.get("token") == handle.token:
                if not is_answer(message, handle.request["task"]):
                    detail = "the worker sent garbage: no verdict"
                    self._fail(handle, found, "crash", detail=detail)
                    return
                found.append({**told(message), **about(handle)})
                handle.request = None
                if message.get("last"):
                    self._crew.drop(handle)
                    return

    def _watch(self, handle: Handle, found: list[Message]) -> None:
        allowed_s = self._deadlines_s.get(handle.phase, 0.0)
        held_bytes = sandbox.resident_bytes(handle.pid)
        limit_bytes = self._plan.memory_bytes * (
            ROOM_ALONE if "plan" in (handle.request or {}) else 1
        )
        if handle.elapsed_s() > allowed_s:
            detail = f"{handle.phase} took over {allowed_s:g} s"
            self._fail(
                handle, found, "timeout", detail=detail, value=handle.elapsed_s(), limit=allowed_s
            )
        elif handle.phase == "waiting" and self.posts[handle.device].waits_in_vain(handle):
            detail = "the worker waits for a device that nobody else holds"
            self._fail(handle, found, "timeout", detail=detail)
        elif held_bytes > limit_bytes:
            value, limit = held_bytes / 1e9, limit_bytes / 1e9
            detail = f"the worker holds {value:.1f} GB, over {limit:g} GB"
            self._fail(handle, found, "out_of_memory", detail=detail, value=value, limit=limit)

    def _fail(self, handle: Handle, found: list[Message], reason: str, **finding: Any) -> None:
        """Give up on a worker, and reject what it was at."""
        self._crew.drop(handle)
        if handle.request and handle.request["task"] == "measure":
            rejection = {"reason": reason, "value": None, "limit": None, **finding}
            found.append({"rejection": rejection, "untried": untried(handle), **about(handle)})
        self.posts[handle.device].disturbed()
        self._crew.loss = finding["detail"]

    def _revive(self, detail: str, found: list[Message]) -> None:
        """Begin anew with another zygote; whoever was at work when it died is suspect."""
        for handle in self._crew.busy():
            self._fail(handle, found, "crash", detail=detail)
            if found and found[-1]["request"] is handle.request:
                found[-1]["doubtful"] = True
        self._crew.loss = detail
        self._crew.renew()
