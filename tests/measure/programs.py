"""Candidates of one forward each, sound and faulty."""

TEMPLATE = """\
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
{init}

    def forward(self, {arguments}):
{forward}


def get_inputs():
    return [{inputs}]


def get_init_inputs():
    return []
"""


def program(forward, init="pass", arguments="x", inputs="torch.randn(8, 16)"):
    """Write a candidate; *forward* and *init* may have several lines."""
    return TEMPLATE.format(
        init=_indented(init), arguments=arguments, forward=_indented(forward), inputs=inputs
    )


def _indented(lines):
    return "\n".join("        " + line for line in lines.splitlines())
