"""Mining: every source in processes of its own, and one name for each computation."""

import os
from collections import Counter

import pytest

from fusewright.config import MineSettings, Plugin
from fusewright.errors import PluginError
from fusewright.operators.mine import mine, settle
from fusewright.operators.verdict import REASONS, turn_away
from fusewright.records import Operator, Rejection
from fusewright.testing.samples import make_operator

TIMEOUT_S = 3.0

HOSTILE = """
import os
from fusewright.testing.samples import make_operator

class Source:
    name = "hostile"

    def operators(self):
        print("{not an event}")
        os.system("echo nor this")
        yield make_operator("F.gelu")
        yield make_operator("x.leave", call="torch.os._exit(3) or {0}")
        yield make_operator("x.crash", call="torch.ctypes.string_at(0) or {0}")
        yield make_operator("x.hang", call="torch.sys.modules['time'].sleep(600) or {0}")
        yield make_operator("x.raise", call="{0} + 'one'")
        yield make_operator("x.build", kind="module", init="nn.Linear()", call="{m}({0})")
        yield make_operator("x.nan", call="{0} / 0 * 0")
        yield make_operator("x.whole", call="{0}.long()")
        yield make_operator("F.gelu")
        yield make_operator("F.gelu", call="F.silu({0})")
        yield make_operator("x.twin", call="{0} * torch.special.ndtr({0})")
        yield make_operator("x.secret", call="{0} / ('API_KEY' not in torch.os.environ)")
        yield "F.gelu"
        yield make_operator("F.silu")
        raise KeyError("no more")

source = Source
"""

DYING = """
import os
from fusewright.testing.samples import make_operator

class Source:
    name = "dying"

    def operators(self):
        yield make_operator("torch.tanh")
        yield make_operator("y.silu", call="F.silu({0})")
        os.abort()

source = Source
"""


@pytest.fixture(scope="module")
def mined(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plugins")
    sources = []
    for name, text in (("hostile", HOSTILE), ("dying", DYING)):
        (folder / f"{name}.py").write_text(text)
        sources.append(Plugin(name=str(folder / f"{name}.py")))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, "API_KEY", "secret")
        return dict(mine(sources, TIMEOUT_S))


@pytest.mark.parametrize(
    ("subject", "reason", "detail"),
    [
        ("hostile:x.leave", "crash", "the process left with exit code 3"),
        ("hostile:x.crash", "crash", "the process died of SIGSEGV"),
        ("hostile:x.hang", "timeout", "it took over 3 s"),
        ("hostile:x.raise", "forward_error", "TypeError"),
        ("hostile:x.build", "init_error", "TypeError"),
        ("hostile:x.nan", "nonfinite_output", "6 of 6 elements are not finite"),
        ("hostile:x.whole", "invalid_operator", "returns torch.int64"),
        ("hostile:F.gelu#2", "duplicate_name", "F.gelu of hostile"),
        ("hostile:F.gelu#3", "duplicate_name", "F.gelu of hostile"),
        ("hostile:x.twin", "alias", "computes what F.gelu of hostile does"),
        ("hostile:12", "invalid_operator", "the source yields str"),
        ("hostile:14", "invalid_operator", "the source raises KeyError: 'no more'"),
        ("dying:y.silu", "alias", "computes what F.silu of hostile does"),
        ("dying:2", "invalid_operator", "the process died of SIGABRT"),
    ],
)
def test_a_fault_costs_one_operator_and_says_why(mined, subject, reason, detail):
    assert mined[subject].subject == subject
    assert mined[subject].reason == reason
    assert detail in mined[subject].detail


def test_all_the_rest_is_kept_in_order(mined):
    kept = [subject for subject, verdict in mined.items() if isinstance(verdict, Operator)]
    assert kept == ["hostile:F.gelu", "hostile:x.secret", "hostile:F.silu", "dying:torch.tanh"]


