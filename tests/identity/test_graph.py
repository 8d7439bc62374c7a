from itertools import permutations
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusewright.identity import branches, graph_hash, skeleton


class Node(NamedTuple):
    op: str
    inputs: tuple[int, ...]


def graph(*nodes):
    return [Node(op, tuple(inputs)) for op, *inputs in nodes]


CHAIN = graph(("torch.relu", -1), ("torch.mean", 0))
SHARED = graph(("torch.exp", -1), ("torch.mul", 0, 0))
TWICE = graph(("torch.exp", -1), ("torch.exp", -1), ("torch.mul", 0, 1))
CROSSED = graph(("torch.exp", -1), ("torch.sub", 0, -2), ("torch.add", 1, -2))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (graph(("torch.add", -1, -2)), graph(("torch.add", -2, -1))),
        (graph(("torch.sub", -2, -1)), graph(("torch.sub", -1, -2))),
        (CROSSED, graph(("torch.exp", -2), ("torch.sub", 0, -1), ("torch.add", -1, 1))),
        (
            graph(("torch.exp", -1), ("torch.sin", -2), ("torch.sub", 0, 1)),
            graph(("torch.sin", -1), ("torch.exp", -2), ("torch.sub", 1, 0)),
        ),
        (
            graph(("torch.exp", -1), ("torch.exp", -2), ("torch.mul", 0, 1), ("torch.sub", 2, 1)),
            graph(("torch.exp", -1), ("torch.exp", -2), ("torch.mul", 0, 1), ("torch.sub", 2, 0)),
        ),
        (
            graph(("torch.add", -1, -2), ("torch.mul", 0, -2), ("torch.mul", 0, -1)),
            graph(("torch.add", -1, -2), ("torch.mul", 0, -1), ("torch.mul", 0, -2)),
        ),
    ],
)
def test_the_same_graph_written_in_another_order_has_one_hash(one, other):
    assert graph_hash(one) == graph_hash(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (CHAIN, graph(("torch.mean", -1), ("torch.relu", 0))),
        (SHARED, TWICE),
        (graph(("torch.add", -1, -1)), graph(("torch.add", -1, -2))),
        (
            graph(("torch.exp", -1), ("torch.sub", 0, -1)),
            graph(("torch.exp", -1), ("torch.sub", -1, 0)),
        ),
        (CHAIN, [*CHAIN, Node("torch.relu", (0,))]),
    ],
)
def test_another_graph_has_another_hash(one, other):
    assert graph_hash(one) != graph_hash(other)


@st.composite
def graphs(draw):
    ops = st.sampled_from(["torch.add", "torch.mul", "torch.sub", "torch.exp"])
    nodes = []
    for index in range(draw(st.integers(1, 7))):
        inputs = st.lists(st.integers(-2, index - 1), min_size=1, max_size=2)
        nodes.append(Node(draw(ops), tuple(draw(inputs))))
    return nodes


@given(graphs(), st.randoms())
def test_the_hash_does_not_depend_on_the_order_of_execution(nodes, random):
    order, done = [], set()
    while len(order) < len(nodes):
        ready = [i for i in range(len(nodes)) if i not in done and _is_ready(nodes[i], done)]
        order.append(random.choice(ready))
        done.add(order[-1])
    place = {old: new for new, old in enumerate(order)} | {-1: -2, -2: -1}
    shuffled = [
        Node(nodes[i].op, tuple(place[source] for source in nodes[i].inputs)) for i in order
    ]

    assert graph_hash(shuffled) == graph_hash(nodes)
    assert skeleton(shuffled, str) == skeleton(nodes, str)


def _is_ready(node, done):
    return all(source < 0 or source in done for source in node.inputs)


def test_all_orders_of_a_commutative_operator_of_three_are_one():
    start = graph(("torch.exp", -1), ("torch.sin", -1))
    orders = permutations((0, 1, -1))
    hashes = {graph_hash([*start, Node("torch.add", order)]) for order in orders}

    assert len(hashes) == 1


def test_a_skeleton_tells_families_and_shape_alone():
    family = {"torch.relu": "elementwise", "torch.exp": "elementwise"}.get
    reduced = graph(("torch.exp", -1), ("torch.mean", 0))

    def of(op):
        return family(op, "reduction")

    assert skeleton(CHAIN, of) == skeleton(reduced, of)
    assert skeleton(CHAIN, of) != skeleton(SHARED, of)
    assert len(skeleton(CHAIN, of)) == 8


@pytest.mark.parametrize(
    ("nodes", "is_branching"),
    [
        (CHAIN, False),
        (graph(("torch.exp", -1), ("torch.add", 0, -2)), False),
        (SHARED, True),
        (TWICE, True),
        (graph(("torch.exp", -1), ("torch.exp", -2), ("torch.mul", 0, 1)), True),
        (graph(("torch.sigmoid", -1), ("torch.mul", 0, -1)), True),
        ([], False),
    ],
)
def test_a_graph_branches_where_a_value_is_used_twice_or_two_computed_ones_meet(
    nodes, is_branching
):
    assert branches(nodes) is is_branching


def test_a_node_that_reads_a_later_one_is_refused():
    with pytest.raises(ValueError, match="node 0 takes"):
        graph_hash(graph(("torch.exp", 0)))
