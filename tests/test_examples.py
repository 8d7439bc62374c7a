"""The example package, built into a wheel, installed and used as a stranger would."""

import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
import yaml

from fusewright.ledger import Ledger

from .flows.runs import small_config

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "fusewright-gates"
GATES = ("gates.squared_relu", "gates.quick_gelu", "gates.reglu")


def pip(*words):
    subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *map(str, words)],
        # The build backend looks for its own program on the path.
        env=os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        check=True,
    )


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Variables of a machine on which the example's wheel is installed."""
    folder = tmp_path_factory.mktemp("example")
    offline = ("--no-deps", "--no-build-isolation")
    pip("wheel", *offline, "--wheel-dir", folder / "dist", EXAMPLE)
    (wheel,) = (folder / "dist").glob("*.whl")
    pip("install", *offline, "--no-index", "--target", folder / "site", wheel)
    path = [str(folder / "site"), os.environ.get("PYTHONPATH", "")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, path))}


@pytest.fixture(scope="module")
def fusewright(environment):
    """Run one command where the example is installed."""

    def running(*words, cwd=None):
        command = [sys.executable, "-m", "fusewright", *map(str, words)]
        done = subprocess.run(
            command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done

    return running


def test_its_own_tests_pass(environment):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]
    done = subprocess.run(
        command, cwd=EXAMPLE, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_its_operators_are_listed(fusewright):
    done = fusewright("operators", "--source", "gates", "--format", "json")
    listed = json.loads(done.stdout)

    assert [operator["name"] for operator in listed] == list(GATES)
    assert {operator["source"] for operator in listed} == {"gates"}
    assert "turned away" not in done.stderr


@pytest.fixture(scope="module")
def composed(fusewright, tmp_path_factory):
    """A run in which the graph composer drew with the gates beside a few of torch's operators."""
    folder = tmp_path_factory.mktemp("composed")
    config = small_config(folder).model_dump(mode="json")
    config["mine"]["sources"].append({"name": "gates"})
    (folder / "gates.yaml").write_text(yaml.safe_dump(config))
    words = ("--config", folder / "gates.yaml", "--composer", "graph", "--n", 60)
    done = fusewright("compose", *words, "--run", folder / "run")
    assert "rule" not in done.stderr
    fusewright("screen", "--run", folder / "run")
    return folder / "run"


@pytest.mark.parametrize(
    "expression",
    [r"torch\.square\(torch\.relu\(\w+\)\)", r"1\.702 \* \w+", r"torch\.relu\(\w+\) \* \w+"],
)
def test_the_graph_composer_draws_each_of_them_by_its_rule(composed, expression):
    codes = pl.read_parquet(composed / "compose" / "*.parquet")["code"].drop_nulls()
    assert codes.str.contains(expression).sum() > 0


def test_what_it_draws_has_the_operators_that_it_declares(composed):
    tally = Ledger(composed).tally("screen")
    assert tally.kept > 0
    assert tally.rejected["operators_mismatch"] == tally.rejected["crash"] == 0


def test_an_installed_package_changes_no_run_that_does_not_name_it(fusewright, composed, tmp_path):
    config = small_config(tmp_path).model_dump(mode="json")
    (tmp_path / "plain.yaml").write_text(yaml.safe_dump(config))
    words = ("--config", tmp_path / "plain.yaml", "--composer", "graph", "--n", 60)
    fusewright("compose", *words, "--run", tmp_path / "run")
    codes = pl.read_parquet(tmp_path / "run" / "compose" / "*.parquet")["code"].drop_nulls()

    assert codes.str.contains(r"1\.702").sum() == 0
