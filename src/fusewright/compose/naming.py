"""Names for what a graph computes: members of the module, arguments and variables of forward."""

from collections import Counter

from fusewright.compose.plan import Graph, Node
from fusewright.operators.catalogue import Dice

_KEPT = ("norm", "softmax", "scan", "sort", "conv", "pool", "resample", "layout", "elementwise")
"""Families whose result a person may well store under the name of the operand."""
_BY_FAMILY = {"norm": "normed", "scan": "scanned", "sort": "ordered", "matmul": "hidden"}
_ROLES = ("query", "key", "value")


def members_of(graph: Graph) -> list[list[str]]:
    """Attributes of each node's members, numbered where one name would serve several."""
    wanted = [[_attribute(graph, i, member.name) for member in node.applied.members]
              for i, node in enumerate(graph.nodes)]  # fmt: skip
    total = Counter(name for names in wanted for name in names)
    seen: Counter[str] = Counter()
    result = []
    for names in wanted:
        row = []
        for name in names:
            seen[name] += 1
            row.append(f"{name}{seen[name]}" if total[name] > 1 else name)
        result.append(row)
    return result


def _attribute(graph: Graph, index: int, name: str) -> str:
    """What a projection is for, where that is plain."""
    users = graph.users(index)
    if name != "proj" or len(users) != 1:
        return name
    user = graph.nodes[users[0]]
    if user.rule.name == "F.scaled_dot_product_attention":
        return _ROLES[user.operands.index(index)]
    return "gate" if user.rule.noun == "gate" or user.rule.ops[-1:] == ("torch.mul",) else name


def inputs_of(graph: Graph) -> list[str]:
    """Names of the arguments of forward."""
    names: list[str] = []
    for k in range(len(graph.inputs)):
        wanted = "x" if k == 0 else _input_name(graph, -1 - k)
        names.append(wanted if wanted not in names else ("y" if "y" not in names else "z"))
    return names


def _input_name(graph: Graph, reference: int) -> str:
    node = graph.nodes[graph.users(reference)[0]]
    if node.rule.name == "F.scaled_dot_product_attention":
        return _ROLES[node.operands.index(reference)]
    by_family = {"matmul": "context", "loss": "target", "distance": "other", "layout": "extra"}
    by_name = {"torch.add": "residual", "torch.mul": "gate", "torch.lerp": "target"}
    return by_family.get(node.rule.family) or by_name.get(node.rule.name) or "y"


def variables_of(graph: Graph, dice: Dice) -> list[str]:
    """Variables that hold each node's result; the operand's, where that is not needed again."""
    names = {-1 - k: name for k, name in enumerate(inputs_of(graph))}
    last = {r: max(graph.users(r), default=len(graph.nodes)) for r in _references(graph)}
    for index, node in enumerate(graph.nodes):
        live = {name for r, name in names.items() if last[r] > index}
        names[index] = _variable(graph, index, names[node.operands[0]], live, dice)
    return [names[index] for index in range(len(graph.nodes))]


def _references(graph: Graph) -> list[int]:
    return [*range(-len(graph.inputs), 0), *range(len(graph.nodes))]


def _variable(graph: Graph, index: int, first: str, live: set[str], dice: Dice) -> str:
    node = graph.nodes[index]
    if first not in live and node.rule.family in _KEPT and dice.chance(0.8):
        return first
    wanted = _wanted(graph, index, node)
    number, name = 2, wanted
    while name in live:
        name, number = f"{wanted}{number}", number + 1
    return name


def _wanted(graph: Graph, index: int, node: Node) -> str:
    users = [graph.nodes[user] for user in graph.users(index)]
    if len(users) > 1 and any(user.rule.name == "torch.add" for user in users):
        return "residual"
    if users and users[0].rule.ops == ("torch.mul",) and node.rule.noun != "gate":
        return node.rule.noun or "gate"
    named = node.rule.noun or _BY_FAMILY.get(node.rule.family)
    return named or ("mixed" if node.rule.arity > 1 else "activated")
