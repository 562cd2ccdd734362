"""What is installed for the tests of servers, and the processes that run it."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from tests.servers.install import NPM_SERVERS
from tests.servers.processes import LoggedProcess

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
