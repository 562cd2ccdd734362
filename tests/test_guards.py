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
    left = {name for name in os.environ if name.startswith(("GH_", "GITHUB_TOKEN", "GQLNB_"))}
    assert left <= {"GQLNB_FRONTENDS", "GQLNB_REQUIRE", "GQLNB_SERVERS"}
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
def test_a_skip_is_a_failure_in_ci(mark, require, expected, root, tmp_path):
    """If all requirements are mandatory; platform marks still skip."""
    assert outcome(LACKING.format(mark), root, tmp_path, GQLNB_REQUIRE=require) == expected


def test_a_skip_is_a_failure_in_ci_workers(root, tmp_path):
    """Under pytest-xdist."""
    test, options = LACKING.format(""), ("-p", "xdist", "--numprocesses=1")
    assert outcome(test, root, tmp_path, *options, GQLNB_REQUIRE="all") == "1 failed"


def test_tests_do_not_see_secrets_or_settings(root, tmp_path):
    """Tokens, environment variables, and Jupyter and IPython settings are removed."""
    environment = {"GITHUB_TOKEN": "x", "GH_TOKEN": "x", "GQLNB_URL": "x", "IPYTHONDIR": "x"}
    assert outcome(FREE, root, tmp_path, **environment) == "2 passed"


def test_a_test_that_uses_the_network_fails(root, tmp_path):
    """Even if it catches the exception."""
    assert outcome(REACHING, root, tmp_path) == "1 passed, 1 error"
