"""An application under another ASGI server, in a process of its own."""

from __future__ import annotations

import socket
import subprocess
import sys
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.ports import wait_for_port

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def hosted(command: Sequence[str], source: str, folder: Path, *needs: str) -> Iterator[int]:
    """Serve the text of a module, `hosted`, and give the port, on which something listens.

    Parameters
    ----------
    command
        A module and its arguments, ``{fd}`` being the listening socket; or ``{port}`` for a server
        that takes none.
    source
        The text, with an `app` in it.
    folder
        Where it is written and served.
    needs
        Other modules without which the test is skipped.
    """
    missing = [name for name in (command[0], *needs) if find_spec(name) is None]
    if missing:
        pytest.skip(f"{' and '.join(missing)} is not installed.")
    (folder / "hosted.py").write_text(source, encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as sock:
        port = sock.getsockname()[1]
        takes_port = any("{port}" in word for word in command)
        if takes_port:
            sock.close()
        else:
            sock.set_inheritable(True)
        process = subprocess.Popen(
            [sys.executable, "-m", *(word.format(fd=sock.fileno(), port=port) for word in command)],
            cwd=folder,
            env={"PYTHONPATH": f"{ROOT}:{folder}", "PATH": "/usr/bin:/bin"},
            pass_fds=[] if takes_port else [sock.fileno()],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            if takes_port:
                wait_for_port(port)
            yield port
        finally:
            process.terminate()
            process.wait(20)
