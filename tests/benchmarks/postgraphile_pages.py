"""All 100,000 rows of a PostGraphile server: ``python -m tests.benchmarks.postgraphile_pages``.

Three ways to the same rows: `Client.execute_all`, a loop over cursors with gql, and the same loop
with requests, both with the page size of 1,000 that a person would write. The rows are asserted to
be equal before anything is printed. Requests are counted by the server. Time includes gqlnb's
request for the schema, which is not in the count: no run finds a schema that another has cached.

``GQLNB_SERVERS`` names the folder in which ``tests/servers/install.py`` installed PostGraphile.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
import tempfile
from contextlib import contextmanager
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any, NamedTuple

import requests

from gqlnb import Client
from tests.servers.postgraphile.database import POSTS, load_database
from tests.servers.postgraphile.postgraphile import run_postgraphile
from tests.servers.postgraphile.postgres import run_postgres
from tests.servers.processes import find_packages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.servers.postgraphile.postgraphile import PostGraphile

    Rows = list[dict[str, Any]]


class Cost(NamedTuple):
    """What reading all rows costs.

    Attributes
    ----------
    requests
        Requests that the server answered, those for the schema excluded.
    seconds
        Time by the clock on the wall; most of it the server's.
    own_seconds
        Processor time of the client alone, which depends less on what else the machine does.
    """

    requests: int
    seconds: float
    own_seconds: float


PAGE = 1000
FIELDS = "id title views publishedAt"
TEXT = f"{{ allPosts(first: {PAGE}) {{ nodes {{ {FIELDS} }} }} }}"
LOOP = f"""query Posts($after: Cursor) {{
  allPosts(first: {PAGE}, after: $after) {{
    pageInfo {{ hasNextPage endCursor }} nodes {{ {FIELDS} }} }} }}"""


def read_with_gqlnb(url: str) -> Rows:
    """Return all rows through a fresh client of gqlnb, which asks for the schema itself."""
    with Client(url) as client:
        result = client.execute_all(TEXT)
        assert result.report.complete, result.report
        rows: Rows = result.data["allPosts"]["nodes"]
        return rows


def read_with_gql(url: str) -> Rows:
    """Return all rows through gql, with a loop over the cursors."""
    from gql import Client as GqlClient
    from gql import gql
    from gql.transport.requests import RequestsHTTPTransport

    query, rows, after = gql(LOOP), [], None
    with GqlClient(transport=RequestsHTTPTransport(url)) as session:
        while True:
            query.variable_values = {"after": after}
            page = session.execute(query)["allPosts"]
            rows += page["nodes"]
            if not page["pageInfo"]["hasNextPage"]:
                return rows
            after = page["pageInfo"]["endCursor"]


def read_with_requests(url: str) -> Rows:
    """Return all rows through requests, with the same loop."""
    rows, after = [], None
    with requests.Session() as session:
        while True:
            payload = {"query": LOOP, "variables": {"after": after}}
            answer = session.post(url, json=payload, timeout=60)
            answer.raise_for_status()
            page = answer.json()["data"]["allPosts"]
            rows += page["nodes"]
            if not page["pageInfo"]["hasNextPage"]:
                return rows
            after = page["pageInfo"]["endCursor"]


SIDES: dict[str, Callable[[str], Rows]] = {
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


def assert_equal_rows(server: PostGraphile) -> None:
    """Assert that all sides return the same rows, and all of them."""
    answers = {name: read(server.url) for name, read in SIDES.items()}
    reference = answers["requests, loop"]
    assert len(reference) == POSTS
    for name, rows in answers.items():
        assert rows == reference, f"{name}: {len(rows)} rows differ from {len(reference)}"


def measure_sides(server: PostGraphile, rounds: int) -> dict[str, Cost]:
    """Return what each side costs: the medians of rounds in which each has its turn."""
    seconds: dict[str, list[float]] = {name: [] for name in SIDES}
    own: dict[str, list[float]] = {name: [] for name in SIDES}
    counts = {}
    for _ in range(rounds):
        for name, read in SIDES.items():
            server.take_requests()
            with empty_schema_cache():
                begin, own_begin = perf_counter(), process_time()
                read(server.url)
                seconds[name].append(perf_counter() - begin)
                own[name].append(process_time() - own_begin)
            counts[name] = len(server.take_requests())
    median = statistics.median
    return {name: Cost(counts[name], median(seconds[name]), median(own[name])) for name in SIDES}


def main() -> None:
    """Run the servers, compare the rows, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    try:
        find_packages("postgraphile-v4")
    except LookupError as error:
        sys.exit(str(error))
    with run_postgres() as database:
        load_database(database)
        with run_postgraphile(database, "v4", "plain") as servers:
            assert_equal_rows(servers["plain"])
            figures = measure_sides(servers["plain"], rounds)
    sys.stdout.write(
        f"{POSTS:,} rows from PostGraphile 4, median of {rounds} rounds, Python"
        f" {platform.python_version()}, {os.cpu_count()} CPUs\n"
    )
    for name, cost in figures.items():
        sys.stdout.write(
            f"{name:20} {cost.requests:5} requests {cost.seconds:7.2f} s,"
            f" {cost.own_seconds:.2f} s of them processor time of the client\n"
        )


if __name__ == "__main__":
    main()
