"""All 100,000 rows of third-party servers: ``python -m tests.benchmarks.server_pages [names...]``.

Three ways to the same rows: `Client.execute_all`, a loop over cursors with gql, and the same loop
with requests, both with the page size of 1,000 that a person would write. The rows are asserted to
be equal before anything is printed. Time includes gqlnb's request for the schema, which is not
counted: no run finds a schema that another has cached. Names are ``postgraphile``, ``apollo``,
``yoga``, ``mercurius`` and ``ariadne``; by default all.

``GQLNB_SERVERS`` names the folder in which ``tests/servers/install.py`` installed the servers.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any, NamedTuple

import requests

from gqlnb import Client
from tests.servers.data import MEASUREMENTS, write_library
from tests.servers.postgraphile.database import POSTS, load_database
from tests.servers.postgraphile.postgraphile import run_postgraphile
from tests.servers.postgraphile.postgres import run_postgres
from tests.servers.processes import find_packages, start_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PAGE = 1000


class Case(NamedTuple):
    """A connection to read to its end.

    Attributes
    ----------
    field, columns
        The root field, and the fields of its rows.
    cursor
        The type of ``after``.
    rows
        The number of rows.
    """

    field: str
    columns: str
    cursor: str
    rows: int


class Answer(NamedTuple):
    """All rows, and the number of requests that they took, without that for the schema."""

    rows: list[dict[str, Any]]
    requests: int


class Cost(NamedTuple):
    """The cost of reading all rows.

    Attributes
    ----------
    requests
        Requests, without that for the schema.
    seconds
        Elapsed time, most of it the server's.
    own_seconds
        Processor time of the client alone, which depends less on other load of the machine.
    """

    requests: int
    seconds: float
    own_seconds: float


POSTS_CASE = Case("allPosts", "id title views publishedAt", "Cursor", POSTS)
CASES = {
    "postgraphile": POSTS_CASE,
    "apollo": Case("measurements", "number value", "String", MEASUREMENTS),
    **dict.fromkeys(
        ("yoga", "mercurius", "ariadne"),
        Case("measurements", "number value", "Cursor", MEASUREMENTS),
    ),
}


def build_loop_query(case: Case) -> str:
    """Return the query that a person writes for a loop over cursors."""
    return f"""query Rows($after: {case.cursor}) {{
  {case.field}(first: {PAGE}, after: $after) {{
    pageInfo {{ hasNextPage endCursor }} nodes {{ {case.columns} }} }} }}"""


def read_with_gqlnb(url: str, case: Case) -> Answer:
    """Return all rows through a fresh client of gqlnb, which asks for the schema itself."""
    with Client(url) as client:
        text = f"{{ {case.field}(first: {PAGE}) {{ nodes {{ {case.columns} }} }} }}"
        result = client.execute_all(text)
        assert result.report.complete, result.report
        return Answer(result.data[case.field]["nodes"], result.report.requests)


def read_with_gql(url: str, case: Case) -> Answer:
    """Return all rows through gql, with a loop over the cursors."""
    from gql import Client as GqlClient
    from gql import gql
    from gql.transport.requests import RequestsHTTPTransport

    query = gql(build_loop_query(case))
    with GqlClient(transport=RequestsHTTPTransport(url)) as session:

        def ask(after: str | None) -> Any:
            query.variable_values = {"after": after}
            return session.execute(query)

        return follow_cursors(ask, case)


def read_with_requests(url: str, case: Case) -> Answer:
    """Return all rows through requests, with the same loop."""
    query = build_loop_query(case)
    with requests.Session() as session:

        def ask(after: str | None) -> Any:
            payload = {"query": query, "variables": {"after": after}}
            answer = session.post(url, json=payload, timeout=60)
            answer.raise_for_status()
            return answer.json()["data"]

        return follow_cursors(ask, case)


def follow_cursors(ask: Callable[[str | None], Any], case: Case) -> Answer:
    """Return all rows, page after page."""
    rows: list[dict[str, Any]] = []
    count, after = 0, None
    while True:
        page = ask(after)[case.field]
        count += 1
        rows += page["nodes"]
        if not page["pageInfo"]["hasNextPage"]:
            return Answer(rows, count)
        after = page["pageInfo"]["endCursor"]


SIDES: dict[str, Callable[[str, Case], Answer]] = {
    "gqlnb execute_all": read_with_gqlnb,
    "gql, loop": read_with_gql,
    "requests, loop": read_with_requests,
}


@contextmanager
def empty_schema_cache() -> Iterator[None]:
    """Let clients find no schema that was cached before."""
    previous = os.environ.get("XDG_CACHE_HOME")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        try:
            yield
        finally:
            del os.environ["XDG_CACHE_HOME"]
            if previous is not None:
                os.environ["XDG_CACHE_HOME"] = previous


def assert_equal_rows(url: str, case: Case) -> None:
    """Assert that all sides return the same rows, and all of them."""
    answers = {name: read(url, case).rows for name, read in SIDES.items()}
    reference = answers["requests, loop"]
    assert len(reference) == case.rows
    for name, rows in answers.items():
        assert rows == reference, f"{name}: {len(rows)} rows differ from {len(reference)}"


def measure_sides(url: str, case: Case, rounds: int) -> dict[str, Cost]:
    """Return the cost of each side: the medians of rounds in which each has its turn."""
    seconds: dict[str, list[float]] = {name: [] for name in SIDES}
    own: dict[str, list[float]] = {name: [] for name in SIDES}
    counts = {}
    for _ in range(rounds):
        for name, read in SIDES.items():
            with empty_schema_cache():
                begin, own_begin = perf_counter(), process_time()
                counts[name] = read(url, case).requests
                seconds[name].append(perf_counter() - begin)
                own[name].append(process_time() - own_begin)
    median = statistics.median
    return {name: Cost(counts[name], median(seconds[name]), median(own[name])) for name in SIDES}


@contextmanager
def run_server(name: str) -> Iterator[str]:
    """Start a server, and yield its address."""
    if name == "postgraphile":
        find_packages("postgraphile-v4")
        with run_postgres() as database:
            load_database(database)
            with run_postgraphile(database, "v4", "plain") as servers:
                yield servers["plain"].url
    else:
        with tempfile.TemporaryDirectory() as folder:
            data = write_library(Path(folder, "library.json"))
            with start_server(name, data) as server:
                yield server.url


def main() -> None:
    """Run one server after another, compare the rows, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(CASES), metavar="name")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    sys.stdout.write(
        f"Requests, seconds and the client's processor seconds; medians of {options.rounds} rounds,"
        f" Python {platform.python_version()}, {os.cpu_count()} CPUs\n\n"
        f"| 100,000 rows | {' | '.join(SIDES)} |\n{'|---' * (len(SIDES) + 1)}|\n"
    )
    for name in options.names:
        try:
            with run_server(name) as url:
                assert_equal_rows(url, CASES[name])
                costs = measure_sides(url, CASES[name], options.rounds).values()
        except LookupError as error:
            sys.exit(str(error))
        cells = (f"{it.requests}, {it.seconds:.2f} s, {it.own_seconds:.2f} s" for it in costs)
        sys.stdout.write(f"| {name} | {' | '.join(cells)} |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
