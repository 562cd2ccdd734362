"""Subscriptions over real sockets: broken, slow, interrupted, unreferenced and parallel ones."""

from __future__ import annotations

import logging
import signal
import socket
import sys
import threading

import pytest

from gqlnb import Client, Limits, TransportError, serve
from gqlnb.client.event_streams import StreamedAnswer
from tests.client.faults import Endpoint, stalled
from tests.client.subscriptions.tickers import (
    EACH,
    HEAD,
    PATIENCE,
    SUBSCRIPTION,
    functions,
    ours,
    until_it_breaks,
)


@EACH
def test_a_broken_connection_is_subscribed_again(ticker, relay, way, caplog):
    """The results continue; the log and the count say that some may be missing."""
    with Client(relay.url).subscribe(SUBSCRIPTION, transport=way) as stream:
        assert [next(stream)["ticks"], next(stream)["ticks"]] == [1, 1]
        assert stream.reconnects == 0
        with caplog.at_level(logging.WARNING, "gqlnb"):
            relay.cut()
            assert next(stream)["ticks"] == 2
        assert stream.reconnects == 1
        assert next(stream)["ticks"] == 2
        relay.cut()
        assert next(stream)["ticks"] == 3
        assert stream.reconnects == 2
    assert "events in between are missing" in caplog.text
    assert ticker.until(lambda: not ticker.open)


@EACH
def test_a_broken_connection_without_reconnecting_is_an_error(relay, way):
    """`reconnect=0`: one result arrives, then the error reports the break."""
    stream = Client(relay.url).subscribe(SUBSCRIPTION, transport=way, reconnect=0)
    assert next(stream)["ticks"] == 1
    next(stream)
    relay.cut()
    with pytest.raises(TransportError) as caught:
        next(stream)
    assert caught.value.broken


@EACH
def test_reconnecting_gives_up_after_consecutive_failures(relay, way):
    """The error states the number of attempts."""
    stream = Client(relay.url).subscribe(SUBSCRIPTION, transport=way, reconnect=3)
    next(stream), next(stream)
    relay.deafen()
    relay.cut()
    with pytest.raises(TransportError, match="Tried 3 times in a row to subscribe again"):
        next(stream)


@EACH
def test_the_client_reconnects_to_a_restarted_server(ticker, way, monkeypatch):
    """The port is closed for a while before the server listens again."""
    monkeypatch.setattr("gqlnb.client.subscriptions.MAX_DELAY", 0.01)
    with serve(ticker.schema, port=0) as server:
        stream = Client(server.url).subscribe(SUBSCRIPTION, transport=way, reconnect=10**6)
        assert [next(stream)["ticks"], next(stream)["ticks"]] == [1, 1]
    found = []
    waiting = threading.Thread(target=lambda: found.append(next(stream)["ticks"]))
    waiting.start()
    assert ticker.until(lambda: not ticker.open)
    with serve(ticker.schema, port=server.port):
        waiting.join(PATIENCE)
        assert found == [2]
        assert stream.reconnects == 1
        stream.close()


