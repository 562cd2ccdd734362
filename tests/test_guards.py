"""What surrounds every test: a clean environment, no network, no silent skip in CI."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

LACKING = """
import pytest
{}
def test_lacking():
    pytest.skip("lacking")
"""
FREE = """
import os, socket, pytest
def test_environment():
    left = {name for name in os.environ if name.startswith(("GITHUB_TOKEN", "GQLNB_"))}
    assert left <= {"GQLNB_REQUIRE", "GQLNB_SERVERS"}
    assert "gqlnb-tests-" in os.environ["IPYTHONDIR"]
    assert "gqlnb-tests-" in os.environ["JUPYTER_CONFIG_DIR"]
def test_own_machine():
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()
"""
REACHING = """
import socket
def test_reaching():
    try:
        socket.create_connection(("example.com", 80), timeout=1)
    except OSError:
        pass  # what hides a failure from its caller is found all the same
"""


def outcome(test: str, root: Path, folder: Path, *options: str, **environment: str) -> str:
    """Return the last line of pytest on one file under our guards."""
    shutil.copy(root / "conftest.py", folder)
    (folder / "test_it.py").write_text(test)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, "test_it.py"],
        capture_output=True,
        check=False,
        cwd=folder,
        env={**os.environ, **environment, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        text=True,
        timeout=60,
    )
    return done.stdout.splitlines()[-1].partition(" in ")[0]


@pytest.mark.parametrize(
    ("mark", "require", "expected"),
    [
        ("", "", "1 skipped"),
        ("", "all", "1 failed"),
        ("@pytest.mark.skipif(True, reason='platform')", "all", "1 skipped"),
        ("pytest.importorskip('not_there')", "", "1 skipped"),
        ("pytest.importorskip('not_there')", "all", "1 error"),
    ],
)
def test_nothing_is_skipped_in_ci(
    mark: str, require: str, expected: str, root: Path, tmp_path: Path
) -> None:
    """Where all is required, a test that lacks something fails; a mark of the platform stands."""
    assert outcome(LACKING.format(mark), root, tmp_path, GQLNB_REQUIRE=require) == expected


def test_worker_processes_skip_nothing_in_ci(root: Path, tmp_path: Path) -> None:
    """Where all is required, a test that lacks something fails in a worker of pytest-xdist too."""
    test, options = LACKING.format(""), ("-p", "xdist", "--numprocesses=1")
    assert outcome(test, root, tmp_path, *options, GQLNB_REQUIRE="all") == "1 failed"


def test_no_secret_and_no_setting_reaches_a_test(root: Path, tmp_path: Path) -> None:
    """Tokens, our variables and the settings of Jupyter and IPython stay outside."""
    environment = {"GITHUB_TOKEN": "x", "GQLNB_URL": "x", "IPYTHONDIR": "x"}
    assert outcome(FREE, root, tmp_path, **environment) == "2 passed"


def test_whoever_reaches_for_the_network_is_found(root: Path, tmp_path: Path) -> None:
    """A test that would leave this machine fails, even if it hides the error."""
    assert outcome(REACHING, root, tmp_path) == "1 passed, 1 error"
