"""The child side: events of one source, and a life that ends with its parent's."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from fusewright.operators.probe import answer

SOURCE = """
from fusewright.testing.samples import make_operator

class Source:
    def __init__(self, names=("F.gelu",), error=None):
        self.name, self.names, self.error = "mine", names, error

    def operators(self):
        for name in self.names:
            yield make_operator(name, source="another") if name else None
        if self.error:
            raise RuntimeError(self.error)

source = Source
"""


@pytest.fixture
def ask(tmp_path):
    path = tmp_path / "plugin.py"
    path.write_text(SOURCE)

    def asking(skip=0, name=str(path), **settings):
        events = []
        request = {"name": name, "settings": settings, "skip": skip}
        answer(request, lambda event, **fields: events.append((event, fields)))
        return events

    return asking


def test_each_operator_is_announced_before_its_verdict(ask):
    events = ask(names=["F.gelu", "F.silu"])
    assert [event for event, _ in events] == [
        "ready",
        "begin",
        "verdict",
        "begin",
        "verdict",
        "end",
    ]
    assert [fields["name"] for event, fields in events if event == "begin"] == ["F.gelu", "F.silu"]


def test_an_operator_belongs_to_the_source_that_yields_it(ask):
    assert ask()[2][1]["kept"]["source"] == "mine"


def test_skipped_operators_are_not_tested(ask):
    events = ask(skip=1, names=["F.gelu", "F.silu"])
    assert [fields["index"] for event, fields in events if event == "begin"] == [1]


def test_what_is_no_operator_is_strange_and_passed_over(ask):
    events = ask(names=["", "F.silu"])
    assert events[1] == (
        "strange",
        {"index": 0, "detail": "the source yields NoneType: expected fusewright.records.Operator"},
    )
    assert events[-1] == ("end", {})


def test_a_source_that_raises_ends_with_one_line(ask):
    assert ask(error="two\nlines")[-1] == (
        "failed",
        {"detail": "the source raises RuntimeError: two lines"},
    )


@pytest.mark.parametrize(
    ("request_", "detail"),
    [
        ({"name": "functoins"}, "did you mean 'functions'?"),
        ({"name": "nowhere.py"}, "nowhere.py does not exist"),
        ({"colour": 3}, "refuses its settings"),
    ],
)
def test_a_source_that_cannot_be_built_is_refused(ask, request_, detail):
    ((event, fields),) = ask(**request_)
    assert event == "refused"
    assert detail in fields["detail"]


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("x = 1", "defines no 'source'"),
        ("class source:\n    name = 'x'", "has no method `operators`"),
        ("class source:\n    operators = list", "has no `name`"),
    ],
)
def test_a_file_that_defines_no_source_is_refused(ask, tmp_path, text, detail):
    path = tmp_path / "other.py"
    path.write_text(text)
    ((event, fields),) = ask(name=str(path))
    assert event == "refused"
    assert detail in fields["detail"]


def test_a_child_dies_with_its_parent(tmp_path):
    path = tmp_path / "slow.py"
    path.write_text(
        "import time\nfrom fusewright.testing.samples import make_operator\n"
        "class Source:\n    name = 'slow'\n    def operators(self):\n"
        "        print('noise')\n        yield make_operator()\n        time.sleep(600)\n"
        "source = Source\n"
    )
    request = json.dumps({"name": str(path), "settings": {}, "skip": 0})
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", "-m", "fusewright.operators.probe"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=Path(__file__).parent,
    ) as child:
        child.stdin.write(request + "\n")
        child.stdin.flush()
        events = [json.loads(child.stdout.readline())["event"] for _ in range(3)]
        child.stdin.close()
        assert child.wait(60) == 1
    assert events == ["ready", "begin", "verdict"]
