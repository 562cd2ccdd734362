"""Incremental responses of third-party servers, and truncated ones."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any

import graphql
import pytest
import strawberry
from strawberry.asgi import GraphQL as StrawberryApp
from strawberry.schema.config import StrawberryConfig

from gqlnb import AnswerError, Client, Limits, QueryError, Schema, TransportError
from tests.asgi import run_app

NEW = graphql.version_info[:2] >= (3, 3)
TEXT = """{
  pet { name ... on Pet @defer(label: "slow") { owner tricks @stream(initialCount: 1) } }
}"""
DATA = {"pet": {"name": "Tom", "owner": "Ann", "tricks": ["sit", "roll", "sleep"]}}
HEADS = {
    "mixed": "multipart/mixed; boundary=-",
    "events": "text/event-stream",
    "json": "application/json",
}


@strawberry.type
class Pet:
    """Somebody whose owner is slow to be found."""

    name: str

    @strawberry.field
    async def owner(self) -> str:
        """Return a name, later."""
        await asyncio.sleep(0.01)
        return "Ann"

    @strawberry.field
    async def tricks(self) -> strawberry.Streamable[str]:
        """Yield what it can do."""
        for trick in DATA["pet"]["tricks"]:
            await asyncio.sleep(0.01)
            yield trick


@strawberry.type
class Query:
    """What is asked."""

    @strawberry.field
    def pet(self) -> Pet:
        """Return the one."""
        return Pet(name="Tom")


def library() -> StrawberryApp:
    """Return an application that answers in parts."""
    config = StrawberryConfig(enable_experimental_incremental_execution=True)
    return StrawberryApp(strawberry.Schema(Query, config=config))


@pytest.mark.skipif(not NEW, reason="graphql-core before 3.3 knows no incremental delivery.")
def test_each_result_is_cumulative():
    """Over HTTP and in process; the last one equals the unstreamed answer."""
    app = library()
    with run_app(app) as url:
        for target in (url, app):
            client = Client(target)
            client.refresh_schema()
            results = list(client.subscribe(TEXT))
            assert results[0].data == {"pet": {"name": "Tom"}}
            assert len(results) > 2
            assert results[-1].data == DATA
            # This server answers in parts whether it was asked to or not.
            assert client.execute(TEXT).data == DATA


class Speaker:
    """An application that says what it is given, in whatever form."""

    def __init__(self, kind: str, *parts: Any, end: bool = True) -> None:
        self.kind, self.parts, self.end = kind, parts, end
        self.asked: list[dict[str, Any]] = []
        self.accepts = b""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        self.accepts = dict(scope["headers"])[b"accept"]
        self.asked.append(json.loads((await receive())["body"]))
        head = [(b"content-type", HEADS[self.kind].encode())]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        async for part in self.written():
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    async def written(self) -> AsyncGenerator[bytes, None]:
        """Yield the bytes of the body."""
        for part in self.parts:
            body = part if isinstance(part, bytes) else json.dumps(part).encode()
            if self.kind == "mixed":
                yield b"\r\n---\r\nContent-Type: application/json\r\n\r\n" + body
            elif self.kind == "events":
                yield b"event: next\ndata: " + body + b"\n\n"
            else:
                yield body
        if self.kind == "mixed":
            yield b"\r\n-----\r\n" if self.end else b"\r\n---"
        elif self.kind == "events" and self.end:
            yield b"event: complete\ndata:\n\n"


FIRST = {"data": {"a": 1, "row": [1]}, "hasNext": True}
LAST = {"incremental": [{"path": ["row", 1], "items": [2]}], "hasNext": False}
WHOLE = {"a": 1, "row": [1, 2]}
ASK = "{ a row @stream(initialCount: 1) }"


@pytest.mark.parametrize("kind", ["mixed", "events"])
def test_both_incremental_formats_are_read(kind):
    """The last part ends the stream, even without a final boundary."""
    for end in (True, False):
        app = Speaker(kind, FIRST, LAST, end=end)
        found = [result.data for result in Client(app).subscribe(ASK)]
        assert found == [FIRST["data"], WHOLE]
        assert b"multipart/mixed" in app.accepts
        assert b"application/json" in app.accepts


def test_a_single_response_is_accepted():
    """A server may ignore `@defer`."""
    app = Speaker("json", {"data": WHOLE})
    assert [result.data for result in Client(app).subscribe(ASK)] == [WHOLE]


def test_a_truncated_stream_is_not_retried():
    """It may be a mutation; the error has the results so far."""
    app = Speaker("mixed", FIRST, end=False)
    with run_app(app) as url:
        stream = Client(url).subscribe("mutation { a row @stream }")
        assert next(stream).data == FIRST["data"]
        with pytest.raises(
            TransportError, match="the stream ended before it was complete"
        ) as caught:
            next(stream)
    assert caught.value.result is not None
    assert caught.value.result.data == FIRST["data"]
    assert len(app.asked) == 1


def test_an_invalid_part_keeps_the_results_so_far():
    """The error has its number and the reason."""
    lost = {"incremental": [{"path": ["row", 7], "items": [2]}], "hasNext": False}
    app = Speaker("mixed", FIRST, lost)
    stream = Client(app).subscribe(ASK)
    next(stream)
    with pytest.raises(AnswerError, match=r"part 2 of the answer .*: it adds items") as caught:
        next(stream)
    assert caught.value.result is not None
    assert caught.value.result.data == FIRST["data"]
    with pytest.raises(
        AnswerError, match="parts of the incremental response are inconsistent: it adds items"
    ):
        Client(app).execute(ASK)


def test_the_total_size_of_all_parts_is_limited():
    """Like a single response."""
    parts = [{"path": ["row", 1 + place], "items": [2], "hasNext": True} for place in range(99)]
    with run_app(Speaker("mixed", FIRST, *parts)) as url:
        stream = Client(url, limits=Limits(answer=2000)).subscribe(ASK)
        with pytest.raises(TransportError, match=r"(?i)more than|larger|limit"):
            list(stream)


def test_subscribing_to_an_in_process_query():
    """A schema of this process answers in parts; the error says that it needs graphql-core 3.3."""
    schema = Schema(
        "directive @stream(initialCount: Int) on FIELD  type Query { a: Int row: [Int] }",
        {"Query": {"a": lambda *_: 1, "row": lambda *_: [1, 2]}},
    )
    if NEW:
        assert [result.data for result in Client(schema).subscribe(ASK)] == [FIRST["data"], WHOLE]
    else:
        for subscribe in (schema.subscribe, Client(schema).subscribe):
            with pytest.raises(QueryError, match=r"need graphql-core 3\.3 for a response in parts"):
                subscribe(ASK)
        assert schema.execute(ASK).data == WHOLE
    with pytest.raises(QueryError, match="A query gives one result"):
        Client(schema).subscribe("{ a }")
