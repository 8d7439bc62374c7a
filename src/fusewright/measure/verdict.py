"""What the supervisor makes of a worker's answer, which a candidate may have written."""

import math
import time
from typing import Any

from fusewright.measure.handle import Handle, Message

DOUBTFUL = ("timeout", "out_of_memory", "noisy_timing")
"""Reasons that a neighbour can bring about; they are believed when they come again alone."""
TOLD = ("measurement", "rejection", "canary", "spent_s", "doubtful", "last")
"""All that is taken from an answer."""
HANDED_OUT = ("key", "measurement", "rejection", "spent_s", "at_s")
"""All that whoever asked for a verdict gets to see of it."""
CANARY = {"matmul_ms", "copy_ms"}


def task_of(candidate: Message) -> Message:
    """Request to measure *candidate*."""
    return {"task": "measure", "key": candidate["key"], "code": candidate["code"]}


def is_answer(message: Message, task: str) -> bool:
    """Whether *message* has the form of an answer to *task*, and of one answer alone."""
    kinds = ("measurement", "rejection") if task == "measure" else ("canary",)
    answers = [message[kind] for kind in kinds if kind in message]
    if len(answers) != 1 or not isinstance(answers[0], dict):
        return False
    return task == "measure" or _is_canary(answers[0])


def told(message: Message) -> Message:
    """What is taken from an answer."""
    return {name: message[name] for name in TOLD if name in message}


def about(handle: Handle) -> Message:
    """What the supervisor knows of a verdict by itself, and when it fell."""
    request = handle.request or {}
    known = {"key": request.get("key"), "request": request, "device": handle.device}
    return {**known, "at_s": time.monotonic()}


def untried(handle: Handle) -> bool:
    """Whether a worker was lost before it came to its request, and the request is not to blame."""
    return not handle.ready or not (handle.begun or "sent_again" in (handle.request or {}))


def doubtful(verdict: Message) -> bool:
    """Whether a neighbour may have brought *verdict* about."""
    reason = verdict.get("rejection", {}).get("reason")
    return bool(verdict.get("doubtful")) or reason in DOUBTFUL


def stripped(verdict: Message) -> Message:
    """What is handed out of *verdict*."""
    return {name: verdict[name] for name in HANDED_OUT if name in verdict}


def _is_canary(answer: dict[str, Any]) -> bool:
    return answer.keys() == CANARY and all(
        isinstance(ms, float) and 0 < ms < math.inf for ms in answer.values()
    )
