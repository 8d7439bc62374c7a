"""Typed rules of plug-ins for the graph composer: found, checked in a child, and kept if sound.

A package declares them under the group `fusewright.rules`, by the name of its operator source; a
Python file calls them `rules`. Either is a sequence of `Rule`, or a function that returns one.
"""

import json
import logging
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fusewright.config import Plugin
from fusewright.errors import PluginError
from fusewright.identity import read
from fusewright.operators.catalogue import Rule
from fusewright.registry import disputes, entries, load, load_from_file

ATTRIBUTE = "rules"
"""What a Python file calls its rules."""
DEADLINE_S = 120.0
"""Longest check of the rules of one plug-in, anew after each that ends its process, seconds."""

logger = logging.getLogger("fusewright.stage")


def sound_rules(sources: Sequence[Plugin]) -> tuple[Rule, ...]:
    """Rules that the plug-ins among *sources* bring and that passed their check, in order.

    Each plug-in with a faulty rule is one line of warning.
    """
    for line in disputes("rules").values():
        logger.warning("%s", line)
    return tuple(rule for source in sources if has_rules(source.name) for rule in _sound(source))


def has_rules(name: str) -> bool:
    """Whether the source called *name* brings rules; nothing of it is run."""
    if not name.endswith(".py"):
        return name in entries("rules")
    try:
        tree = read(Path(name).read_text()).tree
    except (OSError, ValueError, SyntaxError):
        return False
    bound = [getattr(node, "name", "") for node in tree.body]
    for node in tree.body:
        targets = [*getattr(node, "targets", []), getattr(node, "target", None)]
        bound += [getattr(target, "id", "") for target in targets]
    return ATTRIBUTE in bound


def rules_of(name: str) -> Sequence[Any]:
    """Load the rules of the source called *name*, whatever they are.

    Raises:
        PluginError: They cannot be loaded, or are no sequence.
    """
    is_file = name.endswith(".py")
    found = load_from_file(Path(name), ATTRIBUTE) if is_file else load("rules", name)
    if callable(found):
        try:
            found = found()
        except (Exception, SystemExit) as error:
            said = f"{type(error).__name__}: {error}"
            raise PluginError(f"the rules of '{name}' cannot be made: {said}") from error
    if not isinstance(found, list | tuple):
        raise PluginError(
            f"the rules of '{name}' are {type(found).__name__}: expected a tuple of "
            "fusewright.operators.catalogue.Rule, or a function that returns one"
        )
    return found


@dataclass
class _Check:
    """What the check of one plug-in's rules came to, rule by rule."""

    faults: list[str | None] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    refused: str | None = None
    ended: bool = False


def _sound(source: Plugin) -> Iterator[Rule]:
    check = _Check()
    while not (check.ended or check.refused):
        _ask(source.name, check)
    if check.refused:
        logger.warning("%s (its operators are composed without rules)", check.refused)
        return
    wrong = [(name, fault) for name, fault in zip(check.names, check.faults, strict=True) if fault]
    if wrong:
        (name, fault), count = wrong[0], len(wrong)
        line = "rules of '%s': %d of %d left out; the first, %s: %s"
        logger.warning(line, source.name, count, len(check.faults), name, fault)
    if len(wrong) < len(check.faults):
        # What loaded in the child is taken to load here too, and is what the child checked.
        pairs = zip(rules_of(source.name), check.faults, strict=True)
        yield from (rule for rule, fault in pairs if not fault)


def _note(line: dict[str, Any], check: _Check) -> None:
    if "rule" in line:
        check.names.append(line["rule"])
    elif "fault" in line:
        check.faults.append(line["fault"])
    check.refused = line.get("refused", check.refused)
    check.ended = check.ended or "end" in line


def _ask(name: str, check: _Check) -> None:
    """Check rules from where *check* stands, up to the end or to one that ends its process."""
    request = json.dumps({"name": name, "skip": len(check.faults)})
    command = [sys.executable, "-P", "-m", "fusewright.compose.rulecheck"]
    try:
        done = subprocess.run(  # noqa: S603 -- our own module
            command, input=request, capture_output=True, text=True, timeout=DEADLINE_S, check=False
        )
        said, epitaph = done.stdout, f"its process left with exit code {done.returncode}"
    except subprocess.TimeoutExpired as error:
        said = (error.stdout or b"").decode()
        epitaph = f"it took over {DEADLINE_S:g} s"
    try:
        for line in map(json.loads, said.splitlines()):
            _note(line, check)
    except (ValueError, AttributeError):
        epitaph = "its process wrote what is no verdict"
    if len(check.names) > len(check.faults):
        check.faults.append(epitaph)
    elif not check.ended and not check.refused:
        check.refused = f"the rules of '{name}' cannot be checked: {epitaph}"
