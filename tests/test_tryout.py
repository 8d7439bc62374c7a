"""Trying out a composer's problems in the sandbox."""

from fusewright.compose.graph import GraphComposer
from fusewright.operators.catalogue import CATALOGUE
from fusewright.protocols import Inspectable
from fusewright.records import Rejection
from fusewright.testing import make_operator, make_problem
from fusewright.tryout import RAN, try_out

OPERATORS = [make_operator(name) for name in sorted({op for r in CATALOGUE for op in r.ops})]


class Faulty:
    """Writes one problem that runs, one that does not, and none."""

    def tiny(self, operators, seed):
        if seed == 2:
            return Rejection(subject="s", stage="compose", reason="no_draw", detail="none")
        sound = GraphComposer().tiny(OPERATORS, 0)
        return sound if seed == 0 else make_problem(sound.code.replace("return", "return 1 @", 1))

    def describe(self, operators, seeds):
        return {}


def test_what_runs_is_counted_beside_every_reason():
    told = try_out(Faulty(), OPERATORS, range(3))
    assert told[RAN] == 1
    assert told["no_draw"] == 1
    assert told.total() == 3
    assert told.keys() > {RAN, "no_draw"}


def test_the_graph_composer_can_be_inspected():
    composer = GraphComposer(device="cpu")
    assert isinstance(composer, Inspectable)
    assert composer.tiny(OPERATORS, 3) != composer.compose(OPERATORS, 3)
    found = composer.describe(OPERATORS, range(20))
    assert found["n"] == 20
    assert abs(sum(found["uses"].values()) - 1) < 1e-9
