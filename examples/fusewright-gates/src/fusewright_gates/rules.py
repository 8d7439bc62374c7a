"""What the graph composer must know to draw the gates.

The curves are NumPy's, so that they take a number or an array of them, and importing this module
stays cheap: the composer loads no PyTorch.
"""

import numpy as np

from fusewright.operators.catalogue import Curve, Join, Rule, join, unary

Bounds = tuple[float, float]


def _reglu_bounds(x: Bounds, y: Bounds) -> Bounds:
    corners = [max(a, 0.0) * b for a in x for b in y]
    return min(corners), max(corners)


RULES: tuple[Rule, ...] = (
    unary(
        "gates.squared_relu",
        ("", Curve(lambda x: np.square(np.maximum(x, 0.0)))),
        call="torch.square(torch.relu({0}))",
        uses=("torch.relu", "torch.square"),
        passes=4,
        verb="square a rectifier",
    ),
    unary(
        "gates.quick_gelu",
        # It falls until -0.767 and rises from there on.
        ("", Curve(lambda x: x / (1.0 + np.exp(-1.702 * np.maximum(x, -50.0))), turns=(-0.767,))),
        call="{0} * torch.sigmoid(1.702 * {0})",
        uses=("torch.mul", "torch.sigmoid", "torch.mul"),
        passes=7,
        verb="apply quick GELU",
    ),
    join(
        "gates.reglu",
        "torch.relu({0}) * {1}",
        Join(
            lambda x, y: np.maximum(x, 0.0) * y,
            _reglu_bounds,
            inner=0,
            bare=lambda x, y: x * y,
        ),
        uses=("torch.relu", "torch.mul"),
        verb="gate {1} by a rectifier",
    ),
)
