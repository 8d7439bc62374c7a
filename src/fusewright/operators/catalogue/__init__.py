"""The operators that the graph composer may draw, with hand-verified rules; torch-free.

A rule says in plain ints and floats what an operator does to shapes, bounds, facts and a few
elements, and what it costs. What it writes then runs, is finite, and has no dead part.
"""

from fusewright.operators.catalogue.activations import ACTIVATIONS
from fusewright.operators.catalogue.apply import Placed, apply
from fusewright.operators.catalogue.arithmetic import JOINS, Join, join
from fusewright.operators.catalogue.attentions import ATTENTIONS
from fusewright.operators.catalogue.convolutions import CONVOLUTIONS
from fusewright.operators.catalogue.curves import CURVES
from fusewright.operators.catalogue.distances import DISTANCES
from fusewright.operators.catalogue.elementwise import Curve, unary
from fusewright.operators.catalogue.layouts import LAYOUTS, VIEWS
from fusewright.operators.catalogue.losses import LOSSES
from fusewright.operators.catalogue.norms import NORMS
from fusewright.operators.catalogue.pools import POOLS, RESAMPLES
from fusewright.operators.catalogue.products import PRODUCTS
from fusewright.operators.catalogue.reductions import REDUCTIONS
from fusewright.operators.catalogue.rule import Applied, Cost, Dice, Member, Refused, Rule
from fusewright.operators.catalogue.scaling import SCALINGS
from fusewright.operators.catalogue.scans import SCANS, SORTS
from fusewright.operators.catalogue.size import Size
from fusewright.operators.catalogue.softmaxes import SOFTMAXES
from fusewright.operators.catalogue.value import Layout, Shape, Value

__all__ = [
    "CATALOGUE",
    "VIEWS",
    "Applied",
    "Cost",
    "Curve",
    "Dice",
    "Join",
    "Layout",
    "Member",
    "Placed",
    "Refused",
    "Rule",
    "Shape",
    "Size",
    "Value",
    "apply",
    "join",
    "unary",
]

CATALOGUE: tuple[Rule, ...] = (
    *ACTIVATIONS,
    *CURVES,
    *JOINS,
    *SCALINGS,
    *REDUCTIONS,
    *SOFTMAXES,
    *SCANS,
    *SORTS,
    *NORMS,
    *PRODUCTS,
    *CONVOLUTIONS,
    *POOLS,
    *RESAMPLES,
    *LAYOUTS,
    *ATTENTIONS,
    *LOSSES,
    *DISTANCES,
)
"""Every rule, in a stable order; an operator may have several."""
