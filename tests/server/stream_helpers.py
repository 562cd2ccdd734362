"""What the tests of streams share: a schema to subscribe to, and a reader of events."""

from __future__ import annotations

import asyncio
import http.client
import json
import threading
from typing import TYPE_CHECKING, Any

from gqlnb.engine.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Iterator

PATIENCE = 20.0  # seconds until a test gives up; nothing waits that long unless it is broken
SDL = """
type Query { hello: String fails: Int }
type Mutation { add: Int }
type Subscription {
  count(to: Int!): Int
  plain(to: Int!): Int
  quiet: Int
  flood: String
  breaks: Int
  refuses: Int
  cancels: Int
  stubborn: Int
  thing: Thing
}
type Thing { name: String where: String fails: Int odd: Float }
"""
SECRET = "secret"
UPGRADE = {  # the headers of a handshake
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}


class Life:
    """What happens to the sources that never end by themselves."""

    def __init__(self) -> None:
        self.begun, self.ended = threading.Event(), threading.Event()
        self.running = 0

    async def of(self, events: Any) -> Any:
        """Yield events, and note when they begin and when they are left."""
        self.running += 1
        self.begun.set()
        try:
            async for each in events:
                yield each
        finally:
            await asyncio.sleep(0)  # closing may take a while
            self.running -= 1
            self.ended.set()


async def count(root: Any, args: Any, context: Any) -> Any:
    """Count."""
    for number in range(args["to"]):
        await asyncio.sleep(0)
        yield number


def plain(root: Any, args: Any, context: Any) -> Any:
    """Count in threads."""
    yield from range(args["to"])


async def once() -> Any:
    """Yield once and wait."""
    yield 0
    await asyncio.Event().wait()


async def megabytes() -> Any:
    """Yield more than any buffer holds."""
    while True:
        yield "x" * 2**20


async def breaks(root: Any, args: Any, context: Any) -> Any:
    """Break after the first event."""
    yield 1
    raise ValueError(SECRET)


def refuses(root: Any, args: Any, context: Any) -> Any:
    """Break before the first event."""
    raise LookupError(SECRET)


async def cancels(root: Any, args: Any, context: Any) -> Any:
    """Await what somebody cancels."""
    yield 1
    waiting = asyncio.ensure_future(asyncio.sleep(PATIENCE))
    waiting.cancel()
    await waiting


async def stubborn(root: Any, args: Any, context: Any) -> Any:
    """Fail when it is closed."""
    try:
        yield 1
        yield 2
    finally:
        raise OSError(SECRET)


async def things(root: Any, args: Any, context: Any) -> Any:
    """Yield two objects, of which one has no JSON form."""
    yield {"name": "a", "odd": 0.5}
    yield {"name": "b", "odd": object()}


def streaming_schema(life: Life) -> Schema:
    """Return a schema with every kind of subscription."""
    sources = {
        "count": count,
        "plain": plain,
        "quiet": lambda *_: life.of(once()),
        "flood": lambda *_: life.of(megabytes()),
        "breaks": breaks,
        "refuses": refuses,
        "cancels": cancels,
        "stubborn": stubborn,
        "thing": things,
    }
    thing = {"where": lambda *_: threading.current_thread().name, "fails": lambda *_: 1 / 0}
    query = {"hello": lambda *_: "Hello world!", "fails": lambda *_: 1 / 0}
    mutation = {"add": lambda *_: 1}
    return Schema(
        SDL, {"Query": query, "Mutation": mutation, "Subscription": sources, "Thing": thing}
    )


class Reader:
    """A request whose answer is read event by event."""

    def __init__(
        self, port: int, query: str, *, path: str = "/graphql", method: str = "POST", **headers: str
    ) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        sent = {"Content-Type": "application/json", "Accept": "text/event-stream", **headers}
        body = json.dumps({"query": query}) if method == "POST" else None
        self.connection.request(method, path, body, sent)
        self.response = self.connection.getresponse()
        self.status, self.headers = self.response.status, self.response.headers

    def next(self) -> tuple[str, Any]:
        """Return name and data of the next event; comments are passed over."""
        name, data = "", None
        while line := self.response.readline().decode():
            word, _, value = line.rstrip("\n").partition(":")
            if word == "event":
                name = value.strip()
            elif word == "data":
                data = json.loads(value) if value.strip() else None
            elif line == "\n" and name:
                return name, data
        return "closed", None

    def rest(self) -> list[tuple[str, Any]]:
        """Return all events up to the end."""
        return list(self._rest())

    def _rest(self) -> Iterator[tuple[str, Any]]:
        while (event := self.next())[0] != "closed":
            yield event

    def close(self) -> None:
        """Leave."""
        self.response.close()
        self.connection.close()
