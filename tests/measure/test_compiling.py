from types import SimpleNamespace

import pytest

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script_method:DeprecationWarning")


@pytest.fixture
def asked(monkeypatch):
    """What a kernel is asked for when it is compiled, without the lease and with it."""
    # Inductor warns when it is imported.
    from torch._inductor.runtime.hints import HeuristicType
    from torch._inductor.runtime.triton_heuristics import CachingAutotuner

    from fusewright.measure.compiling import load_under_lease

    calls, lease = [], SimpleNamespace(held=False)

    def precompile(kernel, *, warm_cache_only=False, **_):
        calls.append("compile" if warm_cache_only else "compile and load")

    monkeypatch.setattr(CachingAutotuner, "precompile", precompile)
    load_under_lease(lease)

    def ask(kind, *, persistent=False):
        kernel = CachingAutotuner.__new__(CachingAutotuner)
        kernel.heuristic_type = HeuristicType[kind]
        kernel.inductor_meta = {"persistent_reduction": persistent}
        for lease.held in (False, True):
            kernel.precompile(static_triton_bundle_key=None)
        return calls

    return ask


@pytest.mark.parametrize("kind", ["POINTWISE", "PERSISTENT_REDUCTION"])
def test_a_kernel_is_loaded_once_the_lease_is_held(asked, kind):
    assert asked(kind) == ["compile", "compile and load"]


def test_a_persistent_reduction_by_its_other_name_is_no_exception(asked):
    assert asked("REDUCTION", persistent=True) == ["compile", "compile and load"]


def test_a_reduction_that_may_be_compiled_again_is_loaded_at_once(asked):
    assert asked("REDUCTION") == ["compile and load", "compile and load"]
