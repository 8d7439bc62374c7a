"""The child side of mining: build one source, self-test what it yields, say each verdict at once.

`python -m fusewright.operators.probe` reads one line of JSON (`name`, `settings`, `skip`) and
writes one line an event; with `texts`, a file of strangers' texts, each of these is run in a
confined process of its own. Whoever runs it holds its standard input open, and it dies when that
closes. Nothing that a plug-in prints gets between the events.
"""

import itertools
import json
import os
import resource
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import torch

from fusewright.errors import PluginError
from fusewright.operators.apart import Apart
from fusewright.operators.expression import attempt, one_line
from fusewright.operators.selftest import self_test
from fusewright.operators.trace import Trace
from fusewright.operators.verdict import REASONS, Verdict, read_verdict, turn_away, write_verdict
from fusewright.operators.written import LEARNT, Written, complete, is_draft
from fusewright.protocols import OperatorSource
from fusewright.records import Operator, Rejection
from fusewright.registry import build, build_from_file, require

Say = Callable[..., None]
"""Writes one event, a word and its fields."""

ATTRIBUTE = "source"
"""What a plug-in file calls its source."""


def main() -> None:
    """Answer the one request on standard input."""
    commands, events = _take_over()
    request = json.loads(commands.readline())
    threading.Thread(target=_die_with_parent, args=(commands.fileno(),), daemon=True).start()
    warnings.simplefilter("ignore")
    # A segmentation fault is a verdict here, not something to dig into.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    _warm_up()

    def say(event: str, **fields: Any) -> None:
        events.write(json.dumps({"event": event, **fields}) + "\n")
        events.flush()

    answer(request, say)
    # Threads of a plug-in must not keep the process: all has been said.
    os._exit(0)


def answer(request: Mapping[str, Any], say: Say) -> None:
    """Test what the source of *request* yields from the operator at index `skip` on.

    Events: `refused` (it cannot be built), `ready`, `begin` and `verdict` for each operator,
    `strange` for what is no operator, `failed` when the source raises, `end`.
    """
    try:
        source = _build(request)
    except PluginError as error:
        say("refused", detail=str(error))
        return
    apart = Apart(Path(request["texts"]).parent) if request.get("texts") else None
    say("ready", name=source.name, gaps=apart.gaps if apart else "")
    listed = _listed(source)
    for index in itertools.count():
        # The source is foreign code: what it raises ends its own list and no other.
        operator = attempt(lambda: next(listed))
        if isinstance(operator, StopIteration):
            say("end")
            return
        if isinstance(operator, Exception):
            say("failed", detail=f"the source raises {one_line(operator)}")
            return
        if index >= request["skip"]:
            _judge(index, operator, source.name, apart, say)


def _listed(source: OperatorSource) -> Iterator[object]:
    # A generator, so that a call that raises at once is met in the same place as one that does not.
    yield from source.operators()


def _build(request: Mapping[str, Any]) -> OperatorSource:
    name, settings = request["name"], request["settings"]
    source: OperatorSource
    if request.get("texts"):
        source = Written(path=Path(request["texts"]), **settings)
    elif name.endswith(".py"):
        source = build_from_file(Path(name), ATTRIBUTE, settings)
    else:
        source = build("operators", name, settings)
    require(source, "operators")
    return source


def _judge(index: int, operator: object, source: str, apart: Apart | None, say: Say) -> None:
    if not isinstance(operator, Operator):
        kind = type(operator).__name__
        detail = f"the source yields {kind}: expected fusewright.records.Operator"
        say("strange", index=index, detail=detail)
        return
    # `Operator.model_construct` checks nothing.
    checked = attempt(lambda: Operator(**{**operator.model_dump(warnings=False), "source": source}))
    if isinstance(checked, Exception):
        say("strange", index=index, detail=f"the source yields a wrong record: {one_line(checked)}")
        return
    say("begin", index=index, name=checked.name)
    verdict = _test_apart(checked, apart) if apart else _test(checked)
    say("verdict", **write_verdict(verdict))


def _test(operator: Operator) -> Verdict:
    whole = complete(operator) if is_draft(operator) else operator
    return whole if isinstance(whole, Rejection) else self_test(whole)


def _test_apart(operator: Operator, apart: Apart) -> Verdict:
    """Test a stranger's *operator*, and believe of what its process says no more than it may."""
    said = apart.do(lambda _: write_verdict(_test(operator)))
    verdict = attempt(lambda: read_verdict(said))
    if isinstance(verdict, Operator):
        return operator.model_copy(update={name: getattr(verdict, name) for name in LEARNT})
    reason, detail = "crash", said if isinstance(said, str) else "the process said nonsense"
    if isinstance(verdict, Rejection) and verdict.reason in REASONS:
        reason, detail = verdict.reason, verdict.detail
    return turn_away(operator.source, operator.name, reason, detail)


def _warm_up() -> None:
    """Load what torch loads at its first trace, outside the deadline of any operator."""
    with Trace([]):
        torch.ones(1).relu()


def _take_over() -> tuple[Any, Any]:
    """Move standard input and output to files of our own, and leave plug-ins empty ones."""
    commands, events = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    return commands, events


def _die_with_parent(lifeline: int) -> None:
    os.read(lifeline, 1)
    os._exit(1)


if __name__ == "__main__":
    main()
