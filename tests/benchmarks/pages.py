"""Benchmarks of paging: ``python tests/benchmarks/pages.py [names...]``.

The endpoint is a process of its own that answers each request 20 ms late, as a near one does. The
rival is gql, with the loop that its users write: page after page, and then for each object the
pages of what is nested in it. Time is that of the clock on the wall: it is spent on waiting.
``rows`` counts the processor's time of 100,000 rows in pages of 100, of an endpoint that answers at
once; the rival is a loop with requests and json that joins the pages and checks nothing.
The goal of ``memory``, 1.5 times the result itself, was set after 1.43 had been measured: it says
when something became worse, and not what was aimed at.
"""

from __future__ import annotations

import atexit
import gc
import json
import subprocess
import sys
from functools import partial
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

from gqlnb import Client
from tests.benchmarks.measure import OURS, RESULT, Goal, Workload, bytes_taken, main

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.benchmarks.measure import Costs, Sides

GQL = "gql, sequentially"
LOOP = "requests and json"
INNER = 6  # times the items of the outer connection
PAGE = 10

SERVE = """
import asyncio, socket, sys
import uvicorn
from gqlnb import Schema
from gqlnb.server.app import App

SDL = '''
interface Node { id: ID! }
type PageInfo { hasNextPage: Boolean! endCursor: String }
type Query {
  node(id: ID!): Node
  owners(first: Int!, after: String): Owners!
}
type Owners { nodes: [Owner!]! pageInfo: PageInfo! totalCount: Int! }
type Owner implements Node { id: ID! name: String! items(first: Int!, after: String): Items! }
type Items { nodes: [Item!]! pageInfo: PageInfo! }
type Item { id: ID! name: String! size: Int! }
'''
size, inner, late = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])

def page(rows, args):
    start = int(args.get("after") or 0)
    end = min(start + args["first"], len(rows))
    return {"nodes": rows[start:end], "totalCount": len(rows),
            "pageInfo": {"hasNextPage": end < len(rows), "endCursor": str(end)}}

owners = [{"id": str(n), "name": f"owner {n}"} for n in range(size)]
items = {o["id"]: [{"id": f"{o['id']}.{n}", "name": f"item {n}", "size": n} for n in range(inner)]
         for o in owners}
schema = Schema(SDL, {
    "Query": {"owners": lambda _, args, __: page(owners, args),
              "node": lambda _, args, __: owners[int(args["id"])]},
    "Node": {"__resolveType": lambda *_: "Owner"},
    "Owner": {"items": lambda owner, args, _: page(items[owner["id"]], args)},
})
app = App(schema)

async def slow(scope, receive, send):
    if scope["type"] == "http":
        await asyncio.sleep(late)
    await app(scope, receive, send)

listening = socket.socket()
listening.bind(("127.0.0.1", 0))
listening.listen(64)
print(f"http://127.0.0.1:{listening.getsockname()[1]}/graphql", flush=True)
uvicorn.Server(uvicorn.Config(slow, log_level="error", lifespan="off")).run([listening])
"""
NESTED = f"""query Owners($first: Int!, $after: String) {{
  owners(first: $first, after: $after) {{
    pageInfo {{ hasNextPage endCursor }}
    nodes {{ id name items(first: {PAGE}) {{
      pageInfo {{ hasNextPage endCursor }} nodes {{ id name size }} }} }} }} }}"""
FURTHER = f"""query Items($id: ID!, $after: String) {{
  node(id: $id) {{ ... on Owner {{ items(first: {PAGE}, after: $after) {{
    pageInfo {{ hasNextPage endCursor }} nodes {{ id name size }} }} }} }} }}"""
FLAT = """query Owners($first: Int!, $after: String) {
  owners(first: $first, after: $after) {
    pageInfo { hasNextPage endCursor } nodes { id name } } }"""


