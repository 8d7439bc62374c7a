import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from fusewright import records
from fusewright.records import Draw, Measurement, Problem, Record, Rejection
from fusewright.testing import make_measurement, make_problem


@given(code=st.text(), seed=st.integers(0, 2**62), ops=st.lists(st.text(), max_size=3))
def test_a_record_survives_json_with_the_same_key(code, seed, ops):
    problem = Problem(code=code, ops=tuple(ops), composer="graph", seed=seed)
    again = Problem.model_validate_json(problem.model_dump_json())

    assert again == problem
    assert again.key == problem.key


def test_equal_content_has_one_key_and_any_change_another():
    assert Draw(composer="graph", seed=1).key == Draw(composer="graph", seed=1).key
    assert Draw(composer="graph", seed=1).key != Draw(composer="graph", seed=2).key


def test_records_are_frozen_and_refuse_unknown_fields():
    with pytest.raises(ValidationError):
        make_problem().code = "other"
    with pytest.raises(ValidationError):
        Draw(composer="graph", seed=1, colour="red")


def test_every_field_has_its_sentence():
    for record in vars(records).values():
        if isinstance(record, type) and issubclass(record, Record) and record is not Record:
            for name, field in record.model_fields.items():
                assert field.description, f"{record.__name__}.{name}"


def test_ratios_follow_from_the_times():
    measurement = make_measurement(make_problem(), eager_ms=6.0, compiled_ms=3.0, sol_ms=1.5)

    assert (measurement.speedup, measurement.headroom) == (2.0, 2.0)
    assert measurement.ops == ("nn.Linear", "torch.relu", "torch.mean")


def test_a_rejection_points_at_the_record_it_is_of():
    problem = make_problem()

    assert Rejection.of(problem, "screen", "bad").subject == problem.key


def test_a_measurement_round_trips_through_plain_values():
    measurement = make_measurement(make_problem())

    assert Measurement(**measurement.model_dump(mode="json")) == measurement
