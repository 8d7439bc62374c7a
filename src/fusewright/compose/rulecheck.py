"""Check one rule against what torch makes of real tensors: the child side of plug-ins' rules.

`python -m fusewright.compose.rulecheck` reads one line of JSON, a plug-in's `name` and how many of
its rules to `skip`, and writes two lines a rule: `{"rule": name}` before it is checked, and
`{"fault": sentence or null}` after.
"""

import json
import math
import os
import random
import sys
import warnings
from collections.abc import Iterator
from typing import Any

from torch import Tensor

from fusewright.compose.canvas import Canvas
from fusewright.compose.draw import shape_of
from fusewright.compose.menu import JOIN_WEIGHTS, STEP_WEIGHTS, Menus
from fusewright.compose.plan import Graph
from fusewright.compose.render import render
from fusewright.compose.rulebook import rules_of
from fusewright.errors import PluginError
from fusewright.identity import operator_names
from fusewright.operators.catalogue import CATALOGUE, Dice, Layout, Rule, Shape
from fusewright.operators.catalogue.value import FEATURE
from fusewright.operators.expression import Runnable, attempt, one_line
from fusewright.records import Operator

BATCH = 16
SIZES = {
    "features": (32, 64, 48), "dims": (16, 32, 48), "seq_len": (16, 24, 32),
    "context_len": (16, 20), "channels": (8, 16, 32, 24), "height": (8, 16, 12),
    "depth": (4, 8, 16), "length": (32, 64, 48), "num_heads": (2, 4), "head_dims": (16, 32),
}  # fmt: skip
"""Sizes small enough to run a rule on a CPU in a moment."""
ANY: tuple[Layout, ...] = ("rows", "image")
"""Layouts that stand for all, where a rule takes any."""
SEEDS, PLAIN = 600, 100
"""Draws until a rule has to fit, and how many of them are of plain inputs."""
MOST_OPERATORS, MOST_ELEMENTS = 6, 2**17
MOST_OPERANDS = 3

_PRELUDES = [
    rule
    for rule in CATALOGUE
    if rule.ops in {("torch.square",), ("torch.sigmoid",), ("F.softmax",), ("F.log_softmax",)}
]


def fault(rule: object) -> str | None:
    """Say what is wrong with the rule of a plug-in, or None; its own code may raise."""
    if not isinstance(rule, Rule):
        return f"it is {type(rule).__name__}: expected fusewright.operators.catalogue.Rule"
    if any(known.name == rule.name for known in CATALOGUE):
        return "the catalogue has a rule of that name: name your own operator"
    found = (fault_on(rule, layout) for layout in rule.layouts or ANY)
    return _misstated(rule) or next((each for each in found if each), None)


def _misstated(rule: Rule) -> str | None:
    """Say which field of *rule* the menus could not draw by, or None."""
    if not 1 <= rule.arity <= MOST_OPERANDS:
        return f"its arity is {rule.arity}: expected 1 to {MOST_OPERANDS}"
    families = STEP_WEIGHTS if rule.arity == 1 else JOIN_WEIGHTS
    if rule.family not in families:
        return f"its family is '{rule.family}': expected one of {', '.join(families)}"
    if not (rule.weight > 0 and math.isfinite(rule.weight)):
        return f"its weight is {rule.weight}: expected a number above 0"
    strange = [layout for layout in rule.layouts if layout not in FEATURE]
    if strange:
        return f"its layout is '{strange[0]}': expected some of {', '.join(FEATURE)}"
    return None


def fault_on(rule: Rule, layout: Layout) -> str | None:
    """Say in what *rule*, on an operand of *layout*, differs from what torch does, or None."""
    drawn = _alone(rule, layout)
    if drawn is None:
        return f"it refuses every operand of layout '{layout}': {SEEDS} draws"
    graph, code = drawn
    told = _bare(graph.ops) ^ _bare(operator_names(code))
    if told:
        return f"`uses` and the expression differ in {', '.join(sorted(told))}"
    output = attempt(lambda: _run(code))
    if isinstance(output, Exception):
        return f"what it writes does not run: {one_line(output)}"
    return _difference(graph, output)


