"""Servers as processes of their own: started, waited for, and ended with all their children."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from threading import Condition, Thread
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["NAMES", "NODE_NAMES", "ServerProcess", "find_packages", "start_server"]

HERE = Path(__file__).resolve().parent
NODE_NAMES = ("apollo", "yoga", "mercurius")
NAMES = (*NODE_NAMES, "strawberry", "ariadne")
LISTENING = re.compile(r"^listening on port (\d+)$", re.MULTILINE)
START = 60.0  # seconds for a server to start; the slowest took 3 on a busy machine
STOP = 10.0  # seconds for a server to end before it is killed


class ServerProcess:
    """A command that serves, in a process group of its own.

    It should end when its standard input does, so that nothing is left behind where this process is
    killed.

    Parameters
    ----------
    command
        The program and its arguments.
    ready
        Matches the output once the server listens; its first group is the port.
    cwd, env
        The working folder, and variables beside those of this process.

    Attributes
    ----------
    output
        What it has written so far, both streams in one.
    port
        The port that it said it listens on.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        ready: re.Pattern[str] = LISTENING,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        seconds: float = START,
    ) -> None:
        self.output = ""
        self._ended = False
        self._changed = Condition()
        self._command = " ".join(command)
        self._process = subprocess.Popen(
            command,
            cwd=cwd,
            env={**os.environ, **(env or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()
        try:
            self.port = int(self.wait_for(ready, seconds)[1])
        except BaseException:
            self.stop()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def url(self) -> str:
        """The address of its GraphQL endpoint."""
        return f"http://127.0.0.1:{self.port}/graphql"

    def wait_for(self, pattern: re.Pattern[str] | str, seconds: float = START) -> re.Match[str]:
        """Wait until the output matches, and return the match.

        Raises
        ------
        RuntimeError
            If the process ended before, or `seconds` passed; the message shows the output.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._ended or re.search(pattern, self.output), seconds)
            match = re.search(pattern, self.output)
        if match is None:
            happened = "ended" if self._ended else f"did not get ready in {seconds:g} s"
            msg = f"{self._command} {happened}. Its output:\n{self.output or '(none)'}"
            raise RuntimeError(msg)
        return match

    def stop(self) -> None:
        """End the process and its children, and wait until they have ended."""
        with suppress(OSError):
            self._process.stdin.close()
        self._signal(signal.SIGTERM)
        try:
            self._process.wait(STOP)
        except subprocess.TimeoutExpired:
            pass
        finally:
            self._signal(signal.SIGKILL)  # children that outlive it, too
            self._process.wait(STOP)
            self._reader.join(STOP)
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


def find_packages(name: str) -> Path:
    """Return the folder with the packages of a server that runs on Node.

    Raises
    ------
    LookupError
        If Node or the packages are missing; the message says how to install them.
    """
    folder = os.environ.get("GQLNB_SERVERS", "")
    if shutil.which("node") is None:
        msg = f"{name} needs Node, and there is none on this machine."
        raise LookupError(msg)
    if not folder or not Path(folder, name, "node_modules").is_dir():
        msg = (
            f"{name} is not installed. Run: python tests/servers/install.py FOLDER, and set "
            "GQLNB_SERVERS=FOLDER."
        )
        raise LookupError(msg)
    return Path(folder, name)


def start_server(name: str, data: Path, *, port: int = 0, **options: Any) -> ServerProcess:
    """Start one of :data:`NAMES`, and return it once it listens.

    Parameters
    ----------
    name
        Its name, which is also that of the folder with its script.
    data
        The file that :func:`tests.servers.data.write_library` wrote.
    port
        Where it shall listen; 0 for a free port.
    **options
        ``version=2`` for the changed schema, ``introspection=False`` to refuse introspection.

    Raises
    ------
    LookupError
        If it is not installed.
    RuntimeError
        If it does not start.
    """
    settings = {"data": str(data), "port": port, **options}
    if name in NODE_NAMES:
        settings["packages"] = str(find_packages(name))
        command = ["node", str(HERE / name / "server.mjs")]
    else:
        command = [sys.executable, "-m", f"tests.servers.{name}.server"]
    return ServerProcess([*command, json.dumps(settings)], cwd=HERE.parents[1])
