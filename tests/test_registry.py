import importlib.metadata

import pytest

from fusewright import registry
from fusewright.assemble import plugin
from fusewright.config import Plugin
from fusewright.errors import PluginError


def entry(name, value, group="fusewright.filters"):
    return importlib.metadata.EntryPoint(name=name, value=value, group=group)


@pytest.fixture
def installed(monkeypatch):
    """Put entry points into the environment's place."""

    def install(*entries):
        monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: entries)

    return install


def test_every_built_in_loads_and_has_its_name():
    for group in ("operators", "composers", "filters"):
        for name, found in registry.entries(group).items():
            assert found.load().name == name or found.load()().name == name


def test_an_unknown_name_lists_what_is_installed():
    with pytest.raises(PluginError, match=r"no composer plug-in 'grph'; did you mean 'graph'\?"):
        registry.build("composers", "grph")


def test_a_plug_in_that_cannot_be_imported_is_one_line(installed):
    installed(entry("mine", "no_such_package.mod:Thing"))

    with pytest.raises(PluginError) as caught:
        registry.build("filters", "mine")
    assert "'mine' (unknown package, no_such_package.mod:Thing) cannot be loaded" in str(
        caught.value
    )
    assert "No module named 'no_such_package'; install it, or take" in str(caught.value)


class Dist:
    name = "fusewright"


def ours(name, value, group="fusewright.filters"):
    found = entry(name, value, group)
    vars(found)["dist"] = Dist
    return found


def test_two_packages_with_one_name_are_both_named_and_cost_no_other(installed):
    installed(entry("mine", "a:A"), entry("mine", "b:B"), entry("other", "c:C"))

    assert list(registry.entries("filters")) == ["other"]
    with pytest.raises(PluginError, match=r"'mine' is claimed by .* and by"):
        registry.build("filters", "mine")


@pytest.mark.parametrize("first", [True, False])
def test_a_package_that_claims_a_name_of_ours_is_left_out(installed, first):
    claims = [entry("contract", "a:A"), ours("contract", "b:B")]
    installed(*(claims if first else reversed(claims)))

    assert registry.entries("filters")["contract"].value == "b:B"
    assert registry.built_in("filters") == {"contract"}
    (line,) = registry.disputes("filters").values()
    assert "'contract' of unknown package is left out: the name is a built-in's" in line


def test_names_that_nobody_disputes_are_no_dispute(installed):
    installed(entry("mine", "a:A"), entry("mine", "a:A"), ours("contract", "b:B"))

    assert registry.disputes("filters") == {}
    assert set(registry.entries("filters")) == {"mine", "contract"}


def test_wrong_settings_are_refused_with_what_was_given():
    with pytest.raises(PluginError, match=r"refuses its settings \{'no_such': 1\}"):
        registry.build("composers", "graph", {"no_such": 1})


def test_a_plug_in_without_a_name_is_refused(installed):
    installed(entry("nameless", "builtins:object"))

    with pytest.raises(PluginError, match="makes object, which has no `name`"):
        registry.build("filters", "nameless")


def test_a_plug_in_without_its_method_is_refused():
    with pytest.raises(PluginError, match="has no method `judge`"):
        registry.require(registry.build("composers", "graph"), "judge")


FILE = """
from dataclasses import dataclass

@dataclass(frozen=True)
class filter:
    limit: int = 3
    name: str = "from_file"
"""


def test_a_python_file_is_a_plug_in(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(FILE)
    made = plugin("filters", Plugin(name=str(path), settings={"limit": 4}))

    assert (made.name, made.limit) == ("from_file", 4)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (None, "does not exist"),
        ("raise OSError('no')", "fails: OSError: no"),
        ("x = 1", "defines no 'filter'"),
        ("def (", "fails: SyntaxError"),
        ("filter = dict", "makes dict, which has no `name`"),
        ("class filter:\n    name = 'a:b'", "expected printable text without a colon"),
    ],
)
def test_a_broken_python_file_is_one_line(tmp_path, text, complaint):
    path = tmp_path / "broken.py"
    if text is not None:
        path.write_text(text)

    with pytest.raises(PluginError, match=complaint):
        plugin("filters", Plugin(name=str(path)))
