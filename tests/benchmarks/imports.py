"""CPU time of starting a program: ``python -m tests.benchmarks.imports [rounds]``.

Two figures for each client, in milliseconds of a new interpreter: importing the client and its
transport, and a whole program that sends one query and prints the answer. gql takes its transports
as modules of their own, without which it sends nothing; gqlnb's is part of its client. The least of
all rounds is shown, since other work of the machine only adds to it.
"""

from __future__ import annotations

import compileall
import resource
import subprocess
import sys
from pathlib import Path

import gqlnb

ROUNDS = 15
IMPORTS = {
    "bare interpreter": "pass",
    "graphql-core": "import graphql",
    "gql, no transport": "from gql import Client, gql",
    "gql, requests": (
        "from gql import Client, gql; from gql.transport.requests import RequestsHTTPTransport"
    ),
    "gql, httpx": "from gql import Client, gql; from gql.transport.httpx import HTTPXTransport",
    "gql, aiohttp": (
        "from gql import Client, gql; from gql.transport.aiohttp import AIOHTTPTransport"
    ),
    "gqlnb": "from gqlnb import Client",
}
QUERIES = {
    "gql, requests": (
        "print(Client(transport=RequestsHTTPTransport({url!r})).execute(gql('{{ hello }}')))"
    ),
    "gql, httpx": "print(Client(transport=HTTPXTransport({url!r})).execute(gql('{{ hello }}')))",
    "gql, aiohttp": (
        "print(Client(transport=AIOHTTPTransport({url!r})).execute(gql('{{ hello }}')))"
    ),
    "gqlnb": "print(Client({url!r}).execute('{{ hello }}').data)",
}
ANSWER = "{'hello': 'Hello world!'}"


def measure_program(code: str) -> tuple[float, str]:
    """Return the milliseconds of CPU time that a program takes, and its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], check=True, capture_output=True, text=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds * 1000, done.stdout.strip()


def write_query_program(client: str, url: str) -> str:
    """Return a program that sends one query with a client and prints the answer."""
    return f"{IMPORTS[client]}; {QUERIES[client].format(url=url)}"


def main() -> None:
    """Print the table."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    # Files not yet compiled would be compiled in the first round, and in each if none are written.
    compileall.compile_dir(Path(gqlnb.__file__).parent, quiet=1)
    with gqlnb.serve(gqlnb.reference_schema(), port=0) as server:
        programs = {("import", name): code for name, code in IMPORTS.items()}
        for name in QUERIES:
            programs["first answer", name] = write_query_program(name, server.url)
        least = dict.fromkeys(programs, float("inf"))
        for _ in range(rounds):
            for key, code in programs.items():
                milliseconds, output = measure_program(code)
                assert output == (ANSWER if key[0] == "first answer" else ""), (key, output)
                least[key] = min(least[key], milliseconds)
    write = sys.stdout.write
    write(f"{'client':20}{'import':>10}{'first answer':>15}\n")
    for name in IMPORTS:
        first = least.get(("first answer", name))
        shown = "" if first is None else f"{first:.0f} ms"
        write(f"{name:20}{least['import', name]:7.0f} ms{shown:>15}\n")


if __name__ == "__main__":
    main()
