"""Benchmarks of the client: ``python tests/benchmarks/client.py [names...]``.

The endpoint is a process of its own, so that the figures hold what the caller spends. Rivals are
what a notebook holds without us: one line of requests, and ``json.loads``.
"""

from __future__ import annotations

import atexit
import json
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import requests

from gqlnb import Client, Result, Schema
from gqlnb.document.document import Document
from gqlnb.http.messages import Response
from gqlnb.http.response_parser import ResponseContext, parse_response
from gqlnb.result.checked_decoder import DecoderSelector
from tests.benchmarks.measure import OURS, Goal, Sides, Workload, bytes_taken, main

ONE_LINE = "requests.Session().post().json()"
LOADS = "json.loads"
HELLO = "{ hello }"
IN_FLIGHT = 8

SERVE = """
import sys
from gqlnb import reference_schema, serve
server = serve(reference_schema(), port=0)
print(server.url, flush=True)
sys.stdin.read()
"""

SDL = """
type Query { search: Search! texts: [Text!]! }
type Search { repositoryCount: Int! edges: [Edge] }
type Edge { node: Item }
union Item = Repository | User
type User { login: String! }
type Repository { name: String! owner: Owner! stargazers: Stargazers! }
interface Owner { login: String! }
type Person implements Owner { login: String! }
type Stargazers { totalCount: Int! }
type Text { title: String body: String! }
"""
EDGES = """{ search { repositoryCount edges { node { ... on Repository {
  name owner { login } stargazers { totalCount } } } } } }"""
TEXTS = "{ texts { title body } }"
LINE = 'A long text holds "quotes", line ends\n and a few letters such as é, ü and 🙂. '


def endpoint() -> str:
    """Start an endpoint in a process that ends with this one, and return its address."""
    server = subprocess.Popen(
        [sys.executable, "-c", SERVE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    atexit.register(server.communicate)
    assert server.stdout is not None
    return server.stdout.readline().strip()


def one_call(_size: int) -> Sides:
    """Ask once over a connection that is open, our side with the schema known and checked."""
    url = endpoint()
    client, session = Client(url), requests.Session()
    assert client.schema
    return {
        OURS: lambda: client.execute(HELLO),
        ONE_LINE: lambda: session.post(url, json={"query": HELLO}, timeout=60).json()["data"],
    }


def many_calls(size: int) -> Sides:
    """Ask many times from eight threads: one client against a session for each thread."""
    url = endpoint()
    client, kept = Client(url), threading.local()
    assert client.schema
    threads = ThreadPoolExecutor(IN_FLIGHT)

    def by_hand(_: int) -> Any:
        if not hasattr(kept, "session"):
            kept.session = requests.Session()
        return kept.session.post(url, json={"query": HELLO}, timeout=60).json()["data"]

    def asked(_: int) -> Any:
        return client.execute(HELLO).data

    return {
        OURS: lambda: {"answers": list(threads.map(asked, range(size)))},
        ONE_LINE: lambda: {"answers": list(threads.map(by_hand, range(size)))},
    }


def edges(size: int) -> bytes:
    """Return a page of many small objects, as a search gives them; 92 bytes each."""
    found = [
        {
            "node": {
                "name": f"repository-{n}",
                "owner": {"login": f"owner-{n % 5000}"},
                "stargazers": {"totalCount": n},
            }
        }
        for n in range(size)
    ]
    members = {"data": {"search": {"repositoryCount": size, "edges": found}}}
    return json.dumps(members, separators=(",", ":")).encode()


def texts(size: int) -> bytes:
    """Return a page of long texts, 5 KB each."""
    found = [{"title": f"Text {n}", "body": LINE * 62} for n in range(size)]
    return json.dumps({"data": {"texts": found}}, ensure_ascii=False).encode()


def decoded(query: str, make: Any, size: int) -> Sides:
    """Turn the bytes of a body into data: ours checked against document and schema, and touched."""
    document = Document.parse(query, Schema(SDL).graphql)
    expected = DecoderSelector(document).get_decoder({})
    body = make(size)
    response = Response(200, {"content-type": "application/json"}, body)

    def ours() -> Result:
        result = parse_response(
            response, ResponseContext(document, "benchmark", expected=expected, variables={})
        )
        assert result.data
        return result

    return {OURS: ours, LOADS: lambda: json.loads(body)["data"]}


CALL = (Goal(ONE_LINE, 0.9, most=True),)
TIME = (Goal(LOADS, 1.15, most=True),)
MEMORY = (Goal(LOADS, 1, most=True),)
WORKLOADS = [
    Workload("call", one_call, CALL),
    Workload("calls-8-in-flight", many_calls, CALL, 1_000, 40),
    Workload("edges", partial(decoded, EDGES, edges), TIME, 570_000, 500, rounds=9),
    Workload("texts", partial(decoded, TEXTS, texts), TIME, 10_400, 50),
    Workload("edges-memory", partial(decoded, EDGES, edges), MEMORY, 570_000, 500, bytes_taken, 1),
    Workload("texts-memory", partial(decoded, TEXTS, texts), MEMORY, 10_400, 50, bytes_taken, 1),
]

if __name__ == "__main__":
    main(__file__, WORKLOADS)
