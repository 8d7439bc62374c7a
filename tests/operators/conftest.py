"""What the built-in sources yield, with the self-test of each, once for all tests."""

import warnings

import pytest
import torch

from fusewright.operators.functions import Functions
from fusewright.operators.modules import Modules
from fusewright.operators.selftest import self_test
from fusewright.operators.transformers.source import Transformers
from fusewright.protocols import OperatorSource
from fusewright.records import Operator, Rejection

Tested = dict[str, Operator | Rejection]


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """Tiny tensors on two busy cores: a second thread only waits for the first."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def _test_all(source: OperatorSource) -> Tested:
    with warnings.catch_warnings(action="ignore"):
        return {operator.name: self_test(operator) for operator in source.operators()}


@pytest.fixture(scope="session")
def functions() -> Tested:
    return _test_all(Functions())


@pytest.fixture(scope="session")
def modules() -> Tested:
    return _test_all(Modules())


@pytest.fixture(scope="session")
def vendored_classes() -> Tested:
    return _test_all(Transformers())