@EACH
def test_a_failed_first_connection_is_an_immediate_error(way):
    """Only a connection that was open before is opened again."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(TransportError, match=r"Nothing listens there\.$"):
        list(Client(f"http://127.0.0.1:{port}/graphql").subscribe(SUBSCRIPTION, transport=way))


def test_a_server_that_ignores_pings_is_disconnected(relay, monkeypatch):
    """The connection is dead without having been closed."""
    monkeypatch.setattr("gqlnb.client.websocket_client.PING_AFTER", 0.1)
    stream = Client(relay.url).subscribe(SUBSCRIPTION, transport="ws", reconnect=0)
    next(stream), next(stream)
    relay.flowing.clear()
    with pytest.raises(TransportError, match="it does not answer any more"):
        next(stream)


def test_a_silent_server_that_answers_pings_stays_connected(ticker, relay, monkeypatch):
    """Silence alone does not end the connection."""
    monkeypatch.setattr("gqlnb.client.websocket_client.PING_AFTER", 0.2)
    pongs = threading.Semaphore(0)
    from websockets.asyncio.client import ClientConnection

    ping = ClientConnection.ping

    async def counted(self, *given):
        pongs.release()
        return await ping(self, *given)

    monkeypatch.setattr(ClientConnection, "ping", counted)
    stream = Client(relay.url).subscribe(SUBSCRIPTION, transport="ws", reconnect=0)
    next(stream), next(stream)
    waiting = threading.Thread(target=until_it_breaks, args=(stream,))
    waiting.start()
    for _ in range(3):
        assert pongs.acquire(timeout=PATIENCE)
    assert waiting.is_alive()
    assert ticker.open == 1
    relay.cut()
    waiting.join(PATIENCE)
    assert not waiting.is_alive()


def test_event_streams_use_tcp_keepalive():
    """A peer that does not answer the probes counts as a broken connection."""
    with Endpoint(stalled(HEAD + b"event: next\n")) as endpoint:
        reading = StreamedAnswer(Client(endpoint.url)._endpoint.transport, b"{}", PATIENCE, "", {})
        assert reading.begin_stream() is None
        assert reading._call.socket.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        assert reading.read_more() == []
        reading._call.deadline = 0.0  # as the system's own timeout, it is a TimeoutError
        error = reading.read_more()
        assert error.broken
        assert "stopped responding" in str(error)
        reading.close()


def test_reconnecting_is_announced_once_to_interactive_users(relay, monkeypatch, capsys):
    """In a notebook, or at a terminal."""
    monkeypatch.setattr("gqlnb.client.subscriptions.is_interactive", lambda: True)
    stream = Client(relay.url).subscribe(SUBSCRIPTION, transport="sse")
    for number in (1, 2, 3):
        assert [next(stream)["ticks"], next(stream)["ticks"]] == [number, number]
        relay.cut()
    stream.close()
    said = capsys.readouterr().err
    assert said.count("events in between are missing. Interrupt to stop.") == 1


@EACH
def test_a_slow_consumer_slows_the_endpoint_without_losing_events(ticker, url, way):
    """The source pauses while no event is consumed, and continues in order."""
    client = Client(url, limits=Limits(answer=2**20))
    with client.subscribe("subscription { flood { number text } }", transport=way) as stream:
        first = next(stream)["flood"]["number"]
        for _ in range(30):  # time in which a source that is not slowed would make hundreds
            client.execute("{ hello }")
        held = ticker.made
        assert held < 200
        found = [next(stream)["flood"]["number"] for _ in range(held + 20)]
    assert [first, *found] == list(range(1, held + 22))


@EACH
def test_an_interrupt_while_waiting_releases_all_resources(ticker, url, way):
    """The source ends, no thread is left, and the client can send the next request."""
    before = ours()
    client = Client(url)
    stream = client.subscribe(SUBSCRIPTION, transport=way)

    main = threading.main_thread().ident
    done = threading.Event()

    def interrupt() -> None:
        while "_wait_for_result" not in functions(sys._current_frames()[main]):
            done.wait(0.001)
        signal.pthread_kill(main, signal.SIGINT)

    killer = threading.Thread(target=interrupt)
    next(stream), next(stream)
    killer.start()
    with pytest.raises(KeyboardInterrupt):
        next(stream)
    killer.join(PATIENCE)
    assert ticker.until(lambda: not ticker.open)
    for thread in ours() - before:
        thread.join(PATIENCE)
    assert ours() <= before
    assert client.execute("{ hello }")["hello"] == "Hello world!"
    assert next(client.subscribe(SUBSCRIPTION, transport=way))["ticks"] == 2


@EACH
def test_a_garbage_collected_stream_is_closed(ticker, url, way):
    """An explicit close is not needed."""
    stream = Client(url).subscribe(SUBSCRIPTION, transport=way)
    next(stream)
    del stream
    assert ticker.until(lambda: not ticker.open)
