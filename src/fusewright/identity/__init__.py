"""Who a problem is: canonical text, likeness, operators read off the text, graph hashes.

The lowest layer: pure, and nothing of it runs or imports what it reads.
"""

from fusewright.identity.flow import flow
from fusewright.identity.graph import branches, graph_hash, skeleton
from fusewright.identity.operators import operator_names
from fusewright.identity.program import Program, read
from fusewright.identity.shingling import class_shingles, jaccard, shingles
from fusewright.identity.text import canonical, literals, text_hash
from fusewright.identity.trees import tree_pieces

__all__ = [
    "Program",
    "branches",
    "canonical",
    "class_shingles",
    "flow",
    "graph_hash",
    "jaccard",
    "literals",
    "operator_names",
    "read",
    "shingles",
    "skeleton",
    "text_hash",
    "tree_pieces",
]
