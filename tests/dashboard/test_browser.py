"""The page in a real browser, where one is installed: charts are drawn, and nothing goes wrong."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from fusewright.dashboard import build
from fusewright.ledger import Ledger

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-logging=stderr",
    "--virtual-time-budget=5000",
    "--dump-dom",
)


@pytest.fixture(scope="module")
def browser() -> str:
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(f"no browser to draw the page in: none of {', '.join(NAMES)} is installed")
    return found


def test_every_chart_is_drawn_and_nothing_is_logged(browser, make_run, tmp_path):
    dom, log = show(browser, tmp_path, build(make_run(candidates=40), "run"))
    assert len(re.findall('data-state="drawn"', dom)) == 6
    assert len(re.findall(r'<svg [^>]*class="marks"', dom)) == 6
    assert "CONSOLE" not in log


def test_an_empty_run_logs_nothing(browser, tmp_path):
    dom, log = show(browser, tmp_path, build(Ledger(tmp_path / "run"), "run"))
    assert "No candidate has been composed yet." in dom
    assert "CONSOLE" not in log


def show(browser: str, folder: Path, html: str) -> tuple[str, str]:
    """Open *html* as a file and return its document after the scripts ran, and the log."""
    page = folder / "page.html"
    page.write_text(html, encoding="utf-8")
    profile = f"--user-data-dir={folder / 'profile'}"
    command = [browser, *FLAGS, profile, page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout, done.stderr
