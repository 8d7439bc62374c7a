"""Timing by KernelBench's own code, with a stand-in for that code."""

import importlib.util
import sys

import pytest

import kernelbench_own

TIMING = """
from kernelbench.eval import trials
def measure_ref_program_time(ref_arch_name, ref_arch_src, num_trials, use_torch_compile):
    return None if use_torch_compile and "slow" in ref_arch_src else trials(num_trials)
"""
EVAL = """
import requests
from pydantic import BaseModel
class Result(BaseModel):
    pass
def trials(count):
    return {"mean": 1.0, "num_trials": count}
"""


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    folder = tmp_path / "src" / "kernelbench"
    folder.mkdir(parents=True)
    files = {"__init__": "raise ImportError", "timing": TIMING, "eval": EVAL}
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    find = importlib.util.find_spec
    missing = ("requests", "pydantic")
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *a: None if name in missing else find(name, *a)
    )
    for name in ("kernelbench", "kernelbench.timing", "kernelbench.eval", *missing):
        monkeypatch.setitem(sys.modules, name, None)
        monkeypatch.delitem(sys.modules, name)
    return tmp_path


def test_their_code_is_loaded_without_its_package_and_what_that_needs(checkout):
    timer = kernelbench_own.load_timer(checkout)
    problems = [{"key": "a", "code": "fast"}, {"key": "b", "code": "slow"}]
    first, second = kernelbench_own.decide(problems, timer)
    assert first["measurement"]["compiled"]["num_trials"] == kernelbench_own.TRIALS
    assert second["rejection"]["reason"] == "failed"
    assert first["spent_s"]["lease"] >= 0
    assert sys.modules["pydantic"].BaseModel is object


def test_a_folder_that_is_no_checkout_is_refused(tmp_path):
    with pytest.raises(SystemExit, match="give a checkout of it"):
        kernelbench_own.load_timer(tmp_path)
