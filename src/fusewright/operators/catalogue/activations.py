"""Activations: the curves of neural networks, as functions and as modules."""

import numpy as np

from fusewright.operators.catalogue.elementwise import HOMOGENEOUS, Curve, unary
from fusewright.operators.catalogue.functions import (
    clipped,
    expm1,
    gelu,
    gelu_tanh,
    relu,
    sigmoid,
    softplus,
)
from fusewright.operators.catalogue.rule import Rule
from fusewright.operators.catalogue.sample import Sample

_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772, 1.0507009873554805


def _leaky(slope: float) -> Curve:
    return Curve(lambda x: np.maximum(x, slope * x), keeps=HOMOGENEOUS)


def _elu(alpha: float) -> Curve:
    return Curve(lambda x: relu(x) + alpha * expm1(x))


def _celu(alpha: float) -> Curve:
    return Curve(lambda x: relu(x) + alpha * expm1(x / alpha))


def _selu(x: Sample) -> Sample:
    return _SELU_SCALE * (relu(x) + _SELU_ALPHA * expm1(x))


def _softplus(beta: float) -> Curve:
    return Curve(lambda x: softplus(beta * x) / beta)


def _clip(low: float, high: float) -> Curve:
    return Curve(lambda x: clipped(x, low, high))


def _shrunk(x: Sample) -> Sample:
    return x - clipped(x, -0.5, 0.5)


_RELU = Curve(relu, keeps=HOMOGENEOUS)
_GELU = Curve(gelu, turns=(-0.7518,))
_SILU = Curve(lambda x: x * sigmoid(x), turns=(-1.2785,))
_MISH = Curve(lambda x: x * np.tanh(softplus(x)), turns=(-1.1924,))
_SIGMOID = Curve(sigmoid)
_TANH = Curve(np.tanh)
_HARDSWISH = Curve(lambda x: x * clipped(x / 6 + 0.5, 0.0, 1.0), turns=(-1.5,))
_LEAKY = (("negative_slope=0.1", _leaky(0.1)), ("negative_slope=0.2", _leaky(0.2)))
_ELU = (("", _elu(1.0)), ("alpha=0.5", _elu(0.5)))

ACTIVATIONS: tuple[Rule, ...] = (
    unary("torch.relu", ("", _RELU), verb="rectify"),
    unary("F.gelu", ("", _GELU), ("approximate='tanh'", Curve(gelu_tanh, turns=(-0.7518,))),
          verb="apply GELU"),
    unary("F.silu", ("", _SILU), verb="apply SiLU"),
    unary("F.mish", ("", _MISH), verb="apply Mish"),
    unary("torch.sigmoid", ("", _SIGMOID), verb="squash by a sigmoid", noun="gate"),
    unary("torch.tanh", ("", _TANH), verb="squash by tanh"),
    unary("F.softplus", ("", _softplus(1.0)), ("beta=2.0", _softplus(2.0)), verb="apply softplus"),
    unary("F.elu", *_ELU, verb="apply ELU"),
    unary("F.selu", ("", Curve(_selu)), verb="apply SELU"),
    unary("F.celu", ("alpha=2.0", _celu(2.0)), ("alpha=0.5", _celu(0.5)), verb="apply CELU"),
    unary("F.leaky_relu", *_LEAKY, verb="rectify leakily"),
    unary("F.hardtanh", ("min_val=-1.0, max_val=1.0", _clip(-1.0, 1.0)),
          ("min_val=-0.5, max_val=1.5", _clip(-0.5, 1.5)), verb="clip"),
    unary("F.hardswish", ("", _HARDSWISH), verb="apply hardswish"),
    unary("F.hardsigmoid", ("", Curve(lambda x: clipped(x / 6 + 0.5, 0.0, 1.0))),
          verb="squash by a hard sigmoid", noun="gate"),
    unary("F.softsign", ("", Curve(lambda x: x / (1 + abs(x)))), passes=7, verb="apply softsign"),
    unary("F.logsigmoid", ("", Curve(lambda x: -softplus(-x))), passes=3,
          verb="take the log of a sigmoid"),
    unary("F.tanhshrink", ("", Curve(lambda x: x - np.tanh(x))), passes=5,
          verb="apply tanhshrink"),
    unary("F.relu6", ("", _clip(0.0, 6.0)), verb="rectify up to six"),
    unary("F.softshrink", ("lambd=0.5", Curve(_shrunk)), verb="shrink softly"),
    unary("nn.ReLU", ("", _RELU), verb="rectify"),
    unary("nn.GELU", ("", _GELU), verb="apply GELU"),
    unary("nn.SiLU", ("", _SILU), verb="apply SiLU"),
    unary("nn.Tanh", ("", _TANH), verb="squash by tanh"),
    unary("nn.ELU", *_ELU, verb="apply ELU"),
    unary("nn.LeakyReLU", *_LEAKY, verb="rectify leakily"),
    unary("nn.Hardswish", ("", _HARDSWISH), verb="apply hardswish"),
)  # fmt: skip
"""Activations without parameters."""
