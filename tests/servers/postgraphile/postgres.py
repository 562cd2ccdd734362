"""A throw-away PostgreSQL cluster, with its own data folder and port."""

from __future__ import annotations

import json
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.ports import find_free_port
from tests.servers.install import POSTGRES_FOLDER
from tests.servers.processes import LoggedProcess

if TYPE_CHECKING:
    from collections.abc import Iterator

USER = "postgres"  # superuser of the cluster; also the system user of Debian's package
DATABASE = "postgres"
TRIES = 3  # another process may take the free port before PostgreSQL binds it
# The data is thrown away, so nothing has to survive a crash of the machine.
SETTINGS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "unix_socket_directories": "",
    "listen_addresses": "127.0.0.1",
    "timezone": "UTC",
    "max_connections": "60",
    "shared_buffers": "64MB",
}
# PostgreSQL does not read its standard input, so a shell stops it when that ends. Otherwise the
# cluster would outlive tests that were killed.
WATCHDOG = """
"$@" &
server=$!
trap 'kill -INT $server' INT TERM
cat
kill -INT $server
wait $server
rm -rf "$PWD"
"""
MISSING = (
    "PostgreSQL is needed to test PostGraphile, and its programs are not in "
    f"{POSTGRES_FOLDER}/*/bin. Install them with: apt-get install postgresql"
)


@dataclass(frozen=True)
class Postgres:
    """A running cluster.

    Attributes
    ----------
    port
        TCP port on 127.0.0.1.
    password
        Password of the superuser ``postgres``, made for this cluster.
    programs
        Folder of the programs: psql and the others.
    """

    port: int
    password: str
    programs: Path

    @property
    def url(self) -> str:
        """Connection string, password included."""
        return f"postgres://{USER}:{self.password}@127.0.0.1:{self.port}/{DATABASE}"

    def run_script(self, script: str) -> str:
        """Run a script of SQL and of psql's commands, and return what it prints.

        Raises
        ------
        RuntimeError
            At the first statement that fails, with PostgreSQL's message.
        """
        command = [
            str(self.programs / "psql"),
            *("--no-psqlrc", "--quiet", "--no-align", "--tuples-only", "--set=ON_ERROR_STOP=1"),
            *("--host=127.0.0.1", f"--port={self.port}", f"--username={USER}", DATABASE),
        ]
        environment = os.environ | {"PGPASSWORD": self.password, "PGCLIENTENCODING": "UTF8"}
        done = subprocess.run(
            command, input=script.encode(), capture_output=True, check=False, env=environment
        )
        if done.returncode != 0:
            msg = f"psql ended with code {done.returncode}: {done.stderr.decode().strip()}"
            raise RuntimeError(msg)
        return done.stdout.decode()

    def fetch_rows(self, query: str) -> list[dict[str, Any]]:
        """Return the rows of a query, as PostgreSQL writes them in JSON.

        Integers are exact, other numbers are ``Decimal``; every other type is text.
        """
        text = self.run_script(f"SELECT coalesce(json_agg(t), '[]') FROM ({query}) AS t;")
        rows: list[dict[str, Any]] = json.loads(text, parse_float=Decimal)
        return rows

    def fetch_value(self, query: str) -> Any:
        """Return the value of a query with one row and one column."""
        [row] = self.fetch_rows(query)
        [value] = row.values()
        return value


def find_programs() -> Path | None:
    """Return the folder of the newest installed PostgreSQL's programs, or None without one."""
    found = [path.parent for path in POSTGRES_FOLDER.glob("*/bin/initdb")]
    return max(found, key=lambda path: float(path.parent.name), default=None)


@contextmanager
def run_postgres() -> Iterator[Postgres]:
    """Run a new, empty cluster; stop it and remove its folder at the end.

    Raises
    ------
    RuntimeError
        If PostgreSQL is not installed or does not start.
    """
    programs = find_programs()
    if programs is None:
        raise RuntimeError(MISSING)
    account = choose_account()
    folder = Path(tempfile.mkdtemp(prefix="gqlnb-postgres-"))
    try:
        password = secrets.token_urlsafe(16)
        create_cluster(programs, folder, password, account)
        process, port = start_cluster(programs, folder, account)
        try:
            yield Postgres(port, password, programs)
        finally:
            process.stop(signal.SIGINT)  # "fast shutdown": connections are closed, none waited for
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def choose_account() -> dict[str, Any]:
    """Return the arguments of ``Popen`` that make PostgreSQL accept its user.

    It refuses to run as root; any other user can run a cluster of its own.
    """
    if os.getuid() != 0:
        return {}
    names = {entry.pw_name for entry in pwd.getpwall()}
    entry = pwd.getpwnam(USER if USER in names else "nobody")
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": ()}


def create_cluster(programs: Path, folder: Path, password: str, account: dict[str, Any]) -> None:
    """Create the files of an empty cluster in a folder."""
    password_file = folder / "password"
    password_file.write_text(password)
    if account:
        for path in (folder, password_file):
            os.chown(path, account["user"], account["group"])
    command = [
        str(programs / "initdb"),
        *("--encoding=UTF8", "--locale=C", "--no-sync", "--auth=scram-sha-256"),
        *(f"--username={USER}", f"--pwfile={password_file}", f"--pgdata={folder / 'data'}"),
    ]
    done = subprocess.run(
        command, capture_output=True, check=False, text=True, cwd=folder, **account
    )
    if done.returncode != 0:
        msg = f"initdb ended with code {done.returncode}: {done.stderr.strip()}"
        raise RuntimeError(msg)
    password_file.unlink()


def start_cluster(
    programs: Path, folder: Path, account: dict[str, Any]
) -> tuple[LoggedProcess, int]:
    """Start the server of a cluster on a free port; return the process and the port."""
    settings = [f"--{name}={value}" for name, value in SETTINGS.items()]
    for remaining in reversed(range(TRIES)):
        port = find_free_port()
        command = [str(programs / "postgres"), "-D", str(folder / "data"), f"--port={port}"]
        watched = ["/bin/sh", "-c", WATCHDOG, "postgres", *command, *settings]
        process = LoggedProcess(watched, cwd=folder, **account)
        try:
            process.wait_for("database system is ready to accept connections")
        except BaseException as error:
            process.stop(signal.SIGINT)
            if not (isinstance(error, RuntimeError) and remaining):
                raise
        else:
            return process, port
    raise AssertionError
