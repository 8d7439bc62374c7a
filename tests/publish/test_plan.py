import hashlib
from pathlib import Path

import pytest

from fusewright.publish.plan import File, Receipt, Remote, compare, in_words, read_folder


def write(folder: Path, **files: str) -> Path:
    for name, content in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return folder


def remote(*names: tuple[str, str]) -> Remote:
    return Remote(head="a" * 40, private=False, names=dict(names), tags={})


ONE = File("one", 3, sha256="s1", blob="b1")
TWO = File("two", 4, sha256="s2", blob="b2")


def test_a_folder_is_read_sorted_by_path_and_without_hidden_files(tmp_path):
    write(tmp_path, b="1", a__c="2")
    (tmp_path / ".cache").mkdir()
    (tmp_path / ".cache" / "x").write_text("3")
    (tmp_path / ".DS_Store").write_text("4")
    assert [file.path for file in read_folder(tmp_path)] == ["a/c", "b"]


def test_a_file_knows_both_names_of_its_bytes(tmp_path):
    (file,) = read_folder(write(tmp_path, a="hello\n"))
    # `printf 'hello\n' | git hash-object --stdin`
    assert file.blob == "ce013625030ba8dba906f756967f9e9ca394464a"
    assert file.sha256 == hashlib.sha256(b"hello\n").hexdigest()
    assert file.size_bytes == 6


@pytest.mark.parametrize(
    ("held", "added", "changed", "unchanged"),
    [
        (None, ["one"], [], 0),
        ("s1", [], [], 1),
        ("b1", [], [], 1),
        ("other", [], ["one"], 0),
    ],
)
def test_a_file_is_added_changed_or_left(held, added, changed, unchanged):
    there = remote(("one", held)) if held else remote()
    plan = compare("me/x", None, [ONE], there)
    assert [file.path for file in plan.added] == added
    assert [file.path for file in plan.changed] == changed
    assert plan.unchanged == unchanged


def test_stale_files_go_and_the_hubs_own_stay():
    there = remote(("one", "s1"), ("old", "x"), (".gitattributes", "y"))
    plan = compare("me/x", None, [ONE], there)
    assert plan.deleted == ("old",)
    assert not plan.empty


def test_the_same_files_make_an_empty_plan():
    plan = compare("me/x", None, [ONE, TWO], remote(("one", "s1"), ("two", "b2")))
    assert plan.empty
    assert plan.size_bytes == 0


def test_a_dataset_that_is_not_there_yet_gets_everything():
    plan = compare("me/x", "v1", [ONE, TWO], None)
    assert (plan.head, plan.sends, plan.size_bytes) == (None, (ONE, TWO), 7)


def test_a_dry_run_lists_what_it_would_send():
    plan = compare("me/x", "v1", [ONE, TWO], remote(("two", "z"), ("old", "x")))
    assert str(Receipt(plan, None)).splitlines() == [
        "me/x, on aaaaaaa",
        "  add     one  3 B",
        "  change  two  4 B",
        "  delete  old",
        "  tag     v1",
        "1 added, 1 changed, 1 deleted, 0 unchanged, 7 B to send",
        "dry run: nothing was sent",
    ]


@pytest.mark.parametrize(
    ("size_bytes", "words"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (2_500_000, "2.5 MB"),
        (7 * 10**12, "7000.0 GB"),
    ],
)
def test_sizes_are_written_with_the_unit_that_fits(size_bytes, words):
    assert in_words(size_bytes) == words
