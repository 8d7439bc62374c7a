"""Write a graph as a problem in KernelBench form, the way a person would."""

from fusewright.compose import prose
from fusewright.compose.forward import forward_lines
from fusewright.compose.naming import inputs_of, members_of, variables_of
from fusewright.compose.plan import Graph
from fusewright.compose.symbols import Symbols
from fusewright.compose.wrapping import wrapped
from fusewright.operators.catalogue import Dice, Value
from fusewright.operators.catalogue.lane import Dtype

_INDENT = " " * 8


def render(graph: Graph, batch: int, dice: Dice, dtype: Dtype = "float32") -> str:
    """Write *graph* with *batch* items; *dice* choose between equal ways to write it."""
    symbols, members = Symbols.of(graph), members_of(graph)
    arguments = inputs_of(graph)
    variables = variables_of(graph, dice)
    built, settled = _init_lines(graph, members, symbols)
    taken = symbols.used(built)
    forward = forward_lines(graph, arguments, variables, members, dice)
    names = dict(enumerate(variables)) | {-1 - k: name for k, name in enumerate(arguments)}
    body = [
        "class Model(nn.Module):",
        f'    """{prose.sentence(graph, names)}"""',
        "",
        *wrapped(f"    def __init__({', '.join(['self', *taken])}):"),
        f"{_INDENT}super().__init__()",
        *settled,
        *([] if dtype == "float32" or not built else [f"{_INDENT}self.to(torch.{dtype})"]),
        "",
        *wrapped(f"    def forward({', '.join(['self', *arguments])}):"),
        *forward,
    ]
    tail = _tail(graph, batch, symbols, taken, dtype)
    text = "\n".join([*_imports([*body, *tail]), "", "", *body, "", "", *tail])
    # Rules write their strings in single quotes, since they live in double ones.
    return text.replace("'", '"') + "\n"


def _imports(lines: list[str]) -> list[str]:
    functional = any("F." in line for line in lines)
    return [
        "import torch",
        "import torch.nn as nn",
        *(["import torch.nn.functional as F"] if functional else []),
    ]


def _init_lines(
    graph: Graph, members: list[list[str]], symbols: Symbols
) -> tuple[list[str], list[str]]:
    """Expressions that members are built from, and the statements of `__init__`."""
    builds, lines = [], []
    for node, names in zip(graph.nodes, members, strict=True):
        for member, name in zip(node.applied.members, names, strict=True):
            bias = "" if node.bias else ", bias=False"
            build = symbols.shorten(symbols.rewrite(member.build.replace("{bias}", bias)))
            builds.append(build)
            lines += wrapped(f"{_INDENT}self.{name} = {build}")
            for statement in member.after:
                lines += wrapped(f"{_INDENT}{statement.format(f'self.{name}')}")
    return builds, lines


def _tail(graph: Graph, batch: int, symbols: Symbols, taken: list[str], dtype: Dtype) -> list[str]:
    """Module-level constants and the two functions of the contract."""
    inputs = [_drawn(value, symbols, dtype) for value in graph.inputs]
    constants = symbols.constants([*symbols.used(inputs), *taken])
    return [
        f"batch_size = {batch}",
        *constants,
        "",
        "",
        "def get_inputs():",
        *_returned(inputs),
        "",
        "",
        "def get_init_inputs():",
        *_returned(taken),
    ]


def _drawn(value: Value, symbols: Symbols, dtype: Dtype) -> str:
    sizes = ["batch_size", *(symbols.rewrite(size.text) for size in value.shape)]
    sizes += [] if dtype == "float32" else [f"dtype=torch.{dtype}"]
    return f"torch.randn({', '.join(sizes)})"


def _returned(items: list[str]) -> list[str]:
    return wrapped(f"    return [{', '.join(items)}]")
