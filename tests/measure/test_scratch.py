import os
from pathlib import Path

import pytest

from fusewright.measure.scratch import CACHES, empty, enter, environment

from .children import in_child


def test_whatever_a_worker_writes_by_itself_goes_to_its_scratch_folder(tmp_path):
    changed = environment(tmp_path, "cpu", 0)

    assert set(changed) == {"HOME", "TMPDIR", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR"}
    assert all(value.startswith(str(tmp_path)) for value in changed.values())


@pytest.mark.parametrize(
    ("visible", "index", "seen"),
    [
        (None, 0, "0"),
        (None, 3, "3"),
        ("", 1, "1"),
        ("2,5", 0, "2"),
        ("2,5", 1, "5"),
        ("GPU-a1,MIG-b2", 1, "MIG-b2"),
        ("2,5", 2, ""),
    ],
)
def test_a_worker_sees_one_gpu_among_those_that_its_parent_sees(
    tmp_path, monkeypatch, visible, index, seen
):
    if visible is None:
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    else:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)

    assert environment(tmp_path, "cuda", index)["CUDA_VISIBLE_DEVICES"] == seen


def test_a_worker_works_in_its_scratch_folder_and_makes_temporary_files_there(tmp_path):
    def work():
        import tempfile

        enter(tmp_path, "cpu", 0)
        return [str(Path.cwd()), tempfile.gettempdir(), str(Path.home())]

    assert in_child(work) == f'returned: ["{tmp_path}", "{tmp_path}", "{tmp_path}"]'


def test_what_a_candidate_left_is_removed_and_the_caches_stay(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("")
    scratch = tmp_path / "scratch"
    for cache in CACHES:
        (scratch / cache / "deep").mkdir(parents=True)
        (scratch / cache / "deep" / "kernel").write_text("")
    (scratch / "problem.py").write_text("")
    (scratch / "folder" / "deep").mkdir(parents=True)
    (scratch / "folder" / "deep" / "file").write_text("")
    (scratch / "link").symlink_to(outside)
    (scratch / "dangling").symlink_to(tmp_path / "nowhere")
    os.mkfifo(scratch / "pipe")
    empty(scratch)

    assert {path.name for path in scratch.iterdir()} == set(CACHES)
    assert all((scratch / cache / "deep" / "kernel").exists() for cache in CACHES)
    assert (outside / "kept").exists()
