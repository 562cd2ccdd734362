"""Subscriptions from third-party servers, on uvicorn and in process.

tests/servers/test_subscriptions.py has further ones, and the other ways of Strawberry and Ariadne.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncGenerator
from typing import Any

import pytest
import strawberry
from strawberry.asgi import GraphQL as StrawberryApp
from strawberry.subscriptions import GRAPHQL_WS_PROTOCOL

from gqlnb import AnswerError, AuthError, Client, PartialError, QueryError, Token, TransportError
from tests.asgi import PATIENCE, run_app
from tests.client.relays import Relay
from tests.servers.processes import start_server

ended = threading.Event()


@strawberry.type
class Query:
    """What is asked."""

    hello: str = "Hello world!"


@strawberry.type
class Subscription:
    """What is subscribed to."""

    @strawberry.subscription
    async def count(self, to: int) -> AsyncGenerator[int, None]:
        """Count."""
        for number in range(to):
            yield number

    @strawberry.subscription
    async def quiet(self) -> AsyncGenerator[int, None]:
        """Yield once and wait for ever."""
        try:
            yield 0
            await asyncio.Event().wait()
        finally:
            ended.set()


class Guarded(StrawberryApp):
    """Strawberry as its users ask for a token in ``connection_init``."""

    async def on_ws_connect(self, context: dict[str, Any]) -> Any:
        """Let in whoever has the token."""
        from strawberry.exceptions import ConnectionRejectionError

        if (context["connection_params"] or {}).get("Authorization") != "Bearer abcd1234":
            raise ConnectionRejectionError({"reason": "no token"})
        return await super().on_ws_connect(context)


def apps() -> dict[str, Any]:
    """Return applications by name."""
    schema = strawberry.Schema(Query, subscription=Subscription)
    protocols = ["graphql-transport-ws", "multipart-subscription"]
    return {
        "strawberry": StrawberryApp(schema),
        "strawberry multipart": StrawberryApp(schema, subscription_protocols=protocols),
        "strawberry legacy": StrawberryApp(schema, subscription_protocols=[GRAPHQL_WS_PROTOCOL]),
        "guarded": Guarded(schema),
    }


def transport_ws(**options: Any) -> Any:
    """Run subscriptions-transport-ws, which has the older subprotocol alone."""
    try:
        return start_server("transport-ws", keepAlive=20, **options)
    except LookupError as error:
        pytest.skip(str(error))


WAYS = {
    "strawberry": None,
    "strawberry multipart": "multipart",
    "npm": "ws",
    "npm that chooses": "ws",
}


@pytest.fixture(params=WAYS)
def there(request, monkeypatch):
    """Yield the address of each, how it streams, and a function that waits for the source's end."""
    monkeypatch.setattr("gqlnb.client.subscriptions.FIRST_DELAY", 0.0005)
    ended.clear()
    name, way = request.param, WAYS[request.param]
    if name.startswith("npm"):
        with transport_ws(choose="chooses" in name) as server:
            yield server.url, way, lambda: server.wait_for("quiet ended")
        return
    with run_app(apps()[name]) as url:
        yield url, way, lambda: ended.wait(PATIENCE)


def test_events_arrive_in_order(there):
    """With a given protocol, with a negotiated one, and a second time."""
    url, way, _ = there
    client = Client(url)
    text = "subscription ($to: Int!) { count(to: $to) }"
    for asked in (way, None, way):
        stream = client.subscribe(text, {"to": 50}, transport=asked)
        assert [result["count"] for result in stream] == list(range(50))


def test_leaving_the_loop_stops_the_source(there):
    """As with our own server."""
    url, way, wait_for_end = there
    for result in Client(url).subscribe("subscription { quiet }", transport=way):
        assert result["quiet"] == 0
        break
    assert wait_for_end()


def test_an_invalid_document_is_a_query_error(there):
    """As a protocol message, an event or a status."""
    url, way, _ = there
    stream = Client(url).subscribe("subscription { cuont }", transport=way)
    # Strawberry's multipart has `"data": null` beside the error.
    error = (QueryError, PartialError) if way == "multipart" else QueryError
    with pytest.raises(error, match=r"Cannot query field|cuont"):
        next(stream).raise_for_errors()


def test_a_broken_connection_is_subscribed_again(there):
    """As with our own server."""
    url, way, _ = there
    with (
        Relay(url) as relay,
        Client(relay.url).subscribe("subscription { quiet }", transport=way) as stream,
    ):
        assert next(stream)["quiet"] == 0
        relay.cut()
        assert next(stream)["quiet"] == 0
        assert stream.reconnects == 1


def test_an_application_may_answer_without_headers():
    """ASGI makes them optional; such an answer is not a stream."""

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 418})
        await send({"type": "http.response.body", "body": b"no tea here"})

    with pytest.raises(TransportError, match="418"):
        list(Client(app).subscribe("subscription { count(to: 1) }", transport="sse"))


def test_a_token_in_the_init_message_is_accepted():
    """Without it, the error states the remedy."""
    with run_app(apps()["guarded"]) as url:
        client = Client(url, token=Token("abcd1234"))
        text = "subscription { count(to: 2) }"
        found = [result["count"] for result in client.subscribe(text, transport="ws", init=True)]
        assert found == [0, 1]
        with pytest.raises(AuthError, match="init=True"):
            list(client.subscribe(text, transport="ws"))


def test_an_unsupported_protocol_is_reported():
    """Strawberry has WebSockets and multipart."""
    with (
        run_app(apps()["strawberry"]) as url,
        pytest.raises(AnswerError, match="a single JSON response"),
    ):
        list(Client(url).subscribe("subscription { quiet }", transport="sse", reconnect=0))


@pytest.mark.parametrize("name", ["strawberry", "strawberry legacy"])
def test_in_process_applications_are_supported(name):
    """Without a socket."""
    stream = Client(apps()[name]).subscribe(
        "subscription { count(to: 3) }", transport=None if name == "strawberry" else "ws"
    )
    assert [json.dumps(result.data) for result in stream] == [f'{{"count": {n}}}' for n in range(3)]
