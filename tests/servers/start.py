"""Start servers by hand, and keep them until they are interrupted.

Usage: ``GQLNB_SERVERS=FOLDER python -m tests.servers.start NAME [PORT [VERSION]]``

``postgraphile`` is every variant of both versions on a database of its own, each on a free port.
"""

from __future__ import annotations

import signal
import sys
import tempfile
from contextlib import ExitStack, suppress
from pathlib import Path

from tests.servers.data import write_library
from tests.servers.postgraphile.database import load_database
from tests.servers.postgraphile.postgraphile import run_postgraphile
from tests.servers.postgraphile.postgres import run_postgres
from tests.servers.processes import NAMES, start_server

CHOICES = (*NAMES, "transport-ws", "postgraphile")
VARIANTS = {
    "v4": ("plain", "lists", "only", "classic", "keys", "older"),
    "v5": ("compatible", "amber"),
}


def main(name: str, port: int = 0, version: int = 1) -> None:
    """Start servers, print their addresses, and wait for Ctrl-C."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(KeyboardInterrupt), ExitStack() as stack:
        if name == "postgraphile":
            start_postgraphile(stack)
        else:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            data = write_library(Path(folder, "library.json"))
            process = start_server(name, data, port=port, version=version)
            sys.stdout.write(f"{stack.enter_context(process).url}\n")
        sys.stdout.flush()
        signal.pause()


def start_postgraphile(stack: ExitStack) -> None:
    """Start PostgreSQL and PostGraphile, and print their addresses."""
    database = stack.enter_context(run_postgres())
    load_database(database)
    sys.stdout.write(f"PostgreSQL: {database.url}\n")
    for version, variants in VARIANTS.items():
        servers = stack.enter_context(run_postgraphile(database, version, *variants))
        for variant, server in servers.items():
            sys.stdout.write(f"{version} {variant}: {server.url}\n")


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in CHOICES:
        sys.exit(f"{__doc__}\nNAME is one of: {', '.join(CHOICES)}")
    try:
        main(sys.argv[1], *map(int, sys.argv[2:4]))
    except (LookupError, RuntimeError) as error:
        sys.exit(str(error))
