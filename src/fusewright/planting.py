"""Copies of a problem, disguised in the ways that contaminate: what a filter is to recognise.

Each kind is an edit of the tree that shares nothing with the filters' own reading of texts.
"""

import ast
from collections.abc import Callable, Iterator, Mapping

from fusewright.identity.program import Function, imported, methods, parameters

ENTRY = "Model"
PLAIN = ("verbatim", "renamed", "reformatted", "resized", "recast")
"""Kinds of which 99 of 100 are to be found; of the others, 95."""


def planted(code: str) -> dict[str, str]:
    """Disguise *code* in each way that changes it; `verbatim` is always there.

    Raises:
        SyntaxError: *code* is not Python.
    """
    copies = {"verbatim": code}
    for kind, disguise in DISGUISES.items():
        tree = ast.parse(code)
        disguise(tree)
        copy = ast.unparse(ast.fix_missing_locations(tree))
        if copy != ast.unparse(ast.parse(code)) or kind == "reformatted":
            copies[kind] = copy + "\n"
    return copies


def rename(tree: ast.Module) -> None:
    """Give every local, parameter, attribute, helper and constant another name."""
    _Rename(tree).visit(tree)


def reformat(tree: ast.Module) -> None:
    """Drop docstrings, comments and annotations; layout goes with the unparsing."""
    for node in ast.walk(tree):
        if isinstance(node, Function | ast.ClassDef | ast.Module):
            texts = [s for s in node.body if _is_text(s)]
            node.body = [s for s in node.body if s not in texts] or [ast.Pass()]
        if isinstance(node, Function):
            node.returns = None
            for parameter in parameters(node):
                parameter.annotation = None


def resize(tree: ast.Module) -> None:
    """Change every whole number outside the classes, where sizes stand, but the smallest."""
    for statement in tree.body:
        if not isinstance(statement, ast.ClassDef):
            for node in ast.walk(statement):
                if (
                    isinstance(node, ast.Constant)
                    and type(node.value) is int
                    and node.value > _SMALL
                ):
                    node.value += node.value // 2 + 1


def recast(tree: ast.Module) -> None:
    """Compute in another type: cast the inputs of forward, and its results back."""
    for forward in _forwards(tree):
        names = [p.arg for p in [*forward.args.posonlyargs, *forward.args.args][1:]]
        casts = [f"{name} = {name}.to(torch.bfloat16)" for name in names]
        forward.body[_start(forward) : _start(forward)] = _parsed(casts)
        for node in ast.walk(forward):
            if (
                isinstance(node, ast.Return)
                and node.value
                and not isinstance(node.value, ast.Tuple)
            ):
                node.value = ast.Call(ast.Attribute(node.value, "float", ast.Load()), [], [])


def reorder(tree: ast.Module) -> None:
    """Swap neighbours that do not depend on each other, and turn the definitions about."""
    for cls in _classes(tree):
        for method in methods(cls).values():
            method.body = _swapped(method.body)
    functions = [s for s in tree.body if isinstance(s, Function)]
    turned = iter(reversed(functions))
    tree.body = [next(turned) if isinstance(s, Function) else s for s in tree.body]


def functional(tree: ast.Module) -> None:
    """Call functions where modules without weights, and linear ones, were called."""
    found = [_Functional(cls) for cls in _classes(tree)]
    for cls, functions in zip(_classes(tree), found, strict=True):
        functions.visit(cls)
    if any(f.modules for f in found) and dict(imported(tree)).get("F") != "torch.nn.functional":
        tree.body[1:1] = _parsed(["import torch.nn.functional as F"])


