"""The statements of forward: one an operator, but for those that read better inside the next."""

import re

from fusewright.compose.plan import Graph
from fusewright.compose.wrapping import WIDTH, wrapped
from fusewright.operators.catalogue import Dice

INLINED = 0.4
"""Share of the operators that could stand inside the next one and do."""
_INDENT = " " * 8
_DEEPEST = 2


def forward_lines(
    graph: Graph, arguments: list[str], variables: list[str], members: list[list[str]], dice: Dice
) -> list[str]:
    """Write the statements; the last returns the output."""
    texts: dict[int, str] = {-1 - k: name for k, name in enumerate(arguments)}
    lines: list[str] = []
    nested = 0
    for index, node in enumerate(graph.nodes):
        attributes = {f"m{k}": f"self.{name}" for k, name in enumerate(members[index])}
        operands = [texts[operand] for operand in node.operands]
        expression = node.applied.call.format(*operands, **attributes)
        if index == len(graph.nodes) - 1:
            return [*lines, *wrapped(f"{_INDENT}return {expression}")]
        if nested < _DEEPEST and _may_nest(graph, index, expression) and dice.chance(INLINED):
            texts[index] = expression
            nested += 1
            continue
        texts[index], nested = variables[index], 0
        lines += wrapped(f"{_INDENT}{variables[index]} = {expression}")
    return lines


def _may_nest(graph: Graph, index: int, expression: str) -> bool:
    """Whether the next statement can hold *expression* and run everything in the same order."""
    following = graph.nodes[index + 1]
    if graph.users(index) != [index + 1] or following.operands.count(index) > 1:
        return False
    place, call = following.operands.index(index), following.applied.call
    if call.count(f"{{{place}}}") > 1 or len(following.rule.ops) > 1:
        return False
    argument = re.search(rf"[(,] ?\[?\{{{place}\}}[,)\]]", call)
    return bool(argument or not _is_infix(expression)) and len(expression) + len(call) < WIDTH - 20


def _is_infix(expression: str) -> bool:
    """Whether *expression* is held together by an operator rather than by brackets."""
    depth = 0
    for place, character in enumerate(expression):
        depth += (character in "([") - (character in ")]")
        if depth == 0 and expression[place : place + 3] in (" + ", " - ", " * ", " / ", " @ "):
            return True
    return False
