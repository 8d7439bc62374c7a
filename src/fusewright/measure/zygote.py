"""A process that has PyTorch imported and warm, and forks workers on demand.

Run as `python -m fusewright.measure.zygote FD PLAN`, FD being a packet socket to the supervisor. A
message with a socket attached asks for a worker behind that socket; the zygote answers with its
pid, and tells of every worker that ends. When the supervisor goes, so does everything else.
"""

import contextlib
import gc
import json
import os
import select
import shutil
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from fusewright.measure import sandbox
from fusewright.measure.plan import Plan
from fusewright.measure.scratch import KERNELS, enter

POLL_S = 0.02
MESSAGE_BYTES = 65536


def main() -> None:
    """Import, warm up, and fork until the supervisor hangs up."""
    control = socket.socket(fileno=int(sys.argv[1]))
    plan = Plan(**json.loads(sys.argv[2]))
    workers: dict[int, Path] = {}
    try:
        sandbox.adopt_orphans()
        network_cut = sandbox.cut_network(new_user=plan.device == "cpu")
        with ending_with(control, plan):
            warm_up(plan.device)
        if plan.device == "cuda":
            (Path(plan.scratch) / KERNELS).mkdir()
            add_helper(compile_ahead, plan, workers)
        _send(control, {"ready": True, "network_cut": network_cut})
        while attend(control, plan, workers):
            pass
    finally:
        clear_up(plan)


def clear_up(plan: Plan) -> None:
    """End what was started and remove what was written: the supervisor may not live to do so."""
    while sandbox.children():
        sandbox.kill_children()
        reap()
        time.sleep(POLL_S)
    shutil.rmtree(plan.scratch, ignore_errors=True)


@contextlib.contextmanager
def ending_with(control: socket.socket, plan: Plan) -> Iterator[None]:
    """Watch for the end of the supervisor from a thread, while this one is busy.

    The thread is gone before anything is forked.
    """
    done = threading.Event()
    poll = select.poll()
    # To ask for nothing leaves what is always told: that the other side hung up.
    poll.register(control, 0)

    def watch() -> None:
        while not done.wait(POLL_S):
            if poll.poll(0):
                clear_up(plan)
                os._exit(1)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def attend(control: socket.socket, plan: Plan, workers: dict[int, Path]) -> bool:
    """Fork a worker if one is asked for, and bury the dead; False once the supervisor hung up."""
    readable, _, _ = select.select([control], [], [], POLL_S)
    if readable:
        message, sockets, _, _ = socket.recv_fds(control, MESSAGE_BYTES, 1)
        if not message:
            return False
        asked = json.loads(message)
        scratch = Path(plan.scratch) / f"worker-{asked['worker']}"
        told = replace(plan, index=asked["device"])
        pid = start(socket.socket(fileno=sockets[0]), told, scratch)
        workers[pid] = scratch
        _send(control, {"forked": asked["worker"], "pid": pid})
    for pid, status in reap():
        if pid in workers:
            shutil.rmtree(workers.pop(pid), ignore_errors=True)
            _send(control, {"exited": pid, "status": status})
    # A child of ours that is no worker was left behind by a candidate.
    sandbox.kill_children(spared=workers)
    return True


def warm_up(device: str) -> None:
    """Pay once for what every worker needs: imports and, on a CPU, the first compilation."""
    import torch  # the imports are this function's work

    from fusewright.measure import worker  # noqa: F401

    torch.set_num_threads(1)
    # Compiling asks after the GPU, which would initialise CUDA here and spoil it in every fork.
    if device == "cpu":
        with torch.no_grad():
            # With a kernel in it: the header that all kernels share is compiled here, once.
            model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.GELU())
            torch.compile(model, dynamic=False)(torch.randn(2, 8))
        torch._dynamo.reset()  # noqa: SLF001
    # What exists now is shared by all children: it is neither scanned nor copied again.
    gc.collect()
    gc.freeze()


def add_helper(work: Callable[[], None], plan: Plan, workers: dict[int, Path]) -> None:
    """Let a child of its own do *work* of ours while the others do theirs; nobody waits for it."""
    scratch = Path(plan.scratch) / work.__name__
    workers[fork(work, plan, scratch)] = scratch


def compile_ahead() -> None:
    """Put kernels into the folder that all workers read."""
    import torch  # imported by warm_up

    from fusewright.measure.kernels import compile_kernels

    compile_kernels(torch.device("cuda"))


def start(channel: socket.socket, plan: Plan, scratch: Path) -> int:
    """Start a worker that serves *channel* and writes to *scratch* alone; returns its pid."""

    def work() -> None:
        sandbox.keep_open(channel.fileno())
        sandbox.limit(plan.memory_bytes, address_space=plan.device == "cpu")
        from fusewright.measure.worker import serve  # imported by warm_up

        serve(channel, plan, scratch)

    pid = fork(work, plan, scratch)
    channel.close()
    return pid


def fork(work: Callable[[], None], plan: Plan, scratch: Path) -> int:
    """Start a child that does *work* in *scratch*; returns its pid."""
    scratch.mkdir()
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        os.setsid()
        sandbox.die_with_parent()
        enter(scratch, plan.device, plan.index)
        silence = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(silence, standard)
        work()
        status = 0
    finally:
        # The zygote's own clean-up must not run in a child.
        os._exit(status)


def reap() -> list[tuple[int, int]]:
    """Pids and wait statuses of the workers that have ended."""
    ended = []
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            break
        if not pid:
            break
        ended.append((pid, status))
    return ended


def _send(control: socket.socket, message: dict[str, Any]) -> None:
    control.send(json.dumps(message).encode())


if __name__ == "__main__":
    main()
