"""Subscriptions by every way that a server offers: both subprotocols of WebSocket, and events."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from gqlnb import Client, GqlnbError, QueryError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.servers.processes import ServerProcess


class Offer(NamedTuple):
    """A path of a server, and the way to subscribe there; `legacy` asks for the older one."""

    server: str
    path: str
    transport: str
    legacy: bool = False


OFFERS = {
    "yoga": Offer("yoga", "graphql", "sse"),
    "mercurius": Offer("mercurius", "graphql", "ws"),
    "mercurius (graphql-ws)": Offer("mercurius", "graphql", "ws", legacy=True),
    "strawberry": Offer("strawberry", "graphql", "ws"),
    "strawberry (graphql-ws)": Offer("strawberry", "legacy", "ws"),
    "ariadne": Offer("ariadne", "graphql", "ws"),
    "ariadne (graphql-ws)": Offer("ariadne", "legacy", "ws"),
    "ariadne (events)": Offer("ariadne", "events", "sse"),
}
COUNT = "subscription ($to: Int!) { count(to: $to) }"


@pytest.fixture(params=OFFERS)
def offer(request: pytest.FixtureRequest) -> Offer:
    """Return each way of each server."""
    return OFFERS[request.param]


@pytest.fixture
def subscriber(offer: Offer, shared_server: Callable[[str], ServerProcess]) -> Client:
    """Return a fresh client."""
    server = shared_server(offer.server)
    headers = {"X-Legacy": "1"} if offer.legacy else None
    return Client(f"http://127.0.0.1:{server.port}/{offer.path}", headers=headers)


@pytest.mark.parametrize("named", [True, False])
def test_events_arrive_in_order(subscriber: Client, offer: Offer, named: bool) -> None:
    """Until the end, by the given protocol and by the detected one."""
    stream = subscriber.subscribe(
        COUNT, {"to": 50}, transport=offer.transport if named else None, reconnect=0
    )
    assert [event["count"] for event in stream] == list(range(50))


def test_events_can_be_awaited(subscriber: Client) -> None:
    """On a running loop."""

    async def follow() -> list[int]:
        return [event["count"] async for event in subscriber.asubscribe(COUNT, {"to": 5})]

    assert asyncio.run(follow()) == [0, 1, 2, 3, 4]


def test_an_event_is_a_typed_result(subscriber: Client, library: dict[str, Any]) -> None:
    """Objects have frames with the dtypes of the schema."""
    text = "subscription { addedBooks(first: 20) { number title genre pages author { name } } }"
    frames = [event.frame() for event in subscriber.subscribe(text)]
    assert [frame["addedBooks.title"].item() for frame in frames] == [
        book["title"] for book in library["books"][:20]
    ]
    for frame in frames:
        assert str(frame["addedBooks.pages"].dtype) == "Int64"
        assert str(frame["addedBooks.genre"].dtype) == "category"


def test_breaking_out_of_the_loop_ends_a_subscription(subscriber: Client) -> None:
    """An endless one ends after its first event, and others work afterwards."""
    for event in subscriber.subscribe("subscription { quiet }"):
        assert event["quiet"] == 0
        break
    assert [event["count"] for event in subscriber.subscribe(COUNT, {"to": 2})] == [0, 1]


def test_concurrent_subscriptions(subscriber: Client) -> None:
    """Of one client, each with its own events."""
    streams = [iter(subscriber.subscribe(COUNT, {"to": 3})) for _ in range(3)]
    assert [[next(stream)["count"] for stream in streams] for _ in range(3)] == [
        [number] * 3 for number in range(3)
    ]


def test_a_broken_subscription(subscriber: Client, offer: Offer) -> None:
    """Earlier events are returned, then the server's reason is raised, if it has one."""
    found = []
    told = ""
    try:
        for event in subscriber.subscribe("subscription { breaks }", reconnect=0):
            if event.errors:
                told += str(event.errors)
            else:
                found.append(event["breaks"])
    except GqlnbError as error:
        told += str(error)
    assert found == [0]
    assert "broke" in told


def test_an_invalid_subscription_is_an_error(subscriber: Client) -> None:
    """Whether in a message of the protocol, an event or a status."""
    with pytest.raises(QueryError, match=r"cuont"):
        list(subscriber.subscribe("subscription { cuont(to: 1) }", reconnect=0))


def test_an_invalid_variable_is_an_error(subscriber: Client) -> None:
    """The error has its name."""
    with pytest.raises(QueryError, match=r"to"):
        list(subscriber.subscribe(COUNT, {"to": "many"}, reconnect=0))


def test_apollo_has_no_subscriptions(shared_server: Callable[[str], ServerProcess]) -> None:
    """Subscribing raises an error that names the cause."""
    client = Client(shared_server("apollo").url)
    with pytest.raises(GqlnbError, match=r"subscription|server-sent events"):
        list(client.subscribe(COUNT, {"to": 1}, reconnect=0))


def test_a_query_during_a_subscription(subscriber: Client, offer: Offer) -> None:
    """By the same client."""
    stream = iter(subscriber.subscribe("subscription { quiet }"))
    assert next(stream)["quiet"] == 0
    if offer.path != "events":
        assert subscriber.execute("{ hello }").data == {"hello": "Hello world!"}
    stream.close()
