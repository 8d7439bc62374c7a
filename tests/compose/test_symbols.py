"""Names of sizes."""

import pytest

from fusewright.compose.symbols import Symbols

from .problems import canvas, rule


def named(*names):
    """Names of the sizes of a chain over rows, each projection to a width of its own."""
    drawing = canvas()
    x = drawing.add_input("rows", (drawing.dice.name("features", 64),))
    for name in names:
        made = None
        while made is None or (name == "nn.Linear" and is_repeated(drawing, x, made)):
            drawing.back((1, max(x + 1, 0)))
            made = drawing.place(rule(name), [x])
        x = made
    return Symbols.of(drawing.graph)


def is_repeated(drawing, x, made):
    return drawing.value(made).feature.text == drawing.value(x).feature.text


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["F.gelu"], ["features"]),
        (["nn.Linear"], ["in_features", "out_features"]),
        (["nn.Linear", "F.gelu", "nn.Linear"],
         ["in_features", "hidden_features", "out_features"]),
    ],
)  # fmt: skip
def test_features_are_named_by_where_they_stand(names, expected):
    assert list(named(*names).values) == expected


def test_names_of_the_draw_give_way_to_final_ones():
    symbols = Symbols({"features0": "in_features"}, {"in_features": "64"})
    assert symbols.rewrite("f(features0, 2 * features0)") == "f(in_features, 2 * in_features)"


@pytest.mark.parametrize(
    ("build", "short", "name"),
    [
        ("nn.Linear(a * (h // 2) * (w // 2), b)", "nn.Linear(flat_size, b)", "flat_size"),
        ("nn.Conv2d(a + b + b, b, kernel_size=3)", "nn.Conv2d(joined_size, b, kernel_size=3)",
         "joined_size"),
        ("nn.Linear(a // 2, b)", "nn.Linear(a // 2, b)", None),
        ("nn.Parameter(torch.randn(a, b) * (a * 9) ** -0.5)",
         "nn.Parameter(torch.randn(a, b) * (a * 9) ** -0.5)", None),
    ],
)  # fmt: skip
def test_a_long_expression_in_a_constructor_gets_a_name(build, short, name):
    symbols = Symbols({}, {"a": "8", "b": "16", "h": "4", "w": "4"})
    assert symbols.shorten(build) == short
    assert (name in symbols.values) is bool(name)


def test_the_same_expression_has_one_name():
    symbols = Symbols({}, {"a": "8", "b": "16"})
    assert symbols.shorten("f(a * b * 2)") == symbols.shorten("f(a * b * 2)")


def test_constants_come_before_what_is_made_of_them():
    symbols = Symbols({}, {"a": "8", "b": "16"})
    symbols.shorten("f(a * b * 2)")
    assert symbols.constants(["flat_size"]) == ["a = 8", "b = 16", "flat_size = a * b * 2"]
