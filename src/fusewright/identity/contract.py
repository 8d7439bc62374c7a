"""The form of a problem: `class Model(nn.Module)`, `get_inputs()` and `get_init_inputs()`."""

import ast
from collections.abc import Iterator

from fusewright.identity.program import Function, Program


def missing(program: Program) -> Iterator[str]:
    """Say of each part of the form that *program* lacks."""
    model = program.classes.get("Model")
    if model is None:
        yield "there is no class Model at the top level"
    elif not program.is_module(model):
        yield "class Model does not derive from torch.nn.Module"
    else:
        forward = program.methods(model).get("forward")
        if not isinstance(forward, ast.FunctionDef):
            yield "class Model has no forward method"
        elif not (forward.args.posonlyargs or forward.args.args):
            yield "Model.forward does not take self"
    for name in ("get_inputs", "get_init_inputs"):
        function = program.functions.get(name)
        if not isinstance(function, ast.FunctionDef):
            yield f"there is no function {name} at the top level"
        elif required := _required(function):
            yield f"{name} must be callable without arguments, but requires {', '.join(required)}"


def _required(function: Function) -> list[str]:
    args = function.args
    positional = [*args.posonlyargs, *args.args]
    plain = positional[: len(positional) - len(args.defaults)]
    keywords = zip(args.kwonlyargs, args.kw_defaults, strict=True)
    return [arg.arg for arg in (*plain, *(arg for arg, default in keywords if default is None))]
