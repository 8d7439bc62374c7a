"""Do something in a forked process, so that its death costs one answer."""

import multiprocessing
import resource
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, TypeVar, cast

from fusewright.operators.expression import attempt, one_line
from fusewright.operators.transformers.unfit import UnfitError

Answer = TypeVar("Answer")


_MOST_BYTES = 8 << 30
"""Address space of the process; PyTorch alone maps about three gigabytes."""


class LostError(RuntimeError):
    """The process died, or took too long; *reason* is how the mine stage calls that."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


def apart(action: Callable[[], Answer], timeout_s: float) -> Answer:
    """What *action* returns in a process of its own.

    Raises:
        LostError: The process died, or was not done after *timeout_s* seconds.
        UnfitError: The action raised: this error, or any other, told in its words.
    """
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_answer, args=(action, sender), daemon=True)
    process.start()
    sender.close()
    try:
        if not receiver.poll(timeout_s):
            raise LostError("timeout", f"it took over {timeout_s:g} s")
        is_fault, answer = receiver.recv()
    except EOFError:
        process.join()
        raise LostError("crash", f"the process {_epitaph(process.exitcode or 0)}") from None
    finally:
        process.kill()
        process.join()
        receiver.close()
    if is_fault:
        raise UnfitError(answer)
    return cast("Answer", answer)


def _answer(action: Callable[[], Any], sender: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_BYTES, _MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answer = attempt(action)
    if isinstance(answer, UnfitError):
        sender.send((True, str(answer)))
    else:
        is_fault = isinstance(answer, Exception)
        sender.send((is_fault, one_line(answer) if isinstance(answer, Exception) else answer))


def _epitaph(code: int) -> str:
    return f"died of {signal.Signals(-code).name}" if code < 0 else f"left with exit code {code}"
