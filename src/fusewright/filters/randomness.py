"""Randomness that `forward` reaches: drawn in it or its helpers, or built in as a module."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fusewright.identity import Program
from fusewright.identity.members import assignments
from fusewright.identity.program import Function, methods, parameters, words

_FUNCTIONS = words(
    "rand randn randint randperm rand_like randn_like randint_like normal bernoulli multinomial "
    "poisson binomial rrelu gumbel_softmax fractional_max_pool2d fractional_max_pool3d "
    "fractional_max_pool2d_with_indices fractional_max_pool3d_with_indices"
)
"""Functions of `torch` and `F`, less a trailing underscore."""

_METHODS = words(
    "bernoulli multinomial normal_ uniform_ bernoulli_ exponential_ random_ cauchy_ geometric_ "
    "log_normal_"
)
_FIXED_INIT = words("zeros_ ones_ constant_ eye_ dirac_ calculate_gain")
_MODULES = words("RReLU FractionalMaxPool2d FractionalMaxPool3d")
_DROPOUTS = words("dropout dropout1d dropout2d dropout3d alpha_dropout feature_dropout")
_DROPOUTS |= {"feature_alpha_dropout", "native_dropout"}


@dataclass(frozen=True)
class _Rate:
    """Where a call takes the share that it drops."""

    keyword: str
    position: int | None
    default: float


_RATES: Mapping[str, _Rate] = {
    **dict.fromkeys(("Dropout", "Dropout1d", "Dropout2d", "Dropout3d"), _Rate("p", 0, 0.5)),
    **dict.fromkeys(("AlphaDropout", "FeatureAlphaDropout"), _Rate("p", 0, 0.5)),
    **dict.fromkeys(("LSTM", "GRU", "RNN"), _Rate("dropout", None, 0.0)),
    "MultiheadAttention": _Rate("dropout", 2, 0.0),
    "TransformerEncoderLayer": _Rate("dropout", 3, 0.1),
    "TransformerDecoderLayer": _Rate("dropout", 3, 0.1),
    "Transformer": _Rate("dropout", 5, 0.1),
    "scaled_dot_product_attention": _Rate("dropout_p", 4, 0.0),
}
_FUNCTIONAL_RATE = _Rate("p", 1, 0.5)


def random_calls(program: Program) -> Iterator[tuple[int, str]]:
    """Yield line and name of each source of randomness; a rate that the text hides is let pass."""
    for cls in program.classes.values():
        constants = _constants(program, cls)
        for node in ast.walk(cls):
            if isinstance(node, ast.Call) and (name := _random_module(program, node, constants)):
                yield node.lineno, f"{name} is random in training"
    for body, constants in _reached(program):
        for node in ast.walk(body):
            if isinstance(node, ast.Call) and (name := _random_call(program, node, constants)):
                yield node.lineno, f"{name} is random"


_Constants = Mapping[str, ast.expr]
"""Values of module constants, constructor parameters and, as `self.x`, of settings."""


def _random_module(program: Program, call: ast.Call, constants: _Constants) -> str | None:
    path = program.path(call.func) or ""
    name = path.rpartition(".")[2]
    if not path.startswith("torch.nn.") or not name[:1].isupper():
        return None
    rate = _RATES.get(name)
    is_random = name in _MODULES or (rate is not None and _drops(call, rate, constants))
    return f"nn.{name}" if is_random else None


def _random_call(program: Program, call: ast.Call, constants: _Constants) -> str | None:
    path = program.path(call.func)
    if path is None:
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        return f"method {method}" if method in _METHODS else None
    name = path.rpartition(".")[2]
    bare = name.rstrip("_")
    if path.startswith("torch.nn.init."):
        is_random = name not in _FIXED_INIT
    elif bare in _DROPOUTS:
        is_random = _drops(call, _FUNCTIONAL_RATE, constants) and not _is_off(call)
    else:
        rate = _RATES.get(name) if bare.islower() else None
        is_random = bare in _FUNCTIONS or (rate is not None and _drops(call, rate, constants))
    return path if is_random else None


def _drops(call: ast.Call, rate: _Rate, constants: _Constants) -> bool:
    given = _argument(call, rate.keyword, rate.position)
    if given is None:
        return rate.default > 0
    for _ in range(4):
        name = f"self.{given.attr}" if isinstance(given, ast.Attribute) else ""
        name = given.id if isinstance(given, ast.Name) else name
        given = constants.get(name, given)
    value = given.value if isinstance(given, ast.Constant) else None
    return isinstance(value, int | float) and value > 0


def _is_off(call: ast.Call) -> bool:
    training = _argument(call, "training", 2) or _argument(call, "train", None)
    return isinstance(training, ast.Constant) and not training.value


def _argument(call: ast.Call, keyword: str, position: int | None) -> ast.expr | None:
    named = next((k.value for k in call.keywords if k.arg == keyword), None)
    if named is None and position is not None and position < len(call.args):
        return call.args[position]
    return named


def _constants(program: Program, cls: ast.ClassDef) -> _Constants:
    found: dict[str, ast.expr] = {}
    for node in program.tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = node.value
    init = program.methods(cls).get("__init__")
    if init is None:
        return found
    names = [parameter.arg for parameter in parameters(init)]
    unknown = {name: ast.Name(f"unknown {name}", ast.Load()) for name in names}
    given = _given(program, init) if cls.name == "Model" else {}
    given = {n: found.get(v.id, v) if isinstance(v, ast.Name) else v for n, v in given.items()}
    settings = {f"self.{name}": value for name, value in assignments(init)}
    return {**found, **unknown, **given, **settings}


def _given(program: Program, init: Function) -> dict[str, ast.expr]:
    """What the constructor's parameters get from `get_init_inputs`, or from their defaults."""
    positional = [*init.args.posonlyargs, *init.args.args]
    with_default = positional[len(positional) - len(init.args.defaults) :]
    given = {a.arg: d for a, d in zip(with_default, init.args.defaults, strict=True)}
    given |= {
        arg.arg: default
        for arg, default in zip(init.args.kwonlyargs, init.args.kw_defaults, strict=True)
        if default
    }
    source = program.functions.get("get_init_inputs")
    for node in ast.walk(source) if source else ():
        if isinstance(node, ast.Return) and isinstance(node.value, ast.List | ast.Tuple):
            given |= {a.arg: v for a, v in zip(positional[1:], node.value.elts, strict=False)}
    return given


def _reached(program: Program) -> Iterator[tuple[ast.AST, _Constants]]:
    """Yield what running `forward` may run, with the constants that hold there."""
    owners = [
        (cls, name, m) for cls in program.classes.values() for name, m in methods(cls).items()
    ]
    pending = [method for _, name, method in owners if name in {"forward", "__call__"}]
    done = set[Function]()
    while pending:
        method = pending.pop()
        if method in done:
            continue
        done.add(method)
        called = {n.attr for n in ast.walk(method) if isinstance(n, ast.Attribute)}
        pending += [m for _, name, m in owners if name in called and name != "__init__"]
        names = {n.id for n in ast.walk(method) if isinstance(n, ast.Name)}
        pending += [f for name, f in program.helpers.items() if name in names]
    for cls, name, method in owners:
        constants = _constants(program, cls)
        if method in done:
            yield method, constants
        elif name == "__init__":
            lambdas = (n for n in ast.walk(method) if isinstance(n, ast.Lambda))
            yield from ((node, constants) for node in lambdas)
    yield from ((helper, {}) for helper in program.helpers.values() if helper in done)
