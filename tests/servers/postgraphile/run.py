"""Run PostGraphile on the tests' database until Enter or Ctrl-C, to try things by hand.

::

    GQLNB_SERVERS=FOLDER python -m tests.servers.postgraphile.run
"""

from __future__ import annotations

import sys
from contextlib import ExitStack

from tests.servers.postgraphile.database import load_database
from tests.servers.postgraphile.postgraphile import find_missing, run_postgraphile
from tests.servers.postgraphile.postgres import run_postgres

VARIANTS = {
    "v4": ("plain", "lists", "only", "classic", "keys", "older", "watch"),
    "v5": ("compatible", "amber"),
}


def main() -> None:
    """Start everything, print the addresses, and wait."""
    with ExitStack() as stack:
        database = stack.enter_context(run_postgres())
        load_database(database)
        sys.stdout.write(f"PostgreSQL: {database.url}\n")
        for version, variants in VARIANTS.items():
            missing = find_missing(version)
            if missing is not None:
                sys.stdout.write(f"{missing}\n")
                continue
            servers = stack.enter_context(run_postgraphile(database, version, *variants))
            for name, server in servers.items():
                sys.stdout.write(f"{version} {name}: {server.url}\n")
        sys.stdout.write("Running. Press Enter to stop.\n")
        sys.stdout.flush()
        sys.stdin.readline()


if __name__ == "__main__":
    main()
