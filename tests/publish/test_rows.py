import hashlib

import pytest

from fusewright.publish.rows import RejectedRow, Row, make_rejected, make_row
from fusewright.records import Draw, Node, Rejection, Screening
from fusewright.testing import RELU_MEAN, make_measurement, make_operator, make_problem

COLUMNS = [
    *("ops", "data_source", "code", "id", "composer", "model", "seed", "n_ops", "families"),
    *("skeleton", "n_inputs", "branching", "dtype", "input_shapes", "output_shapes", "params"),
    *("eager_ms", "compiled_ms", "eager_spread", "compiled_spread"),
    *("eager_repetitions", "compiled_repetitions", "speedup", "sol_ms", "headroom", "bound"),
    *("peak_memory_mb", "tolerance", "device", "torch", "nearest_benchmark"),
    *("benchmark_similarity", "nearest_row", "row_similarity", "licenses", "release"),
]
LINEAR = make_operator("nn.Linear", family="matmul")
RELU = make_operator("F.relu", family="rectifier", aliases=("torch.relu",), license="MIT")
OPERATORS = {"nn.Linear": LINEAR, "F.relu": RELU, "torch.relu": RELU}


def row(problem=None, graph=None, **fields):
    problem = problem or make_problem()
    fields |= {"graph": graph} if graph else {}
    screening = Screening(problem=problem.key, canonical="c", numberless="n")
    measurement = make_measurement(problem, 6.0, 2.0, **fields)
    return make_row(problem, screening, measurement, OPERATORS, "1.2.3")


def chain(*ops):
    return tuple(Node(op=op, inputs=(i - 1,)) for i, op in enumerate(ops))


def test_the_columns_stand_in_the_order_that_readers_rely_on():
    assert list(Row.model_fields) == COLUMNS


@pytest.mark.parametrize("record", [Row, RejectedRow])
def test_every_column_has_its_sentence(record):
    bare = [n for n, f in record.model_fields.items() if not (f.description or "").endswith(".")]
    assert not bare


def test_operators_are_those_of_the_traced_graph_not_those_asked_for():
    made = row(make_problem(ops=("F.gelu",)))
    assert made.ops == ("nn.Linear", "torch.relu", "torch.mean")
    assert (made.data_source, made.n_ops) == ("torch#3", 3)


def test_the_id_is_the_hash_of_the_code():
    assert row().id == hashlib.sha256(RELU_MEAN.encode()).hexdigest()[:16]


def test_the_id_does_not_change_with_the_seed():
    assert row(make_problem(seed=1)).id == row(make_problem(seed=2)).id


def test_a_family_is_that_of_the_mined_operator_by_name_or_alias_else_that_of_the_name():
    made = row(graph=chain("nn.Linear", "torch.relu", "torch.mean", "torch.Tensor.view"))
    assert made.families == ("matmul", "rectifier", "reduction", "other")


def test_licences_are_those_of_operators_asked_for_and_traced():
    asked = make_problem(ops=("F.relu",))
    assert row(asked, chain("nn.Linear")).licenses == ("BSD-3-Clause", "MIT")
    assert row(graph=chain("torch.mean")).licenses == ()


def test_a_skeleton_sees_families_and_not_operators():
    relu, alias = row(graph=chain("F.relu")), row(graph=chain("torch.relu"))
    assert relu.skeleton == alias.skeleton != row(graph=chain("nn.Linear")).skeleton


def test_a_value_that_two_operators_use_branches():
    fork = (*chain("nn.Linear", "F.relu"), Node(op="torch.add", inputs=(0, 1)))
    assert row(graph=fork).branching
    assert not row(graph=chain("nn.Linear", "F.relu")).branching


def test_times_and_ratios_come_from_the_measurement():
    made = row(sol_ms=0.5, peak_memory_bytes=2_500_000)
    assert (made.eager_ms, made.compiled_ms, made.speedup) == (6.0, 2.0, 3.0)
    assert (made.sol_ms, made.headroom, made.peak_memory_mb) == (0.5, 4.0, 2.5)


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        (make_problem(seed=7), ("graph", 7, RELU_MEAN)),
        (Draw(composer="llm", seed=8), ("llm", 8, None)),
        (None, (None, None, None)),
    ],
    ids=["candidate", "draw", "operator"],
)
def test_a_rejection_is_joined_with_what_was_turned_away(origin, expected):
    rejection = Rejection(
        subject="k", stage="judge", reason="too_easy", detail="0.5 ms", value=0.5, limit=1.0
    )
    made = make_rejected(rejection, origin)
    assert (made.composer, made.seed, made.code) == expected
    assert made.model_dump(include=set(Rejection.model_fields)) == rejection.model_dump(
        exclude={"subject"}
    )
    assert made.id == rejection.subject
