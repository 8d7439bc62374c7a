import sys
from pathlib import Path

import pytest

from fusewright.measure import reach


@pytest.fixture
def home(tmp_path, monkeypatch):
    home = (tmp_path / "users" / "ada").resolve()
    home.mkdir(parents=True)
    monkeypatch.setattr(reach, "home_folder", lambda: home)
    return home


@pytest.fixture
def searching(home, monkeypatch):
    """Folders opened when Python and the shell look in the given ones."""

    def search(*entries, path=""):
        monkeypatch.setattr(sys, "path", [str(entry) for entry in entries])
        monkeypatch.setenv("PATH", path)
        return set(reach.searched(home))

    return search


def test_an_environment_and_a_checkout_in_the_home_folder_are_open(home, searching):
    environment, checkout = home / ".venv" / "lib", home / "project" / "src"

    assert {environment, checkout} <= searching(environment, checkout)


@pytest.mark.parametrize("entry", ["", ".", "src", "/", "/home", "/var", "/home/grace"])
def test_a_search_path_opens_nothing_broad(searching, entry):
    assert searching(entry) == searching()


def test_the_home_folder_and_what_holds_it_stay_closed_by_any_name(home, searching, tmp_path):
    (tmp_path / "link").symlink_to(home)

    assert searching(home, home.parent, tmp_path / "link", home / "..") == searching()


def test_programs_are_found_where_the_shell_looks(home, searching):
    opened = searching(path=f"{home}/.cargo/bin::{home}")

    assert home / ".cargo" / "bin" in opened
    assert home not in opened


def test_a_home_folder_among_the_programs_is_left_out(tmp_path, home):
    (tmp_path / "users" / "shared").mkdir()
    (tmp_path / "bin").mkdir()

    assert set(reach.around(tmp_path, home)) == {tmp_path / "bin", tmp_path / "users" / "shared"}
    assert list(reach.around(home / "project", home)) == [home / "project"]
    assert list(reach.around(home, home)) == []


@pytest.mark.parametrize(
    ("user", "folder"), [("service", "/usr/sbin"), ("rootless", "/"), ("gone", "/nonexistent")]
)
def test_an_account_without_a_folder_of_its_own_has_none_to_guard(monkeypatch, user, folder):
    monkeypatch.setattr(reach.os, "getuid", lambda: 4242)
    monkeypatch.setattr(reach.pwd, "getpwuid", lambda _: type(user, (), {"pw_dir": folder}))

    assert reach.home_folder() is None


def test_the_package_itself_can_be_read(home):
    assert Path(reach.__file__).resolve().parents[1] in set(reach.readable())
