import pytest

from fusewright.filters.banned import Banned
from fusewright.filters.benchmark import NearBenchmark
from fusewright.filters.duplicate import ExactDuplicate, NearDuplicate
from fusewright.filters.label import Label
from fusewright.filters.unused import Unused
from fusewright.testing import check_filter, make_problem

HOSTILE = ["def f(:", "-" * 90_000 + "1", "a" + ".b" * 50_000, "a\0b"]


@pytest.mark.parametrize(
    "judge", [Banned(), Unused(), Label(), ExactDuplicate(), NearDuplicate(), NearBenchmark()]
)
@pytest.mark.parametrize("code", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_is_a_syntax_error_whichever_filter_meets_it(judge, code):
    check_filter(judge, make_problem(code, ops=("F.gelu",)), reason="syntax_error")
