"""One contract for subscriptions on every transport and status profile."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from gqlnb import Access, Client, QueryError, Schema, serve
from gqlnb.server.app import App

PATIENCE = 20.0  # seconds until a test gives up
SDL = """
type Query { hello: String }
type Subscription { count(to: Int!): Int things: Thing quiet: Int breaks: Int big: String }
type Thing { name: String must: Int! may: Int }
"""
WAYS = [
    ("in process", None),
    ("asgi", None),
    ("asgi", "ws"),
    ("asgi", "sse"),
    ("asgi", "multipart"),
    ("socket", None),
    ("socket", "ws"),
    ("socket", "sse"),
    ("socket", "multipart"),
    ("asgi as drafted", "sse"),
    ("socket as drafted", None),
    ("socket as drafted", "sse"),
]
DRAFT = Access(profile="draft")


class Source:
    """A schema whose quiet subscription says when it begins and when it is left."""

    def __init__(self) -> None:
        self.begun, self.ended = threading.Event(), threading.Event()
        own = {"count": count, "things": things, "quiet": self.quiet, "breaks": breaks, "big": big}
        thing = {"may": lambda *_: 1 / 0, "must": lambda *_: 7}
        query = {"hello": lambda *_: "Hello world!"}
        self.schema = Schema(SDL, {"Query": query, "Subscription": own, "Thing": thing})

    async def quiet(self, root: Any, args: Any, context: Any) -> Any:
        """Yield once and wait for ever."""
        try:
            yield 0
            self.begun.set()
            await asyncio.Event().wait()
        finally:
            self.ended.set()


async def count(root: Any, args: Any, context: Any) -> Any:
    """Count."""
    for number in range(args["to"]):
        await asyncio.sleep(0)
        yield number


def things(root: Any, args: Any, context: Any) -> Any:
    """Yield two objects."""
    yield {"name": "a"}
    yield {"name": "ü🙂"}


async def breaks(root: Any, args: Any, context: Any) -> Any:
    """Break after the first event, with words for the client."""
    from graphql import GraphQLError

    yield 1
    msg = "broken on purpose"
    raise GraphQLError(msg)


async def big(root: Any, args: Any, context: Any) -> Any:
    """Yield what no buffer of a socket holds in one piece."""
    yield "x" * 2**20
    yield "y"


@pytest.fixture
def source():
    """Return what is subscribed to."""
    return Source()


@pytest.fixture(params=WAYS, ids=lambda way: f"{way[0]} {way[1] or 'any'}")
def way(request, source):
    """Yield a client, and the transport to ask for."""
    name, transport = request.param
    access = DRAFT if name.endswith("drafted") else None
    app = App(source.schema, access=access)
    with serve(source.schema, port=0, access=access) as server:
        targets = {"in process": source.schema, "asgi": app, "socket": server.url}
        with Client(targets[name.removesuffix(" as drafted")]) as client:
            yield client, transport


def test_events_are_results_in_order(way):
    """Sync and async, with variables; iteration ends with the stream."""
    client, transport = way
    text = "subscription ($to: Int!) { count(to: $to) }"
    stream = client.subscribe(text, {"to": 100}, transport=transport)
    assert [result["count"] for result in stream] == list(range(100))

    async def there() -> list[int]:
        stream = client.asubscribe(text, {"to": 100}, transport=transport)
        return [result["count"] async for result in stream]

    assert asyncio.run(there()) == list(range(100))
    assert stream.reconnects == 0


def test_an_operation_is_chosen_by_name(way):
    """`operation=` is passed to the server."""
    client, transport = way
    text = "subscription A { quiet } subscription B { count(to: 2) }"
    found = list(client.subscribe(text, operation="B", transport=transport))
    assert [result.data for result in found] == [{"count": 0}, {"count": 1}]


def test_a_field_error_is_part_of_its_result(way):
    """The stream continues."""
    client, transport = way
    first, second = client.subscribe("subscription { things { name may } }", transport=transport)
    assert first.data == {"things": {"name": "a", "may": None}}
    assert second["things"]["name"] == "ü🙂"
    assert first.errors[0]["path"] == ["things", "may"]


def test_frames_have_the_dtypes_of_the_schema(way):
    """For each event, as for a response."""
    client, transport = way
    assert client.schema.subscription_type is not None
    (first,) = client.subscribe("subscription { count(to: 1) }", transport=transport)
    assert str(first.frame()["count"].dtype) == "Int64"


def test_a_large_event_arrives_complete(way):
    """However it is split in transit."""
    client, transport = way
    found = [len(r["big"]) for r in client.subscribe("subscription { big }", transport=transport)]
    assert found == [2**20, 1]


def test_a_later_failure_raises_after_the_earlier_results(way):
    """The class is the same on every transport."""
    client, transport = way
    stream = client.subscribe("subscription { breaks }", transport=transport)
    assert next(stream)["breaks"] == 1
    with pytest.raises(QueryError, match="broken on purpose"):
        next(stream)


@pytest.mark.parametrize("text", ["subscription { cuont }", "subscription { count }", "subscr"])
def test_an_invalid_query_raises_the_same_error_everywhere(way, text):
    """Detected by the client or by the server."""
    client, transport = way
    with pytest.raises(QueryError) as caught:
        list(client.subscribe(text, transport=transport))
    assert caught.value.problems[0].line == 1


def test_a_query_is_rejected_by_subscribe(way):
    """Before any request is sent."""
    client, transport = way
    with pytest.raises(QueryError, match=r"A query gives one result\. Use execute\(\) for it\."):
        client.subscribe("{ hello }", transport=transport)


@pytest.mark.parametrize("leave", ["break", "with", "close", "async with", "cancel"])
def test_leaving_ends_the_subscription(way, source, leave):
    """`finally` blocks of the source run for every way to leave the stream."""
    client, transport = way
    stream = client.subscribe("subscription { quiet }", transport=transport)

    async def inside() -> None:
        async with stream:
            assert (await anext(stream))["quiet"] == 0

    async def cancelled() -> None:
        async def follow() -> None:
            async for _ in stream:
                pass

        task = asyncio.create_task(follow())
        await asyncio.to_thread(source.begun.wait, PATIENCE)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    if leave == "break":
        for _ in stream:
            break
    elif leave == "with":
        with stream:
            next(stream)
    elif leave == "close":
        next(stream)
        stream.close()
    else:
        asyncio.run(inside() if leave == "async with" else cancelled())
    assert source.ended.wait(PATIENCE)
    with pytest.raises(StopIteration):
        next(stream)


def test_another_thread_may_close_the_subscription(way, source):
    """As a button does: the iteration ends without an error."""
    client, transport = way
    stream = client.subscribe("subscription { quiet }", transport=transport)
    found = []
    waiting = threading.Thread(target=lambda: found.extend(r["quiet"] for r in stream))
    waiting.start()
    assert source.begun.wait(PATIENCE)
    while waiting.is_alive():  # it may not wait yet
        stream.close()
        waiting.join(0.05)
    assert found in ([0], [])
    assert source.ended.wait(PATIENCE)


def test_subscribing_works_inside_a_running_loop(way):
    """A synchronous `for` in a notebook does not deadlock."""
    client, transport = way

    async def cell() -> list[int]:
        text = "subscription { count(to: 3) }"
        here = [result["count"] for result in client.subscribe(text, transport=transport)]
        there = [r["count"] async for r in client.asubscribe(text, transport=transport)]
        return here + there

    assert asyncio.run(cell()) == [0, 1, 2, 0, 1, 2]
