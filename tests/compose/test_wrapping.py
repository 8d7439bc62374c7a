"""Breaking long lines."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusewright.compose.wrapping import WIDTH, split_arguments, wrapped

NAME = st.text("abcdef", min_size=1, max_size=12)
EXPRESSION = st.recursive(
    NAME.map(lambda name: f"v{name}"),
    lambda inner: st.tuples(NAME, st.lists(inner, min_size=1, max_size=5)).map(
        lambda call: f"f{call[0]}({', '.join(call[1])})"
    ),
    max_leaves=20,
)


@given(EXPRESSION)
def test_breaking_changes_no_meaning_and_leaves_no_line_too_long(expression):
    line = f"        self.x = {expression}"
    rows = wrapped(line)
    assert ast.dump(ast.parse("\n".join(rows).strip())) == ast.dump(ast.parse(line.strip()))
    assert all(len(row) <= WIDTH for row in rows)


@pytest.mark.parametrize(
    ("line", "rows"),
    [
        ("x = f(a)", ["x = f(a)"]),
        (
            f"x = {'f' * 50}(first_argument, second_argument, third)",
            [f"x = {'f' * 50}(", "    first_argument, second_argument, third", ")"],
        ),
        (
            f"    return [{'f' * 50}(first), {'g' * 50}(second)]",
            [
                "    return [",
                f"        {'f' * 50}(first),",
                f"        {'g' * 50}(second),",
                "    ]",
            ],
        ),
    ],
)
def test_lines_break_where_formatters_break_them(line, rows):
    assert wrapped(line) == rows


def test_arguments_part_at_outer_commas_alone():
    assert split_arguments("a, f(b, c), [d, e],") == ["a", "f(b, c)", "[d, e]"]
