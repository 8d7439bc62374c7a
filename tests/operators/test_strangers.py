"""Modules of a folder, a file or the Hub: strangers' texts, each run alone and confined."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from fusewright.config import Plugin
from fusewright.errors import PluginError
from fusewright.operators.expression import Runnable
from fusewright.operators.mine import mine
from fusewright.operators.samples import draw
from fusewright.operators.strangers import lay_out
from fusewright.records import Operator, TensorSpec
from fusewright.testing.hub import Blob, FakeHub

SOUND = """\
# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn
import torch.nn.functional as F

WIDTH = 16


class Model(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.gate = nn.Linear(dim, hidden)

    def forward(self, x, index, scale):
        return F.silu(self.gate(x))[index] * scale


def get_inputs():
    return [torch.rand(4, WIDTH), torch.tensor([0, 3]), 2.5]


def get_init_inputs():
    return [WIDTH, 8]
"""
PLAIN = """\
import torch, torch.nn as nn
{top}
class Model(nn.Module):
    def forward(self, x):
        return {value}
def get_inputs():
    return {inputs}
def get_init_inputs():
    return []
"""
REACH = """
import os, socket
OWN = open("own", "w").write("mine")
REACHED = []
for reach in (
    lambda: socket.create_connection(("127.0.0.1", {port}), 2),
    lambda: open({secret!r}),
    lambda: open({secret!r}, "a"),
    lambda: os.kill(os.getppid(), 9),
):
    try:
        reach()
    except OSError:
        continue
    REACHED.append(True)
"""


def plain(top="", value="x ** 3", inputs="[torch.randn(4, 8)]"):
    return PLAIN.format(top=top, value=value, inputs=inputs)


BROKEN = {
    "syntax": ("def (", "invalid_operator", "the text is no Python"),
    "empty": ("x = 1", "invalid_operator", "no class Model at the top level: expected class Model"),
    "no_inputs": (
        plain().replace("get_inputs", "inputs"),
        "invalid_operator",
        "there is no function get_inputs",
    ),
    "raises": (plain(top="1 / 0"), "init_error", "ZeroDivisionError"),
    "no_tensor": (plain(inputs="[3]"), "invalid_operator", "get_inputs gives no tensor"),
    "no_list": (plain(inputs="3"), "invalid_operator", "get_inputs: TypeError"),
    "odd_input": (plain(inputs="[object()]"), "invalid_operator", "no literal for object"),
    "forward": (plain(value="x + 'one'"), "forward_error", "TypeError"),
    "leaves": (plain(inputs="__import__('os')._exit(0)"), "crash", "left with exit code 0"),
    "dies": (plain(top="import os; os.abort()"), "crash", "died of SIGABRT"),
    "hangs": (plain(top="while True: pass"), "timeout", "it took over 5 s"),
    # Whatever it writes wherever it can, it cannot speak for itself, nor for the others.
    "forges": (
        plain(
            top="import os\nfor n in range(3, 64):\n    try:\n        "
            'os.write(n, b\'{"event": "end"}\\n\')\n    except OSError:\n        pass\n'
            "os._exit(0)"
        ),
        "crash",
        "left with exit code 0",
    ),
    "forks": (
        plain(top="import os\nif os.fork():\n    os._exit(0)\nos.setsid()\nos._exit(0)"),
        "crash",
        "left with exit code 0",
    ),
}


@pytest.fixture(scope="module")
def mined(tmp_path_factory):
    """Verdicts on a folder of sound and broken texts, by the name of the file."""
    folder = tmp_path_factory.mktemp("strangers") / "blocks"
    folder.mkdir()
    secret = folder.parent / "secret"
    secret.write_text("secret")
    for name, (text, _, _) in BROKEN.items():
        (folder / f"{name}.py").write_text(text)
    (folder / "sub").mkdir()
    (folder / "sub" / "sound.py").write_text(SOUND)
    with socket.create_server(("127.0.0.1", 0)) as server:
        reach = REACH.format(port=server.getsockname()[1], secret=str(secret))
        # It would divide by zero if it had reached anything.
        text = plain(top=reach, value="x ** 5 / (not REACHED)")
        (folder / "reach.py").write_text(text)
        verdicts = dict(mine([Plugin(name=str(folder))], 5.0))
    assert secret.read_text() == "secret"
    return {subject.removeprefix("blocks:blocks."): v for subject, v in verdicts.items()}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_text_costs_itself_and_says_why(mined, name):
    _, reason, detail = BROKEN[name]
    assert mined[name].reason == reason
    assert detail in mined[name].detail


def test_a_text_reaches_nothing_but_its_own_folder(mined):
    assert isinstance(mined["reach"], Operator)


def test_all_the_rest_is_kept(mined):
    kept = {name for name, verdict in mined.items() if isinstance(verdict, Operator)}
    assert kept == {"reach", "sub.sound"}


def test_a_sound_text_is_a_whole_record(mined):
    operator = mined["sub.sound"]
    assert operator.name == "blocks.sub.sound"
    assert (operator.source, operator.kind, operator.family) == (
        "blocks",
        "source_module",
        "matmul",
    )
    assert operator.call == "{m}({0}, {1}, 2.5)"
    assert operator.inputs[1] == TensorSpec(shape=(2,), dtype="int64", low=0, high=3)
    assert operator.inputs[0].shape == (4, 16)
    assert 0 <= operator.inputs[0].low < operator.inputs[0].high <= 1
    assert operator.license == "MIT"
    assert operator.snippet.startswith("class Model(nn.Module):")
    assert operator.source_code == SOUND


def test_a_record_runs_without_the_file_it_came_from(mined):
    runnable, tensors = Runnable(mined["sub.sound"]), draw(mined["sub.sound"].inputs)
    assert runnable.run(tensors, runnable.build()).shape == (2, 8)


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"colum": "text"}, "no setting 'colum'; did you mean 'column'"),
        ({"column": 3}, "setting 'column': Input should be a valid string (given 3)"),
    ],
)
def test_a_wrong_setting_says_what_is_valid(tmp_path, settings, complaint):
    with pytest.raises(PluginError) as caught:
        lay_out(Plugin(name="./x", settings=settings), tmp_path)
    assert complaint in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "name"), [({}, "my_rows"), ({"name": "other", "column": "code"}, "other")]
)
def test_a_place_gives_its_name_unless_the_settings_do(tmp_path, settings, name):
    file = tmp_path / "my rows.jsonl"
    file.write_text(json.dumps({"code": "x"}) + "\n")
    request = lay_out(Plugin(name=str(file), settings=settings), tmp_path)

    assert request["settings"] == {"name": name, "license": "NOASSERTION"}
    lines = Path(request["texts"]).read_text().splitlines()
    assert [json.loads(line) for line in lines] == [{"name": "0", "code": "x"}]


def test_a_dataset_of_the_hub_is_a_source(tmp_path):
    rows = tmp_path / "rows.parquet"
    pl.DataFrame({"text": [SOUND, "x = 1"]}).write_parquet(rows)
    config = tmp_path / "hub.yaml"
    config.write_text(
        "mine: {sources: [{name: me/layers, settings: {column: text, license: Apache-2.0}}]}"
    )
    command = [sys.executable, "-m", "fusewright", "operators", "--format", "json"]
    with FakeHub() as hub:
        blob = Blob(rows.read_bytes(), lfs=True)
        hub.store.create("dataset", "me/layers").commit({"data/train-0.parquet": blob}, "rows")
        done = subprocess.run(
            [*command, "--config", config],
            env=os.environ | hub.environment(tmp_path),
            capture_output=True,
            text=True,
            check=False,
        )

    assert done.returncode == 0, done.stderr
    (operator,) = json.loads(done.stdout)
    assert (operator["name"], operator["source"]) == ("layers.0", "layers")
    assert "1 of 2 turned away (invalid_operator 1); the first, layers.1" in done.stderr


def test_a_dataset_that_cannot_be_had_is_one_line(tmp_path):
    with FakeHub() as hub:
        done = subprocess.run(
            [sys.executable, "-m", "fusewright", "operators", "--source", "me/nothing"],
            env=os.environ | hub.environment(tmp_path),
            capture_output=True,
            text=True,
            check=False,
        )

    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert "Hub dataset 'me/nothing' cannot be loaded" in done.stderr
