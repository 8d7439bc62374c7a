import signal
import threading
import time

import pytest
import torch
from torch import nn
from torch.nn import functional


@pytest.fixture
def note():
    from fusewright.measure.surroundings import Surroundings

    return Surroundings


def fastest(*_):
    return 0.0


@pytest.mark.parametrize(
    ("space", "name"),
    [
        (time, "perf_counter"),
        (torch, "relu"),
        (functional, "gelu"),
        (nn.Module, "__call__"),
        (torch.Tensor, "clone"),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_a_name_that_is_bound_anew_is_seen(note, monkeypatch, space, name):
    surroundings = note()
    assert surroundings.changed() is None
    monkeypatch.setattr(space, name, fastest)

    assert surroundings.changed() == f"{space.__name__}.{name}"


def test_a_name_that_is_new_changes_nothing(note, monkeypatch):
    surroundings = note()
    monkeypatch.setattr(torch, "fastest", fastest, raising=False)

    assert surroundings.changed() is None


def test_environment_folder_and_signals_are_seen(note, monkeypatch, tmp_path):
    surroundings = note()
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", ":16:8")
    assert surroundings.changed() == "environment"
    monkeypatch.undo()

    monkeypatch.chdir(tmp_path)
    assert surroundings.changed() == "folder"
    monkeypatch.undo()

    before = signal.signal(signal.SIGUSR1, fastest)
    assert surroundings.changed() == "signals"
    signal.signal(signal.SIGUSR1, before)
    assert surroundings.changed() is None


def test_a_thread_that_runs_on_is_seen(note):
    surroundings = note()
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    changed = surroundings.changed()
    done.set()
    thread.join()

    assert changed == "threads"
    assert surroundings.changed() is None


@pytest.mark.parametrize("compiler", ["_dynamo", "_inductor"])
def test_settings_of_the_compiler_are_seen(note, compiler):
    surroundings = note()
    config = getattr(torch, compiler).config
    name = {"_dynamo": "recompile_limit", "_inductor": "max_autotune"}[compiler]
    with config.patch({name: 3 if name == "recompile_limit" else True}):
        assert surroundings.changed() == f"torch.{compiler}.config"

    assert surroundings.changed() is None
