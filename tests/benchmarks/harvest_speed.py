"""Benchmarks of harvesting: ``python tests/benchmarks/harvest_speed.py [names...]``.

The endpoint is the stand-in in a process of its own; in ``near`` it answers each request 20 ms
late, as a near one does. The rival is gql with the loop that its users write: page after page of a
search, then the next search below the last one's stars. Both bring the same rows, which is looked
at first. Time is that of the clock on the wall.

With ``--memory`` the peak of a process that harvests into a folder, from 0.1 to 3 million rows,
each in a fresh process.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gqlnb import Client, github
from tests.benchmarks.measure import OURS, Goal, Workload, main
from tests.benchmarks.pages import GQL, elapsed, gql_session

if TYPE_CHECKING:
    from tests.benchmarks.measure import Sides

SIZES = (100_000, 1_000_000, 3_000_000)
SEED = 1
SERVE = """
import asyncio, socket, sys
import uvicorn
from gqlnb import github

size, late = int(sys.argv[1]), float(sys.argv[2])
app = github.app(github.service(population=github.population(size, seed=int(sys.argv[3]))))

async def slow(scope, receive, send):
    if scope["type"] == "http":
        await asyncio.sleep(late)
    await app(scope, receive, send)

listening = socket.socket()
listening.bind(("127.0.0.1", 0))
listening.listen(64)
print(f"http://127.0.0.1:{listening.getsockname()[1]}/graphql", flush=True)
served = slow if late else app
uvicorn.Server(uvicorn.Config(served, log_level="error", lifespan="off")).run([listening])
"""
HARVEST = """
import resource, sys, time
from gqlnb import github
begun = time.time()
made = github.harvest(">=1", client=sys.argv[1], out=sys.argv[2], progress=False)
took, peak = time.time() - begun, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
it = made.coverage
print(f"{len(made):>9,} rows {it.complete} {it.requests / it.bound:.3f} of the bound, "
      f"{made.requests:,} requests, {took:.0f} s, {len(made) / took:,.0f} rows/s, "
      f"peak {peak:.0f} MiB", flush=True)
"""
PAGE = """query Stars($query: String!, $after: String) {
  search(query: $query, type: REPOSITORY, first: 100, after: $after) {
    repositoryCount
    pageInfo { hasNextPage endCursor }
    nodes { ... on Repository { id name owner { login } stargazerCount createdAt } }
  }
}"""


def endpoint(size: int, late: float) -> tuple[str, subprocess.Popen[str]]:
    """Start a stand-in in a process that ends with this one, and return its address."""
    command = [sys.executable, "-c", SERVE, str(size), str(late), str(SEED)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    return server.stdout.readline().strip(), server


def harvested(size: int, late: float = 0.0) -> Sides:
    """Fetch all repositories of a population of a size."""
    import atexit

    from gql import gql

    url, server = endpoint(size, late)
    atexit.register(server.kill)
    client, session = Client(url), gql_session(url)

    def by_hand() -> set[tuple[Any, ...]]:
        found, below = {}, "*"
        while True:
            after = None
            while True:
                request = gql(PAGE)
                request.variable_values = {
                    "query": f"stars:1..{below} sort:stars-desc",
                    "after": after,
                }
                page = session.execute(request)["search"]
                for node in page["nodes"]:
                    row = (node["owner"]["login"], node["name"], node["stargazerCount"])
                    found[node["id"]] = row
                if not page["pageInfo"]["hasNextPage"]:
                    break
                after = page["pageInfo"]["endCursor"]
            if page["repositoryCount"] <= 1000:
                return set(found.values())
            below = str(page["nodes"][-1]["stargazerCount"])

    def ours() -> set[tuple[Any, ...]]:
        with tempfile.TemporaryDirectory() as folder:
            made = github.harvest(">=1", client=client, out=folder, progress=False)
            columns = made.arrow().select(["owner", "name", "stargazers"]).to_pydict()
        return set(zip(*columns.values(), strict=True))

    return {OURS: ours, GQL: by_hand}


def near(size: int) -> Sides:
    """Do the same at an endpoint that answers 20 ms late."""
    return harvested(size, 0.02)


def same(answer: set[tuple[Any, ...]]) -> str:
    """Return rows as text."""
    return repr(sorted(answer))


WORKLOADS = [
    Workload("local", harvested, (Goal(GQL, 5),), 20_000, 1_500, elapsed, 7, same),
    Workload("near", near, (Goal(GQL, 5),), 20_000, 1_500, elapsed, 7, same),
]


def memory(sizes: tuple[int, ...]) -> None:
    """Print what fresh processes need at most that harvest so many rows into a folder."""
    for size in sizes:
        url, server = endpoint(size, 0.0)
        try:
            with tempfile.TemporaryDirectory() as folder:
                out = str(Path(folder, "out"))
                subprocess.run([sys.executable, "-c", HARVEST, url, out], check=True)
        finally:
            server.kill()
            server.wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--memory", action="store_true")
    given, rest = parser.parse_known_args()
    if given.memory:
        memory(tuple(map(int, rest)) or SIZES)
    else:
        main(__file__, WORKLOADS, rest)
