"""Modules of torch.nn: which are mined, how they are built, which are left out."""

import pytest


def test_every_module_passes_its_self_test(modules):
    assert [v for v in modules.values() if not hasattr(v, "signature")] == []


def test_ninety_different_modules_are_found(modules):
    assert len({operator.signature for operator in modules.values()}) >= 90


def test_every_family_is_known(modules):
    assert [name for name, operator in modules.items() if operator.family == "other"] == []


@pytest.mark.parametrize(
    ("name", "init", "call"),
    [
        ("nn.ReLU", "nn.ReLU()", "{m}({0})"),  # from ModuleInfo
        ("nn.Conv2d", "nn.Conv2d(4, 5, 3)", "{m}({0})"),
        ("nn.Linear", "nn.Linear(8, 5)", "{m}({0})"),  # written by hand
        ("nn.CosineSimilarity", "nn.CosineSimilarity()", "{m}({0}, {1})"),  # as it stands
        ("nn.TripletMarginLoss", "nn.TripletMarginLoss()", "{m}({0}, {1}, {2})"),
    ],
)
def test_a_module_is_built_and_called_as_a_person_does_it(modules, name, init, call):
    assert (modules[name].init, modules[name].call) == (init, call)


@pytest.mark.parametrize(
    "name",
    ["nn.Dropout", "nn.RReLU", "nn.LazyLinear", "nn.Identity", "nn.Sequential", "nn.Module"],
)
def test_random_lazy_and_empty_modules_are_left_out(modules, name):
    assert name not in modules


def test_no_module_depends_on_the_mode(modules):
    assert [name for name, o in modules.items() if "mode_dependent" in o.flags] == []


@pytest.mark.parametrize(("name", "function"), [("nn.ReLU", "F.relu"), ("nn.GELU", "F.gelu")])
def test_a_module_is_no_alias_of_its_function(modules, functions, name, function):
    assert modules[name].signature != functions[function].signature
    assert modules[name].domain == functions[function].domain
