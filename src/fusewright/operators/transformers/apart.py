"""Do something in a forked process, so that its death costs one answer."""

import multiprocessing
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, TypeVar

Answer = TypeVar("Answer")


class LostError(RuntimeError):
    """The process died, or took too long."""


def apart(action: Callable[[], Answer], timeout_s: float) -> Answer:
    """What *action* returns in a process of its own.

    Raises:
        LostError: The process died, raised, or was not done after *timeout_s* seconds.
    """
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_answer, args=(action, sender), daemon=True)
    process.start()
    sender.close()
    try:
        if not receiver.poll(timeout_s):
            raise LostError(f"it took over {timeout_s:g} s")
        answer: Answer | LostError = receiver.recv()
    except EOFError:
        process.join()
        raise LostError(f"the process {_epitaph(process.exitcode or 0)}") from None
    finally:
        process.kill()
        process.join()
        receiver.close()
    if isinstance(answer, LostError):
        raise answer
    return answer


def _answer(action: Callable[[], Any], sender: Connection) -> None:
    try:
        sender.send(action())
    except Exception as error:
        # Foreign code: whatever it raises is the answer.
        sender.send(LostError(f"{type(error).__name__}: {error}"[:300]))


def _epitaph(code: int) -> str:
    return f"died of {signal.Signals(-code).name}" if code < 0 else f"left with exit code {code}"
