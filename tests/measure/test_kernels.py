import operator

import torch

from fusewright.measure.kernels import COMPILED, compile_kernels, load_kernels

CPU = torch.device("cpu")


def test_everything_that_is_loaded_exists():
    with torch.no_grad():
        load_kernels(CPU)


def test_everything_that_is_compiled_is_a_function_of_one_tensor():
    compile_kernels(CPU)

    for name in COMPILED.split():
        assert operator.attrgetter(name)(torch)(torch.rand(4)).shape == (4,)