def test_a_keeper_carries_the_names_of_its_aliases(mined):
    assert mined["hostile:F.gelu"].aliases == ("x.twin",)
    assert mined["hostile:F.silu"].aliases == ("y.silu",)


def test_every_reason_of_an_operator_occurs(mined):
    found = {verdict.reason for verdict in mined.values() if isinstance(verdict, Rejection)}
    assert found == set(REASONS) - {"invalid_source"}


def test_a_secret_of_the_environment_does_not_reach_a_source(mined):
    assert isinstance(mined["hostile:x.secret"], Operator)  # it would have divided by zero


def test_two_mines_of_everything_are_equal_and_large(functions, modules, vendored_classes):
    mined = dict(mine(MineSettings().sources, MineSettings().timeout_s))
    here = dict(settle([*functions.values(), *modules.values(), *vendored_classes.values()]))
    assert mined == here
    kept = Counter(v.source for v in mined.values() if isinstance(v, Operator))
    assert kept["functions"] + kept["modules"] >= 400
    assert kept["transformers"] >= 400
    assert {v.reason for v in mined.values() if isinstance(v, Rejection)} == {"alias"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import os\nos._exit(7)", "cannot be asked: the process left with exit code 7"),
        ("1 / 0", "fails: ZeroDivisionError: division by zero"),
    ],
)
def test_a_source_that_cannot_be_built_is_one_clear_line(tmp_path, text, message):
    path = tmp_path / "plugin.py"
    path.write_text(text)
    with pytest.raises(PluginError, match=message) as caught:
        list(mine([Plugin(name=str(path))], TIMEOUT_S))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("sources", [["nope", "functions"], ["functions", "nowhere.py"]])
def test_a_source_that_is_not_there_is_a_wrong_call(sources):
    with pytest.raises(PluginError, match=r"no operator plug-in .nope.|does not exist"):
        list(mine([Plugin(name=name) for name in sources], TIMEOUT_S))


def _tested(name, signature, source="functions", **fields):
    return make_operator(name, signature=signature, source=source, **fields)


def test_an_earlier_source_keeps_the_computation():
    one, other = _tested("F.relu", "s"), _tested("my.relu", "s", "mine")
    (_, kept), (subject, rejected) = settle([one, other])
    assert kept == one.model_copy(update={"aliases": ("my.relu",)})
    assert (subject, rejected.reason) == ("mine:my.relu", "alias")


def test_a_name_that_is_an_alias_stands_for_its_keeper():
    verdicts = [
        _tested("F.relu", "s"),
        _tested("my.relu", "s", "mine"),
        _tested("my.relu", "t", "b"),
    ]
    assert [getattr(v, "reason", "kept") for _, v in settle(verdicts)] == [
        "kept",
        "alias",
        "duplicate_name",
    ]


def test_a_name_of_a_built_in_is_its_own_whoever_comes_first():
    gelu, own = _tested("F.gelu", "s", "mine"), _tested("mine.own", "u", "mine")
    (_, shadow), (_, kept), (_, built_in) = settle([gelu, own, _tested("F.gelu", "t")])
    assert shadow.reason == "duplicate_name"
    assert shadow.detail == "the name stands for F.gelu of functions: choose another"
    assert (kept, built_in) == (own, _tested("F.gelu", "t"))


def test_a_name_that_no_built_in_yields_is_free_to_take():
    operator = _tested("F.gelu", "s", "mine")
    assert settle([operator]) == [("mine:F.gelu", operator)]


def test_the_name_of_a_rejected_operator_is_free():
    verdicts = [turn_away("functions", "F.relu", "crash", ""), _tested("F.relu", "s", "mine")]
    assert isinstance(settle(verdicts)[1][1], Operator)


def test_an_alias_that_the_source_states_is_kept():
    verdicts = [_tested("a", "s", aliases=("z",)), _tested("b", "s")]
    assert settle(verdicts)[0][1].aliases == ("z", "b")
