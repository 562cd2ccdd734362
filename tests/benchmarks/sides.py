"""One server in a process of its own: ``python tests/benchmarks/sides.py SIDE``.

It takes a free port, writes it on a line, and serves until it is ended. Every side answers the same
schema but the bare one, which answers all requests with the same bytes: what uvicorn alone can do,
and the one by hand, which has a loop for one query.
"""

from __future__ import annotations

import asyncio
import socket
import sys
import warnings
from collections.abc import Callable
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import graphql
import msgspec
import uvicorn

__all__ = ["SIDES"]

NODES = 1000  # of the list
LONG = 10_000  # rows of the list of plain values
KEPT = 512  # documents that a tuned peer keeps, as many as we do
ANSWER = b'{"data":{"hello":"Hello world!"}}'
SDL = """
type Query { hello: String nodes: [Node!]! long: [Row!]! }
type Row { id: ID! name: String count: Int score: Float ok: Boolean }
type Node { id: ID! name: String! stars: Int! owner: Owner! }
type Owner { login: String! }
"""

App = Callable[..., Any]


def rows(make: Callable[..., Any]) -> list[Any]:
    """Return the nodes of the list, made of keyword arguments by `make`."""
    return [
        make(id=f"N_{n}", name=f"node-{n}", stars=n, owner=make(login=f"owner-{n % 100}"))
        for n in range(NODES)
    ]


def plain_rows() -> list[dict[str, Any]]:
    """Return the rows of the long list."""
    return [
        {"id": f"R_{n}", "name": f"row-{n}", "count": n, "score": n / 7, "ok": n % 2 == 0}
        for n in range(LONG)
    ]


def hello(*_: Any) -> str:
    """Answer at once."""
    return "Hello world!"


def bare() -> App:
    """Return an application that answers all requests alike."""
    length = str(len(ANSWER)).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", length)]

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": ANSWER})

    return app


class Row(msgspec.Struct):
    """A row of the long list."""

    id: str
    name: str | None
    count: int | None
    score: float | None
    ok: bool | None


def by_hand() -> App:
    """Return an application that makes objects of the long list's rows, and encodes them."""
    found, encode = plain_rows(), msgspec.json.Encoder().encode

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        made = [Row(it["id"], it["name"], it["count"], it["score"], it["ok"]) for it in found]
        body = encode({"data": {"long": made}})
        length = str(len(body)).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", length)]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    return app


def ours() -> App:
    """Return our application, for a host to run."""
    from gqlnb.server.app import App as Ours

    return Ours(our_schema())


def our_schema() -> Any:
    """Return the schema as ours."""
    from gqlnb.engine.schema import Schema

    found, long = rows(dict), plain_rows()
    nodes = {"hello": hello, "nodes": lambda *_: found, "long": lambda *_: long}
    return Schema(SDL, {"Query": nodes})


def ariadne(**options: Any) -> App:
    """Return Ariadne's application."""
    from ariadne import QueryType, make_executable_schema
    from ariadne.asgi import GraphQL

    query, found = QueryType(), rows(dict)
    query.set_field("hello", hello)
    query.set_field("nodes", lambda *_: found)
    return GraphQL(make_executable_schema(SDL, query), **options)  # type: ignore[no-any-return]


def ariadne_tuned() -> App:
    """Return Ariadne's application with what its parser and its validator found kept."""
    parse = lru_cache(KEPT)(graphql.parse)
    checked: dict[int, tuple[Any, Any]] = {}

    def validate(schema: Any, document: Any, *given: Any, **options: Any) -> Any:
        if id(document) not in checked:
            if len(checked) >= KEPT:
                checked.clear()
            found = graphql.validate(schema, document, *given, **options)
            checked[id(document)] = document, found
        return checked[id(document)][1]

    return ariadne(query_parser=lambda _, data: parse(data["query"]), query_validator=validate)


def strawberry(*extensions: Any) -> App:
    """Return Strawberry's application."""
    import strawberry as library
    from strawberry.asgi import GraphQL

    owner = library.type(type("Owner", (), {"__annotations__": {"login": str}}))
    kinds = {"id": library.ID, "name": str, "stars": int, "owner": owner}
    node = library.type(type("Node", (), {"__annotations__": kinds}))
    found = rows(SimpleNamespace)

    def nodes() -> Any:
        return found

    nodes.__annotations__["return"] = list[node]  # type: ignore[valid-type]
    members = {
        "hello": library.field(resolver=greeting),
        "nodes": library.field(resolver=nodes),
    }
    query = library.type(type("Query", (), members))
    return GraphQL(library.Schema(query, extensions=[*extensions]))


def greeting() -> str | None:
    """Answer at once."""
    return hello()


def strawberry_tuned() -> App:
    """Return Strawberry's application with its two caches."""
    from strawberry.extensions import ParserCache, ValidationCache

    with warnings.catch_warnings(action="ignore"):  # instances keep their caches; classes do not
        return strawberry(ParserCache(maxsize=KEPT), ValidationCache(maxsize=KEPT))


SIDES: dict[str, Callable[[], App]] = {
    "bare uvicorn": bare,
    "uvicorn and msgspec, by hand": by_hand,
    "gqlnb": ours,
    "gqlnb.App": ours,
    "ariadne": ariadne,
    "ariadne, tuned": ariadne_tuned,
    "strawberry": strawberry,
    "strawberry, tuned": strawberry_tuned,
}


def main(side: str) -> None:
    """Serve one side until the process is ended."""
    if side == "gqlnb":
        from gqlnb.server.background_server import serve

        server = serve(our_schema(), port=0)
        sys.stdout.write(f"{server.port}\n")
        sys.stdout.flush()
        server.wait()
        return
    with socket.create_server(("127.0.0.1", 0)) as sock:
        config = uvicorn.Config(SIDES[side](), log_level="critical", access_log=False)
        sys.stdout.write(f"{sock.getsockname()[1]}\n")
        sys.stdout.flush()
        with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
            runner.run(uvicorn.Server(config).serve([sock]))


if __name__ == "__main__":
    main(sys.argv[1])
