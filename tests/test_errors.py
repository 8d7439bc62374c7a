import pytest

from fusewright import errors
from fusewright.errors import FusewrightError, UsageError, unknown


def test_a_wrong_call_exits_with_2_and_failed_work_with_1():
    assert UsageError.exit_code == 2
    assert errors.LedgerError.exit_code == FusewrightError.exit_code == 1


def test_the_tree_in_the_docstring_is_the_tree():
    classes = [c for c in vars(errors).values() if isinstance(c, type)]

    assert {c.__name__ for c in classes if c.__name__ in errors.__doc__} == {
        c.__name__ for c in classes if issubclass(c, FusewrightError)
    }


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("grahp", "no composer 'grahp'; did you mean 'graph'? (valid: graph, llm)"),
        ("zzz", "no composer 'zzz' (valid: graph, llm)"),
    ],
)
def test_an_unknown_name_names_its_neighbour_and_the_choices(given, expected):
    assert unknown("composer", given, ["llm", "graph"]) == expected


def test_with_no_choices_it_says_none():
    assert unknown("source", "a", []).endswith("(valid: none)")
