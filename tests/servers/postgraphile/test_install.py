"""The database and PostGraphile as processes: that nothing of them is left running."""

from __future__ import annotations

import socket
from contextlib import suppress
from pathlib import Path

import pytest

from tests.servers.postgraphile.postgres import MISSING, find_programs, run_postgres


class DeliberateError(Exception):
    """What a test raises while servers run."""


def is_listening(port: int) -> bool:
    """Return whether a port of 127.0.0.1 accepts connections."""
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def processes_with(text: str) -> list[str]:
    """Return the command lines of running processes that contain a text."""
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(path.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except (FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
            continue
    return [line for line in lines if text in line]


def test_a_cluster_is_removed_completely() -> None:
    """Also after an exception the process ends, the port is free and the folder is removed."""
    if find_programs() is None:
        pytest.skip(MISSING)
    with suppress(DeliberateError), run_postgres() as database:
        port = database.port
        assert database.fetch_value("SELECT 1") == 1
        assert is_listening(port)
        commands = [line for line in processes_with(f"--port={port}") if " -D " in line]
        folder = Path(commands[0].split(" -D ")[1].split()[0])
        raise DeliberateError
    assert not is_listening(port)
    assert processes_with(str(folder)) == []
    assert not folder.parent.exists()
