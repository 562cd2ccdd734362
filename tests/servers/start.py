"""Start one server by hand, and keep it until it is interrupted.

Usage: ``PYTHONPATH=. GQLNB_SERVERS=FOLDER python tests/servers/start.py NAME [PORT [VERSION]]``
"""

from __future__ import annotations

import signal
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from tests.servers.data import write_library
from tests.servers.processes import NAMES, start_server


def main(name: str, port: int = 0, version: int = 1) -> None:
    """Start a server, print its address, and wait for Ctrl-C."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tempfile.TemporaryDirectory() as folder, suppress(KeyboardInterrupt):
        data = write_library(Path(folder, "library.json"))
        with start_server(name, data, port=port, version=version) as server:
            sys.stdout.write(f"{server.url}\n")
            sys.stdout.flush()
            signal.pause()


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in NAMES:
        sys.exit(f"{__doc__}NAME is one of: {', '.join(NAMES)}")
    main(sys.argv[1], *map(int, sys.argv[2:4]))
