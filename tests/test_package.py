import ast
import importlib.metadata
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import fusewright

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "fusewright"


def loaded_by(statement):
    """Modules that a fresh interpreter has after *statement*."""
    script = f"{statement}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_importing_the_package_is_cheap():
    assert not loaded_by("import fusewright") & {"torch", "prefect", "pydantic", "polars"}


def test_the_child_side_of_measuring_needs_the_standard_library_and_torch_alone():
    modules = loaded_by("import fusewright.measure.worker, fusewright.measure.supervisor")

    assert "torch" in modules
    assert not modules & {"pydantic", "polars", "prefect", "datasets", "rich"}


def test_the_supervisor_never_loads_torch():
    assert "torch" not in loaded_by("import fusewright.measure.supervisor")


def test_the_version_is_that_of_the_distribution():
    assert fusewright.__version__ == importlib.metadata.version("fusewright")


def test_help_loads_nothing_heavy():
    modules = loaded_by(
        "from fusewright.cli import app\napp(['--help'], result_action='return_none')"
    )

    assert not modules & {"torch", "prefect", "polars", "pydantic", "datasets"}


def test_only_the_worker_executes_text():
    runs = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("exec", "eval")
    }

    # An operator's own expressions are its plug-in's code, and run in a child of their own.
    assert runs == {"measure/worker.py", "operators/expression.py"}


@pytest.mark.parametrize("name", ["operators", "filters", "flows"])
def test_the_root_shows_what_the_package_holds(name):
    assert (ROOT / name).resolve() == SOURCE / name


def test_the_wheel_holds_every_file_of_the_package(tmp_path):
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation",
         "--disable-pip-version-check", "--wheel-dir", str(tmp_path), str(ROOT)],
        # The build backend looks for its own program on the path.
        env=os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        check=True,
    )  # fmt: skip
    (wheel,) = tmp_path.glob("*.whl")
    packed = {
        name.removeprefix("fusewright/")
        for name in zipfile.ZipFile(wheel).namelist()
        if name.startswith("fusewright/")
    }
    ours = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }

    assert ours <= packed
    assert {name for name in packed - ours if name and not name.endswith("/")} == set()
