"""What is installed for the tests of servers, and the processes that run it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers.install import NPM_SERVERS
from tests.servers.processes import VARIABLE, LoggedProcess

ECHO = "print(input('ready\\n'), flush=True); input()"


@pytest.mark.parametrize("name", NPM_SERVERS)
def test_the_lock_file_names_no_host(name: str) -> None:
    """Every package is pinned by its hash, and none by the address of a registry."""
    text = (NPM_SERVERS[name] / "package-lock.json").read_text()
    assert "://" not in text
    packages = json.loads(text)["packages"]
    assert len(packages) > 5
    assert [path for path, entry in packages.items() if path and "integrity" not in entry] == []


def test_every_server_of_npm_is_installed() -> None:
    """Each folder beside this file with a lock file has its name in the list."""
    folders = {path.parent for path in Path(__file__).parent.rglob("package-lock.json")}
    assert set(NPM_SERVERS.values()) == folders


@pytest.mark.parametrize(("required", "word"), [("", "SKIPPED"), ("all", "FAILED")])
def test_tests_without_their_server_are_skipped_in_one_line(
    required: str, word: str, root: Path
) -> None:
    """The line has their number; if all servers are required, the tests fail."""
    folder = "tests/servers"
    files = (f"{folder}/test_uploads.py", f"{folder}/postgraphile/test_connect.py")
    command = [
        "-m",
        "pytest",
        "-n0",
        "-p",
        "no:cacheprovider",
        "-m",
        "slow",
        "-k",
        "yoga or test_connect",
        *files,
    ]
    environment = {k: v for k, v in os.environ.items() if k != VARIABLE}
    done = subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        check=False,
        cwd=root,
        env={**environment, "GQLNB_REQUIRE": required},
        text=True,
        timeout=120,
    )
    summary = done.stdout.partition("short test summary info")[2]
    lines = [line for line in summary.splitlines() if line.startswith(("SKIPPED", "FAILED"))]
    assert (done.returncode == 0) == (required == "")
    assert all(line.startswith(word) for line in lines)
    if not required:
        yoga, postgraphile = sorted(lines, key=lambda line: "postgraphile" in line)
        assert f"yoga cannot be found: {VARIABLE} is not set" in yoga
        assert f"postgraphile-v4 cannot be found: {VARIABLE} is not set" in postgraphile


def test_the_output_of_a_process_can_be_awaited() -> None:
    """The process ends when its input is closed."""
    with LoggedProcess([sys.executable, "-c", ECHO]) as process:
        assert process.wait_for("^ready$")[0] == "ready"
        with pytest.raises(RuntimeError, match=r"was not ready after 0.05 s without writing 'no'"):
            process.wait_for("no", 0.05)
    assert process._process.poll() is not None


def test_a_process_that_exits_early_is_an_error_with_its_output() -> None:
    """Immediately, without waiting for the timeout."""
    process = LoggedProcess([sys.executable, "-c", "print('the reason')"])
    with pytest.raises(RuntimeError, match=re.compile("ended without.*the reason", re.DOTALL)):
        process.wait_for("never")
    process.stop()
