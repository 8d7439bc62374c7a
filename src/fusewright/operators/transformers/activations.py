"""What the library's table of activations holds under each name."""

import ast

from fusewright.operators.transformers.library import Definition, Library
from fusewright.operators.transformers.unfit import UnfitError

MODULE = "activations"
"""Where the library keeps its own."""

_OF_TORCH = {
    "gelu": "nn.GELU()",
    "gelu_10": "nn.Sequential(nn.GELU(), nn.Hardtanh(-10.0, 10.0))",
    "gelu_fast": "nn.GELU(approximate='tanh')",
    "gelu_new": "nn.GELU(approximate='tanh')",
    "gelu_python": "nn.GELU()",
    "gelu_pytorch_tanh": "nn.GELU(approximate='tanh')",
    "hardswish": "nn.Hardswish()",
    "leaky_relu": "nn.LeakyReLU()",
    "linear": "nn.Identity()",
    "mish": "nn.Mish()",
    "prelu": "nn.PReLU()",
    "relu": "nn.ReLU()",
    "relu6": "nn.ReLU6()",
    "sigmoid": "nn.Sigmoid()",
    "silu": "nn.SiLU()",
    "swish": "nn.SiLU()",
    "tanh": "nn.Tanh()",
}
_OF_LIBRARY = {
    "gelu_accurate": "AccurateGELUActivation",
    "laplace": "LaplaceActivation",
    "quick_gelu": "QuickGELUActivation",
    "relu2": "ReLUSquaredActivation",
    "sqrtsoftplus": "SqrtSoftplusActivation",
}


def activation(library: Library, name: object) -> tuple[ast.expr, Definition | None]:
    """Expression that builds the activation *name*, and the class of the library that it needs.

    Raises:
        UnfitError: There is no such activation.
    """
    if name in _OF_TORCH:
        return ast.parse(_OF_TORCH[str(name)], mode="eval").body, None
    if name not in _OF_LIBRARY:
        raise UnfitError(f"no activation is called {name!r}")
    found = library.resolve(MODULE, _OF_LIBRARY[str(name)])
    assert isinstance(found, Definition)
    return ast.parse(f"{found.name}()", mode="eval").body, found
