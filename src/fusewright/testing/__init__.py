"""Public fakes and checks: what our own tests use, plug-in authors can use too.

from fusewright.testing import check_filter, make_problem

check_filter(MyFilter(limit=3), make_problem(code), reason="too_many_loops")
"""

from fusewright.testing.filters import check_filter
from fusewright.testing.meter import FakeMeter
from fusewright.testing.samples import RELU_MEAN, make_measurement, make_operator, make_problem

__all__ = [
    "RELU_MEAN",
    "FakeMeter",
    "check_filter",
    "make_measurement",
    "make_operator",
    "make_problem",
]