def wrap(tree: ast.Module) -> None:
    """Put the model into an outer one, which hands everything on."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.Name):
            name = "name" if isinstance(node, ast.ClassDef) else "id"
            if getattr(node, name) == ENTRY:
                setattr(node, name, "Inner")
    place = next((i for i, s in enumerate(tree.body) if isinstance(s, Function)), len(tree.body))
    tree.body[place:place] = ast.parse(_OUTER).body


def assign(tree: ast.Module) -> None:
    """Add an assignment that nothing reads."""
    _insert(tree, "unused = {x} * 2.0")


def express(tree: ast.Module) -> None:
    """Add an expression whose value is dropped."""
    _insert(tree, "{x} + 1.0")


def assure(tree: ast.Module) -> None:
    """Add an assertion that always holds."""
    _insert(tree, "assert {x}.dim() >= 0, 'a tensor'")


_TENSORS = (ast.Name, ast.Call, ast.BinOp, ast.Attribute, ast.Subscript)
_SMALL = 3
"""Numbers up to it may be dimensions, strides or paddings."""
DISGUISES: Mapping[str, Callable[[ast.Module], None]] = {
    "renamed": rename,
    "reformatted": reformat,
    "resized": resize,
    "recast": recast,
    "reordered": reorder,
    "functional": functional,
    "wrapped": wrap,
    "unused assignment": assign,
    "bare expression": express,
    "true assertion": assure,
}
_OUTER = f"""
class {ENTRY}(torch.nn.Module):
    def __init__(self, *settings):
        super().__init__()
        self.inner = Inner(*settings)

    def forward(self, *inputs):
        return self.inner(*inputs)
"""


class _Rename(ast.NodeTransformer):
    def __init__(self, tree: ast.Module) -> None:
        kept = {ENTRY, "get_inputs", "get_init_inputs", "forward", *dict(imported(tree))}
        self.names = frozenset(_bound(tree)) - kept
        self.stored = frozenset(_stored(tree)) - kept

    def _new(self, name: str, names: frozenset[str]) -> str:
        plain = name in names and not name.startswith("__") and name != "self"
        return f"renamed_{name}" if plain else name

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self._new(node.id, self.names)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.arg = self._new(node.arg, self.names)
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id == "self":
            node.attr = self._new(node.attr, self.stored)
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.name = self._new(node.name, self.names | self.stored)
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.name = self._new(node.name, self.names)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        # Keywords of the file's own classes and functions go with their parameters.
        if isinstance(node.func, ast.Name) and node.func.id in self.names:
            for keyword in node.keywords:
                keyword.arg = keyword.arg and self._new(keyword.arg, self.names)
        return self.generic_visit(node)


_CONV = "weight bias stride padding dilation groups"
FUNCTIONS = {
    **{name: (f"F.{function}", "") for name, function in {
        "ReLU": "relu", "GELU": "gelu", "SiLU": "silu", "Mish": "mish", "SELU": "selu",
        "Hardswish": "hardswish", "Hardsigmoid": "hardsigmoid", "Softsign": "softsign",
        "ReLU6": "relu6", "Softplus": "softplus",
    }.items()},
    "Sigmoid": ("torch.sigmoid", ""),
    "Tanh": ("torch.tanh", ""),
    "LeakyReLU": ("F.leaky_relu", "negative_slope"),
    "ELU": ("F.elu", "alpha"),
    "Hardtanh": ("F.hardtanh", "min_val max_val"),
    "Softmax": ("torch.softmax", "dim"),
    "LogSoftmax": ("F.log_softmax", "dim"),
    "Linear": ("F.linear", "weight bias"),
    "LayerNorm": ("F.layer_norm", "normalized_shape weight bias eps"),
    "GroupNorm": ("F.group_norm", "num_groups weight bias eps"),
    **{f"Conv{n}d": (f"F.conv{n}d", _CONV) for n in (1, 2, 3)},
    **{f"MaxPool{n}d": (f"F.max_pool{n}d", "kernel_size stride padding dilation")
       for n in (1, 2, 3)},
    **{f"AvgPool{n}d": (f"F.avg_pool{n}d", "kernel_size stride padding") for n in (1, 2, 3)},
    **{f"AdaptiveAvgPool{n}d": (f"F.adaptive_avg_pool{n}d", "output_size") for n in (1, 2, 3)},
}  # fmt: skip
"""The function of each module, and the module's attributes that it is given after its input."""


