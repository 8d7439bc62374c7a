"""What graphs look like over many seeds."""

from collections import Counter

import pytest

from .problems import drawn

SEEDS = range(400)


@pytest.fixture(scope="module")
def graphs():
    return [drawn(seed)[0] for seed in SEEDS]


def share(graphs, test):
    return sum(map(test, graphs)) / len(graphs)


def test_many_graphs_branch_and_many_take_several_inputs(graphs):
    assert share(graphs, lambda graph: graph.branching) >= 0.4
    assert share(graphs, lambda graph: len(graph.inputs) > 1) >= 0.3
    assert all(len(graph.inputs) <= 3 for graph in graphs)


def test_nearly_all_graphs_do_more_than_elementwise_work(graphs):
    assert share(graphs, lambda g: any(n.rule.family != "elementwise" for n in g.nodes)) >= 0.85


def test_no_operator_takes_over(graphs):
    uses = Counter(op for graph in graphs for op in graph.ops)
    assert max(uses.values()) / uses.total() <= 0.05
    assert len(uses) >= 140


def test_every_tensor_but_the_output_is_used(graphs):
    for graph in graphs:
        references = [*range(-len(graph.inputs), 0), *range(len(graph.nodes) - 1)]
        assert all(graph.users(reference) for reference in references)
