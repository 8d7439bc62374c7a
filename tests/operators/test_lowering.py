"""Which calls Inductor leaves to PyTorch, against what it does with them in a compilation."""

import pytest
import torch
from torch.nn import functional

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script_method:DeprecationWarning")

IMAGES = torch.rand(2, 3, 8, 8)
MATRICES = torch.rand(2, 4, 4)
SPECTRA = torch.fft.rfft2(MATRICES)


def fallbacks(call):
    from fusewright.operators.lowering import Lowering

    lowering = Lowering()
    with torch.no_grad(), lowering:
        call()
    return lowering.fallbacks


@pytest.mark.parametrize(
    "call",
    [
        lambda: functional.gelu(IMAGES),
        lambda: functional.interpolate(IMAGES, scale_factor=2, mode="bilinear"),
        lambda: functional.group_norm(IMAGES, 3),
        lambda: torch.matmul(MATRICES, MATRICES),
        lambda: IMAGES.clone().tanh_(),
        lambda: IMAGES.double().flatten(1),
        # Inductor has these for CUDA, though not for a CPU.
        lambda: torch.cumsum(IMAGES, 1),
        lambda: torch.special.i0e(IMAGES),
    ],
    ids=["gelu", "interpolate", "group_norm", "matmul", "tanh_", "flatten", "cumsum", "i0e"],
)
def test_what_inductor_writes_itself_is_none(call):
    assert fallbacks(call) == set()


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: torch.cdist(MATRICES, MATRICES), "aten._cdist_forward.default"),
        (lambda: torch.matrix_exp(MATRICES), "aten.linalg_matrix_exp.default"),
        (lambda: functional.conv_tbc(MATRICES, MATRICES, torch.rand(4)), "aten.conv_tbc.default"),
        (lambda: torch.fft.irfft2(SPECTRA), "aten._fft_c2r.default"),
    ],
    ids=["by name", "decomposed", "unknown to it", "Python for shapes alone"],
)
def test_what_it_passes_on_is_one(call, name):
    assert fallbacks(call) == {name}


@pytest.mark.parametrize(("function", "left"), [(torch.matrix_exp, True), (torch.sin, False)])
def test_the_code_that_it_writes_agrees(function, left):
    from torch._inductor.utils import run_and_get_code

    torch._dynamo.reset()
    _, code = run_and_get_code(torch.compile(lambda x: function(x * 2) + 1), MATRICES)

    assert (f"torch.ops.aten.linalg_{function.__name__}" in code[0]) == left
