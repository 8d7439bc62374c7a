"""What a problem computes, as a graph of values read off its text.

`Model.forward` is followed with its inputs as unknowns, through helpers, modules of the file and
containers of modules. Only what reaches the result is kept, so that dead lines, assertions, the
order of independent lines, wrapping classes, names and sizes change nothing; nor do casts, or
whether an operator is spelled as a module, a function, a method or infix. A loop over what the
text does not list counts once, and an `if` gives both of its outcomes.
"""

from functools import lru_cache

from fusewright.identity.flow.graph import LEAF, Flow, Graph
from fusewright.identity.flow.statements import Reader
from fusewright.identity.flow.values import SCALAR, Method, Value
from fusewright.identity.program import read, syntax_guard

__all__ = ["Flow", "flow"]

_MOST = 16
"""Inputs given to every `forward`: one that takes any number hands on as many as are needed."""


@lru_cache(maxsize=8)
def flow(code: str) -> Flow:
    """Read the graph of `Model` in *code*; it is empty where there is none.

    Raises:
        SyntaxError: *code* cannot be read.
    """
    program, graph = read(code), Graph()
    cls = program.classes.get("Model")
    result: Value = SCALAR
    if cls and (forward := program.methods(cls).get("forward")):
        reader = Reader(program, graph)
        inputs = [graph.add(f"{LEAF}input{place}", ()) for place in range(_MOST)]
        with syntax_guard():
            result = reader.call(Method(reader.build(cls, (), {}), forward), inputs, {})
    return graph.flow(result)
