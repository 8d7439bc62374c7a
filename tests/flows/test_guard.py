"""A server that does not start, or does not answer, is one clear line."""

import os
import subprocess
import sys

import pytest
import yaml

from .runs import small_config


def run(folder, **environment):
    config = small_config(folder / "plugins").model_dump(mode="json")
    (folder / "small.yaml").write_text(yaml.safe_dump(config))
    return subprocess.run(
        [sys.executable, "-m", "fusewright", "run", "--config", str(folder / "small.yaml"),
         "--run", str(folder / "run")],
        env=os.environ | environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    "environment",
    [
        {"PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "1"},
        {"PREFECT_API_URL": "http://127.0.0.1:1/api"},
    ],
)
def test_a_server_that_cannot_be_had_is_one_line(tmp_path, environment):
    ended = run(tmp_path, **environment)
    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr
    (line,) = ended.stderr.strip().splitlines()
    (name,) = environment
    assert line.startswith("fusewright: ")
    assert name in line
    assert "prefect server start" in line
