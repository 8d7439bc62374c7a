"""One name for every spelling of an operator: `nn.ReLU`, `F.relu`, `torch.relu` and `x.relu_()`."""

from fusewright.identity.program import words

ARITHMETIC = words(
    "add sub mul div pow floordivide remainder matmul maximum minimum lt le gt ge eq ne "
    "logicaland logicalor logicalxor"
)
"""Operators whose numbers count as operands: `1 - x` is not `x - 1`."""

COMMUTATIVE = words("add mul maximum minimum eq ne logicaland logicalor logicalxor")
"""Operators of which the order of operands is ignored."""

CASTS = words(
    "to type typeas float double half bfloat16 contiguous clone detach cpu cuda requiresgrad "
    "identity checkpoint alias"
)
"""What hands on the values that it was given, in another type or place."""

WEIGHTED = words("linear bilinear embedding embeddingbag prelu batchnorm instancenorm layernorm "
                 "groupnorm rmsnorm conv1d conv2d conv3d convtranspose1d convtranspose2d "
                 "convtranspose3d")  # fmt: skip
"""Operators whose weights a module holds, and a function is given."""

_SAME = {
    "mm": "matmul", "bmm": "matmul", "dot": "matmul", "mv": "matmul",
    "multiply": "mul", "divide": "div", "truedivide": "div", "subtract": "sub",
    "amax": "max", "amin": "min", "negative": "neg", "absolute": "abs", "clip": "clamp",
    "hardtanh": "clamp", "relu6": "clamp", "upsample": "interpolate",
    "view": "reshape", "reshapeas": "reshape", "viewas": "reshape", "flatten": "reshape",
    "unflatten": "reshape", "squeeze": "reshape", "unsqueeze": "reshape",
    "swapaxes": "transpose", "swapdims": "transpose", "t": "transpose", "mt": "transpose",
    "adjoint": "transpose", "concat": "cat", "concatenate": "cat", "expandas": "expand",
    "multiheadattention": "multiheadattention", "special.expit": "sigmoid", "expit": "sigmoid",
    "swish": "silu", "alphadropout": "dropout", "featuredropout": "dropout",
}  # fmt: skip
_DIMENSIONS = words("batchnorm instancenorm dropout syncbatchnorm")
"""Modules that come once a number of dimensions, and as one function."""


def unified(name: str) -> str:
    """Name the operator whose last name, in whatever spelling, is *name*."""
    plain = name.rpartition(".")[2].replace("_", "").lower()
    stem = plain.rstrip("d").rstrip("123")
    plain = stem if stem in _DIMENSIONS else plain.removesuffix("loss") or plain
    return _SAME.get(plain, plain)
