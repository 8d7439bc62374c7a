"""What a broken source costs: itself, and one clear line."""

import logging

import pytest

from fusewright.config import Plugin
from fusewright.operators import child
from fusewright.operators.mine import mine
from fusewright.records import Operator

TIMEOUT_S = 20.0

GOOD = """
from fusewright.testing.samples import make_operator

class source:
    name = "good"
    def operators(self):
        yield make_operator("x.cube", call="{0} ** 3")
"""
YIELDING = """
from fusewright.records import Operator
from fusewright.testing.samples import make_operator

class source:
    name = "broken"
    def operators(self):
        yield make_operator("x.fine", call="{0} ** 5")
        %s
"""

KINDS = {
    "raises when it is imported": (
        "raise RuntimeError('two\\nlines')",
        "fails: RuntimeError: two lines",
    ),
    "needs a missing package": (
        "import no_such_package",
        "No module named 'no_such_package'; install it, or take the plug-in out of the config",
    ),
    "raises when it is made": (
        "def source():\n    raise OSError('no disk')",
        "refuses its settings {}: OSError: no disk",
    ),
    "leaves": ("raise SystemExit(0)", "fails: SystemExit: 0"),
    "dies": ("import os\nos._exit(7)", "cannot be asked: the process left with exit code 7"),
    "writes where events are expected": (
        (
            "import os\nfor n in range(3, 30):\n    try:\n        os.write(n, b'[1]\\n')\n"
            "    except OSError:\n        pass"
        ),
        "cannot be asked: the process wrote what is no event",
    ),
    "is no source": ("source = 3", "refuses its settings {}: TypeError"),
    "has no name": ("source = object", "makes object, which has no `name`"),
    "has a strange name": (
        "class source:\n    name = 'two\\nlines'",
        "is called 'two\\nlines': expected printable text",
    ),
    "has no operators": (
        "class source:\n    name = 'x'\n    operators = 3",
        "has no method `operators`",
    ),
    "takes a built-in's name": (
        GOOD.replace("good", "functions"),
        "calls itself 'functions', which is the name of a built-in source",
    ),
    "takes an earlier one's name": (
        GOOD,
        "calls itself 'good', which is the name of an earlier one",
    ),
}
FAULTS = {
    "raises half way": (
        "raise KeyError('no more')",
        "1 of 2 turned away (invalid_operator 1); the first, 1: the source raises KeyError",
    ),
    "raises on a wrong record": (
        "yield make_operator('x', kind='klass')",
        (
            "field `kind` of Operator: Input should be 'function', 'module' or 'source_module' "
            "(given 'klass')"
        ),
    ),
    "yields what is no record": (
        "yield from [3, 'x', make_operator('x.odd', call='{0} ** 7')]",
        (
            "2 of 4 turned away (invalid_operator 2); the first, 1: the source yields int: "
            "expected fusewright.records.Operator"
        ),
    ),
    "yields an unchecked record": (
        "yield Operator.model_construct(name=3)",
        "the source yields a wrong record: ValidationError: field `name` of Operator",
    ),
    "yields a name of two lines": (
        "yield make_operator('x\\ny', call='{0} ** 7')",
        "is none that a person writes: expected one like `F.gelu`",
    ),
    "returns no list": ("return 3", None),
    "gives a foreign family": (
        "yield make_operator('x.odd', family='nonsense')",
        "family 'nonsense' is unknown: expected one of elementwise",
    ),
    "yields without end": (
        "for n in range(9, 10**9):\n            yield make_operator(str(n), call=f'{{0}} ** {n}')",
        "the source yields 6 operators and more: cut off there",
    ),
}


@pytest.fixture(scope="module")
def heard(tmp_path_factory):
    """What came of mining a good source and every broken one after it: verdicts, and warnings."""
    folder = tmp_path_factory.mktemp("plugins")
    texts = {kind: text for kind, (text, _) in KINDS.items()}
    # Names and computations that no other source yields.
    for number, (kind, (body, _)) in enumerate(FAULTS.items()):
        texts[kind] = (YIELDING % body).replace("broken", f"b{number}").replace("x.fine", kind)
        texts[kind] = texts[kind].replace("** 5", f"* {number + 2}").replace("** 7", f"/ {number}")
    sources = [_written(folder / "good.py", GOOD)]
    sources += [_written(folder / f"{kind}.py", text) for kind, text in texts.items()]
    lines = _Lines()
    logger = logging.getLogger("fusewright.stage")
    logger.addHandler(lines)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(child, "MOST_OPERATORS", 6)
            return dict(mine(sources, TIMEOUT_S)), lines.lines
    finally:
        logger.removeHandler(lines)


class _Lines(logging.Handler):
    def __init__(self):
        super().__init__(logging.WARNING)
        self.lines = []

    def emit(self, record):
        self.lines.append(record.getMessage())


def _written(path, text):
    path.write_text(text)
    return Plugin(name=str(path))


def test_all_that_is_whole_is_kept(heard):
    kept = [verdict.name for verdict in heard[0].values() if isinstance(verdict, Operator)]
    assert {"x.cube", *FAULTS} <= set(kept)


def test_each_broken_source_has_one_line(heard):
    _verdicts, lines = heard
    assert len(lines) == len(KINDS) + sum(complaint is not None for _, complaint in FAULTS.values())
    assert not any("\n" in line for line in lines)


@pytest.mark.parametrize("kind", KINDS)
def test_a_source_that_cannot_be_asked_is_a_rejection_and_a_line(heard, kind):
    verdicts, lines = heard
    (rejection,) = (v for subject, v in verdicts.items() if subject.endswith(f"{kind}.py:*"))

    assert rejection.reason == "invalid_source"
    assert KINDS[kind][1] in rejection.detail
    assert sum(rejection.detail in line for line in lines) == 1


@pytest.mark.parametrize("kind", [kind for kind, (_, complaint) in FAULTS.items() if complaint])
def test_a_source_that_yields_nonsense_is_told_of_by_name(heard, kind):
    _, lines = heard
    name = f"b{list(FAULTS).index(kind)}"
    (line,) = (line for line in lines if line.startswith(f"operator source '{name}': "))
    assert FAULTS[kind][1] in line


def test_a_source_that_never_answers_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(child, "PATIENCE_S", 15.0)
    good = _written(tmp_path / "good.py", GOOD)
    _, (subject, rejection) = mine([good, _written(tmp_path / "x.py", "while True: pass")], 5.0)

    assert subject.endswith("x.py:*")
    assert "cannot be asked: it took over 15 s" in rejection.detail