def _difference(graph: Graph, output: Tensor) -> str | None:
    value = graph.nodes[-1].value
    shape, expected = tuple(output.shape), (BATCH, *map(int, value.shape))
    if shape != expected:
        return f"its shape is {expected}, and torch gives {shape}"
    low, high = float(output.min()), float(output.max())
    if not (value.low - 1e-4 <= low and high <= value.high + 1e-4):
        return (
            f"its bounds are {value.low:.4g} to {value.high:.4g}, and torch gives "
            f"{low:.4g} to {high:.4g}"
        )
    mean, deviation = map(float, value.moments)
    spread = float(output.std())
    is_near = abs(float(output.mean()) - mean) <= 0.5 * spread + 0.1 * abs(mean)
    if not (is_near and deviation / 2.5 <= spread <= 2.5 * deviation):
        return (
            f"its elements have mean {mean:.3g} and deviation {deviation:.3g}, and torch's have "
            f"{float(output.mean()):.3g} and {spread:.3g}"
        )
    return None


def _alone(rule: Rule, layout: Layout) -> tuple[Graph, str] | None:
    """The first graph of *rule* that the dice allow: of plain inputs, if there is one."""
    menus = Menus(())
    for seed in range(SEEDS):
        dice = Dice(random.Random(seed), SIZES)  # noqa: S311 -- no secret
        drawing = Canvas(dice, menus, MOST_OPERATORS, MOST_ELEMENTS)
        if drawing.place(rule, _operands(drawing, rule, layout, plain=seed < PLAIN)) is not None:
            return drawing.graph, render(drawing.graph, BATCH, dice)
    return None


def _operands(drawing: Canvas, rule: Rule, layout: Layout, *, plain: bool) -> list[int]:
    """What *rule* takes: something of *layout*, and partners that fit it."""
    fit, found = (layout, shape_of(drawing.dice, layout)), list[int]()
    while len(found) < rule.arity:
        reference = _operand(drawing, fit, plain=plain)
        if reference is None:
            return []
        found.append(reference)
        last = drawing.value(reference)
        fit = rule.partner(drawing.dice, last) if rule.partner else (last.layout, last.shape)
    return found


def _operand(drawing: Canvas, fit: tuple[Layout, Shape], *, plain: bool) -> int | None:
    """A new input; unless *plain*, now and then something made of it that suits a domain."""
    x = drawing.add_input(*fit)
    prelude = None if plain else drawing.dice.one_of([None, *_PRELUDES])
    return x if prelude is None or x is None else drawing.place(prelude, [x])


def _run(code: str) -> Tensor:
    runnable = Runnable(
        Operator(
            name="rule",
            family="other",
            kind="source_module",
            source="rule",
            source_code=code,
            init="Model(*get_init_inputs())",
            call="{m}(*get_inputs())",
            inputs=(),
            version="rule",
        )
    )
    # Another seed than that of the parameters, which would be numbers of the inputs otherwise.
    output: Tensor = runnable.run([], runnable.build(), seed=1)
    return output


def _bare(names: tuple[str, ...]) -> set[str]:
    return {name.rpartition(".")[2].replace("_", "").lower() for name in names}


def verdicts(name: str, skip: int) -> Iterator[dict[str, Any]]:
    """Yield a verdict on each rule of the plug-in called *name* but the first *skip*."""
    for rule in rules_of(name)[skip:]:
        yield {"rule": str(getattr(rule, "name", "?"))}
        found = attempt(lambda rule=rule: fault(rule))  # type: ignore[misc]
        yield {"fault": one_line(found) if isinstance(found, Exception) else found}


def main() -> None:
    """Answer the one request on standard input."""
    request, said = json.loads(sys.stdin.readline()), os.fdopen(os.dup(1), "w")
    # Nothing that a plug-in prints gets between the verdicts.
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    try:
        for verdict in verdicts(request["name"], request["skip"]):
            said.write(json.dumps(verdict) + "\n")
            said.flush()
        said.write(json.dumps({"end": True}) + "\n")
    except PluginError as error:
        said.write(json.dumps({"refused": str(error)}) + "\n")
    said.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
