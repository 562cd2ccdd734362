"""Servers as processes of their own: started, waited for, and ended with all their children."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from threading import Condition, Thread
from typing import TYPE_CHECKING, Any, Self

from tests.servers.install import NPM_SERVERS, find_node

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "NAMES",
    "NODE_NAMES",
    "LoggedProcess",
    "ServerProcess",
    "find_packages",
    "start_server",
]

HERE = Path(__file__).resolve().parent
VARIABLE = "GQLNB_SERVERS"
NODE_NAMES = ("apollo", "yoga", "mercurius")
NAMES = (*NODE_NAMES, "strawberry", "ariadne")
LISTENING = r"^listening on port (\d+)$"
START = 60.0  # seconds for a server to start; the slowest took 5 on an idle machine
STOP = 20.0  # seconds for a server to end before it is killed


class LoggedProcess:
    """A command that runs in a process group of its own, and everything it writes.

    It should end when its standard input does, so that nothing is left behind where this process is
    killed.

    Parameters
    ----------
    command
        The program and its arguments.
    env
        Variables beside those of this process.
    **options
        Other arguments of :class:`subprocess.Popen`.

    Attributes
    ----------
    output
        What it has written so far, both streams in one.
    """

    def __init__(
        self, command: Sequence[str], *, env: Mapping[str, str] | None = None, **options: Any
    ) -> None:
        self.output = ""
        self._ended = False
        self._changed = Condition()
        self._command = " ".join(command)
        self._process = subprocess.Popen(
            command,
            env={**os.environ, **(env or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
            **options,
        )
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def wait_for(self, pattern: str, seconds: float = START) -> re.Match[str]:
        """Wait until the output matches a pattern of lines, and return the match.

        Raises
        ------
        RuntimeError
            If the process ended before, or `seconds` passed; the message shows the output.
        """
        lines = re.compile(pattern, re.MULTILINE)
        with self._changed:
            self._changed.wait_for(lambda: self._ended or lines.search(self.output), seconds)
            match = lines.search(self.output)
        if match is None:
            happened = "ended" if self._ended else f"was not ready after {seconds:g} s"
            msg = (
                f"{self._command} {happened} without writing {pattern!r}. Its output:\n"
                f"{self.output or '(none)'}"
            )
            raise RuntimeError(msg)
        return match

    def stop(self, stop_signal: signal.Signals = signal.SIGTERM) -> None:
        """End the process and its children, and wait until they have ended."""
        with suppress(OSError):
            self._process.stdin.close()
        self._signal(stop_signal)
        try:
            self._process.wait(STOP)
        except subprocess.TimeoutExpired:
            pass
        finally:
            self._signal(signal.SIGKILL)  # children that outlive it, too
            self._process.wait(STOP)
            self._reader.join(STOP)
            if not self._reader.is_alive():  # else a process of another session holds the pipe
                self._process.stdout.close()

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def _read(self) -> None:
        for line in self._process.stdout:
            with self._changed:
                self.output += line
                self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()


class ServerProcess(LoggedProcess):
    """A server, which writes the port that it listens on.

    Parameters
    ----------
    command, **options
        As for :class:`LoggedProcess`.

    Attributes
    ----------
    port
        Where it listens on 127.0.0.1.

    Raises
    ------
    RuntimeError
        If it does not start.
    """

    def __init__(self, command: Sequence[str], **options: Any) -> None:
        super().__init__(command, **options)
        try:
            self.port = int(self.wait_for(LISTENING)[1])
        except BaseException:
            self.stop()
            raise

    @property
    def url(self) -> str:
        """The address of its GraphQL endpoint."""
        return f"http://127.0.0.1:{self.port}/graphql"


def find_packages(name: str) -> tuple[str, Path]:
    """Return the Node program that runs a server, and the folder with its packages.

    Parameters
    ----------
    name
        One of :data:`tests.servers.install.NPM_SERVERS`.

    Raises
    ------
    LookupError
        If one is missing; the message says how to install it.
    """
    folder = os.environ.get(VARIABLE, "")
    advice = f"Run: python tests/servers/install.py FOLDER, and set {VARIABLE}=FOLDER."
    if not folder:
        msg = f"{name} cannot be found: {VARIABLE} is not set. {advice}"
        raise LookupError(msg)
    if not Path(folder, name, "node_modules").is_dir():
        msg = f"{name} is not installed in {folder}. {advice}"
        raise LookupError(msg)
    node = find_node(Path(folder), name)
    if node is None:
        msg = f"{name} needs Node, and there is none that is new enough. {advice}"
        raise LookupError(msg)
    return node, Path(folder, name).resolve()


def start_server(
    name: str, data: Path | None = None, *, port: int = 0, **options: Any
) -> ServerProcess:
    """Start a server, and return it once it listens.

    Parameters
    ----------
    name
        One of :data:`NAMES`, or ``"transport-ws"``.
    data
        The file that :func:`tests.servers.data.write_library` wrote; ``"transport-ws"`` needs none.
    port
        Where it shall listen; 0 for a free port.
    **options
        ``version=2`` for the changed schema, ``introspection=False`` to refuse introspection;
        those of ``"transport-ws"`` are named in its script.

    Raises
    ------
    LookupError
        If it is not installed.
    RuntimeError
        If it does not start.
    """
    settings = {"data": None if data is None else str(data), "port": port, **options}
    if name in NPM_SERVERS:
        node, packages = find_packages(name)
        settings["packages"] = str(packages)
        command = [node, str(NPM_SERVERS[name] / "server.mjs")]
    else:
        command = [sys.executable, "-m", f"tests.servers.{name}.server"]
    return ServerProcess([*command, json.dumps(settings)], cwd=HERE.parents[1])