def endpoint(size: int, inner: int, late: float) -> str:
    """Start an endpoint in a process that ends with this one, and return its address."""
    command = [sys.executable, "-c", SERVE, str(size), str(inner), str(late)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    atexit.register(server.kill)
    assert server.stdout is not None
    return server.stdout.readline().strip()


def gql_session(url: str) -> Any:
    """Return a session of gql."""
    from gql import Client as GqlClient
    from gql.transport.requests import RequestsHTTPTransport

    client = GqlClient(transport=RequestsHTTPTransport(url))
    return client.connect_sync()


def nested(size: int) -> Sides:
    """Ask for all objects, and for all that is nested in each."""
    from gql import gql

    url = endpoint(size, INNER * PAGE, 0.02)
    client, session = Client(url), gql_session(url)
    assert client.schema

    def asked(text: str, **variables: Any) -> Any:
        request = gql(text)
        request.variable_values = variables
        return session.execute(request)

    def by_hand() -> dict[str, Any]:
        rows, after = [], None
        while True:
            page = asked(NESTED, first=PAGE, after=after)["owners"]
            rows += page["nodes"]
            if not page["pageInfo"]["hasNextPage"]:
                break
            after = page["pageInfo"]["endCursor"]
        for row in rows:
            items = row["items"]
            while items["pageInfo"]["hasNextPage"]:
                more = asked(FURTHER, id=row["id"], after=items["pageInfo"]["endCursor"])
                more = more["node"]["items"]
                items["nodes"] += more["nodes"]
                items["pageInfo"] = more["pageInfo"]
        return {"owners": {"pageInfo": page["pageInfo"], "nodes": rows}}

    return {OURS: lambda: client.execute_all(NESTED, {"first": PAGE}).data, GQL: by_hand}


def rows(size: int) -> Sides:
    """Ask for one connection in small pages, against a loop that only joins them."""
    import requests

    url = endpoint(size, 1, 0)
    client, session = Client(url), requests.Session()
    assert client.schema

    def by_hand() -> dict[str, Any]:
        nodes, after = [], None
        while True:
            body = {"query": FLAT, "variables": {"first": 100, "after": after}}
            page = json.loads(session.post(url, json=body).content)["data"]["owners"]
            nodes += page["nodes"]
            if not page["pageInfo"]["hasNextPage"]:
                return {"owners": page | {"nodes": nodes}}
            after = page["pageInfo"]["endCursor"]

    return {
        OURS: lambda: client.execute_all(FLAT, {"first": 100}, page_size=100).data,
        LOOP: by_hand,
    }


def whole(size: int) -> Sides:
    """Hold all rows of a connection and tell them apart, against the rows themselves."""
    url = endpoint(size, 1, 0)
    client = Client(url)
    assert client.schema

    def ours() -> Any:
        return client.execute_all(FLAT, {"first": 100}).data

    def rows() -> Any:
        info = {"hasNextPage": False, "endCursor": str(size)}
        nodes = [{"id": str(n), "name": f"owner {n}"} for n in range(size)]
        return {"owners": {"pageInfo": info, "nodes": nodes}}

    return {OURS: ours, RESULT: rows}


def elapsed(sides: Sides, rounds: int, clock: Callable[[], float] = perf_counter) -> Costs:
    """Return the seconds each side takes, by round."""
    taken: Costs = {name: [] for name in sides}
    for turn in range(rounds):
        for name in list(sides) if turn % 2 else reversed(sides):
            gc.collect()
            begun = clock()
            sides[name]()
            taken[name].append(clock() - begun)
    return taken


WORKLOADS = [
    Workload("nested", nested, (Goal(GQL, 3),), 30, 11, elapsed, 7),
    Workload("rows", rows, (Goal(LOOP, 1.2, most=True),), 100_000, 300,
     partial(elapsed, clock=process_time), 5),
    Workload("memory", whole, (Goal(RESULT, 1.5, most=True),), 20_000, 300, bytes_taken, 1),
]  # fmt: skip

if __name__ == "__main__":
    main(__file__, WORKLOADS)