class _Functional(ast.NodeTransformer):
    def __init__(self, cls: ast.ClassDef) -> None:
        self.modules = {
            node.targets[0].attr: FUNCTIONS[node.value.func.attr]
            for node in ast.walk(cls)
            if isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Attribute)
            and isinstance(node.value, ast.Call)
            and isinstance(node.value.func, ast.Attribute)
            and node.value.func.attr in FUNCTIONS
        }

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        match node.targets[0]:
            case ast.Attribute(value=ast.Name(id="self"), attr=name) if name in self.modules:
                return node if self.modules[name][1] else None
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node.func:
            case ast.Attribute(value=ast.Name(id="self"), attr=name) if name in self.modules:
                function, attributes = self.modules[name]
                given = [f"self.{name}.{attribute}" for attribute in attributes.split()]
                rest = [ast.parse(text, mode="eval").body for text in given]
                return ast.Call(
                    ast.parse(function, mode="eval").body, [*node.args, *rest], node.keywords
                )
        return node


def _swapped(body: list[ast.stmt]) -> list[ast.stmt]:
    """Swap each pair of neighbours of which neither reads or writes what the other writes."""
    swapped = list(body)
    place = 0
    while place + 1 < len(swapped):
        first, second = swapped[place : place + 2]
        if _independent(first, second):
            swapped[place : place + 2] = [second, first]
            place += 1
        place += 1
    return swapped


def _independent(first: ast.stmt, second: ast.stmt) -> bool:
    simple = all(isinstance(s, ast.Assign) and not _acts(s) for s in (first, second))
    writes, reads = [_written(s) for s in (first, second)], [_read(s) for s in (first, second)]
    apart = not (writes[0] & (writes[1] | reads[1]) or writes[1] & reads[0])
    return simple and apart


def _acts(statement: ast.stmt) -> bool:
    calls = (n.func for n in ast.walk(statement) if isinstance(n, ast.Call))
    return any(isinstance(f, ast.Attribute) and f.attr.endswith("_") for f in calls)


def _written(statement: ast.stmt) -> set[str]:
    return {ast.unparse(n) for n in ast.walk(statement) if _is(n, ast.Store)}


def _read(statement: ast.stmt) -> set[str]:
    return {ast.unparse(n) for n in ast.walk(statement) if _is(n, ast.Load)}


def _is(node: ast.AST, context: type[ast.expr_context]) -> bool:
    is_place = isinstance(node, ast.Name | ast.Attribute | ast.Subscript)
    return isinstance(getattr(node, "ctx", None), context) and is_place


def _insert(tree: ast.Module, text: str) -> None:
    for forward in _forwards(tree):
        names = [p.arg for p in parameters(forward)[1:]]
        place = _start(forward)
        forward.body[place:place] = _parsed([text.format(x=names[0])] if names else [])


def _forwards(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    for cls in _classes(tree):
        forward = methods(cls).get("forward")
        if cls.name == ENTRY and isinstance(forward, ast.FunctionDef):
            yield forward


def _classes(tree: ast.Module) -> Iterator[ast.ClassDef]:
    return (node for node in tree.body if isinstance(node, ast.ClassDef))


def _start(function: ast.FunctionDef) -> int:
    """Place of the first statement after the docstring."""
    return int(_is_text(function.body[0]))


def _is_text(statement: ast.stmt) -> bool:
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _is_size(value: object) -> bool:
    return type(value) is int and value > _SMALL


def _parsed(lines: list[str]) -> list[ast.stmt]:
    return ast.parse("\n".join(lines)).body


def _bound(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) | ast.ClassDef(name=name):
                yield name
    yield from (s.name for s in tree.body if isinstance(s, Function))


def _stored(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                yield name
            case ast.ClassDef(body=body):
                yield from (s.name for s in body if isinstance(s, Function))
