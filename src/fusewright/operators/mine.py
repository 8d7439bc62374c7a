"""Ask every source for its operators, in processes that may die, and drop aliases across all."""

import logging
import select
import time
from collections import Counter
from collections.abc import Iterator, Sequence

from fusewright.assemble import require_sources
from fusewright.config import Plugin
from fusewright.errors import PluginError
from fusewright.operators.child import Child
from fusewright.operators.complaint import complaints, refusals
from fusewright.operators.shelf import Heard, find, keep
from fusewright.operators.verdict import refuse, turn_away
from fusewright.records import Operator, Rejection
from fusewright.registry import built_in, disputes

logger = logging.getLogger("fusewright.stage")

CHILDREN = 2
"""Sources asked at once."""

Verdict = tuple[str, Operator | Rejection]
"""Subject, `<source>:<name>`, and what became of it."""


def mine(sources: Sequence[Plugin], timeout_s: float) -> Iterator[Verdict]:
    """Yield a verdict on each operator of *sources*, in their order; equal runs give equal ones.

    A name or a computation belongs to the source that comes first; whoever comes later is turned
    away, and an alias is noted with its keeper. Nothing comes before all sources are heard.

    A source of which nothing has changed since it was last heard is not asked again. One that is
    broken costs itself: it is a rejection, and a line of warning, and the others go on.

    Raises:
        PluginError: There is no source of such a name, or none of them can be asked.
    """
    require_sources(sources)
    for line in disputes("operators").values():
        logger.warning("%s", line)
    found = [find(source) for source in sources]
    asked = [source for source, heard in zip(sources, found, strict=True) if not heard]
    answers = iter(_ask(asked, timeout_s))
    all_heard = _named_apart(sources, [heard or next(answers) for heard in found])
    settled = settle([verdict for heard in all_heard for verdict in heard.verdicts])
    refused = refusals([verdict for _, verdict in settled])
    if len(refused) == len(sources):
        raise PluginError(refused[0].detail)
    for line in complaints([verdict for _, verdict in settled]):
        logger.warning("%s", line)
    yield from settled


def _named_apart(sources: Sequence[Plugin], all_heard: Sequence[Heard]) -> list[Heard]:
    """Refuse each source that calls itself what a built-in or an earlier source is called."""
    ours, taken = built_in("operators"), set[str]()
    named: list[Heard] = []
    for source, heard in zip(sources, all_heard, strict=True):
        if heard.source in taken or (heard.source in ours and source.name not in ours):
            whose = "a built-in source" if heard.source in ours else "an earlier one"
            detail = (
                f"operator source '{source.name}' calls itself '{heard.source}', which is the name "
                f"of {whose}: give it a `name` of its own, in its settings if it "
                "is a folder or a dataset, or list it once"
            )
            named.append(Heard(source.name, [refuse(source.name, detail)]))
        else:
            taken.add(heard.source)
            named.append(heard)
    return named


def settle(verdicts: Sequence[Operator | Rejection]) -> list[Verdict]:
    """Give each of *verdicts* its subject, and turn away names and computations seen before."""
    ours = built_in("operators")
    keepers = _Keepers([v for v in verdicts if isinstance(v, Operator) and v.source in ours])
    subjects: Counter[str] = Counter()
    settled: list[Verdict] = []
    for verdict in verdicts:
        plain = _subject(verdict)
        subjects[plain] += 1
        subject = plain if subjects[plain] == 1 else f"{plain}#{subjects[plain]}"
        fault = keepers.fault(verdict) if isinstance(verdict, Operator) else verdict
        settled.append(
            (subject, fault.model_copy(update={"subject": subject}) if fault else verdict)
        )
    return [(subject, keepers.with_aliases(verdict)) for subject, verdict in settled]


class _Keepers:
    """The operators kept so far, by signature, and every name that stands for one of them.

    Args:
        built_in: Operators of built-in sources, whose names are theirs whoever comes first.
    """

    def __init__(self, built_in: Sequence[Operator]) -> None:
        self._owners = {operator.name: operator for operator in reversed(built_in)}
        self._ours = {operator.source for operator in built_in}
        self._by_signature: dict[str, Operator] = {}
        self._by_name: dict[str, Operator] = {}
        self._aliases: dict[str, list[str]] = {}

    def fault(self, operator: Operator) -> Rejection | None:
        """Keep *operator*, or say whose name or computation it repeats."""
        namesake = self._by_name.get(operator.name)
        if not namesake and operator.source not in self._ours:
            namesake = self._owners.get(operator.name)
        twin = self._by_signature.get(operator.signature)
        if namesake:
            detail = f"the name stands for {namesake.name} of {namesake.source}: choose another"
            return turn_away(operator.source, operator.name, "duplicate_name", detail)
        self._by_name[operator.name] = twin or operator
        if twin:
            self._aliases[twin.name].append(operator.name)
            detail = f"computes what {twin.name} of {twin.source} does"
            return turn_away(operator.source, operator.name, "alias", detail)
        self._by_signature[operator.signature] = operator
        self._aliases[operator.name] = []
        return None

    def with_aliases(self, verdict: Operator | Rejection) -> Operator | Rejection:
        """*verdict*, a kept operator with the aliases that came after it."""
        if isinstance(verdict, Rejection):
            return verdict
        aliases = dict.fromkeys([*verdict.aliases, *self._aliases[verdict.name]])
        return verdict.model_copy(update={"aliases": tuple(aliases)})


def _subject(verdict: Operator | Rejection) -> str:
    if isinstance(verdict, Rejection):
        return verdict.subject
    return f"{verdict.source}:{verdict.name}"


def _ask(sources: Sequence[Plugin], timeout_s: float) -> list[Heard]:
    children: list[Child] = []
    waiting = list(sources)
    try:
        while True:
            running = [child for child in children if not child.done]
            while waiting and len(running) < CHILDREN:
                children.append(Child(waiting.pop(0), timeout_s))
                running += [] if children[-1].done else [children[-1]]
            if not running:
                return [
                    _heard(source, child) for source, child in zip(sources, children, strict=True)
                ]
            _attend(running)
            tested = sum(len(child.verdicts) for child in children if not child.refused)
            if tested:
                logger.info("mine %d", tested, extra={"stage": "mine", "done": tested})
    finally:
        for child in children:
            child.stop()


def _heard(source: Plugin, child: Child) -> Heard:
    heard = Heard(child.source, child.verdicts)
    if child.whole:
        keep(source, heard)
    if child.gaps:
        logger.warning("operator source '%s': %s", child.source, child.gaps)
    return heard


def _attend(running: Sequence[Child]) -> None:
    """Wait until one of *running* says something or outlives its deadline, and see to it."""
    wait_s = min(child.deadline for child in running) - time.monotonic()
    speaking, _, _ = select.select(running, [], [], max(0.0, wait_s))
    for child in running:
        if child in speaking:
            child.hear()
        elif time.monotonic() >= child.deadline:
            child.overrun()
        if child.done:
            child.stop()
