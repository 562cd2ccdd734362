"""Subscriptions over real sockets: cut, slow, silent, refused, interrupted, and hostile."""

from __future__ import annotations

import asyncio
import json
import logging
import signal
import socket
import sys
import threading
import traceback
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import pytest
from websockets.sync.server import serve as ws_serve

from gqlnb import (
    AnswerError,
    AuthError,
    Client,
    GqlnbError,
    Limits,
    OptionError,
    QueryError,
    RateLimited,
    Schema,
    TargetError,
    Token,
    TransportError,
    reference_schema,
    serve,
)
from gqlnb.client.events import Reading
from gqlnb.server.app import App
from tests.client.faults import Close, Endpoint, answer, chunked, endless, json_answer, stalled
from tests.client.relays import Relay

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PATIENCE = 20.0  # seconds until a test gives up; nothing waits that long unless it is broken
CANARY = "cAnary/Zx9+81=qq_77"
SUBSCRIPTION = "subscription { ticks }"
BOTH = pytest.mark.parametrize("way", ["ws", "sse"])
SDL = """
type Query { hello: String }
type Subscription { ticks: Int flood(size: Int = 262144): Chunk }
type Chunk { number: Int text: String }
"""


@pytest.fixture(autouse=True)
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait a thousandth of what would be waited before subscribing again."""
    monkeypatch.setattr("gqlnb.client.subscriptions.FIRST", 0.0005)


class Ticker:
    """A schema whose ticks the test makes, and which counts what it has sent."""

    def __init__(self) -> None:
        self.open, self.begun, self.made = 0, 0, 0
        self.changed = threading.Condition()
        own = {"ticks": self.ticks, "flood": self.flood}
        hello = {"hello": lambda *_: "Hello world!"}
        self.schema = Schema(SDL, {"Query": hello, "Subscription": own})

    @contextmanager
    def one(self) -> Iterator[None]:
        """Count one subscription while it is open."""
        with self.changed:
            self.open += 1
            self.begun += 1
            self.changed.notify_all()
        try:
            yield
        finally:
            with self.changed:
                self.open -= 1
                self.changed.notify_all()

    def until(self, true: Callable[[], bool]) -> bool:
        """Wait until something is true of it."""
        with self.changed:
            return self.changed.wait_for(true, PATIENCE)

    async def ticks(self, root: Any, args: Any, context: Any) -> Any:
        """Yield the number of this subscription twice, and wait for ever."""
        with self.one():
            number = self.begun
            yield number
            yield number
            await asyncio.Event().wait()

    async def flood(self, root: Any, args: Any, context: Any) -> Any:
        """Yield as fast as it is taken."""
        with self.one():
            text = "x" * args["size"]
            while True:
                self.made += 1
                yield {"number": self.made, "text": text}


@pytest.fixture
def ticker() -> Ticker:
    """Return what is subscribed to."""
    return Ticker()


@pytest.fixture
def url(ticker: Ticker) -> Iterator[str]:
    """Yield the address of a real server."""
    with serve(ticker.schema, port=0) as server:
        yield server.url


@pytest.fixture
def relay(url: str) -> Iterator[Relay]:
    """Yield a relay in front of the server."""
    with Relay(url) as made:
        yield made


def ours() -> set[threading.Thread]:
    """Return the threads that a subscription may have begun."""
    return {t for t in threading.enumerate() if t.name.startswith(("gqlnb-aside", "asyncio"))}


def functions(frame: Any) -> set[str]:
    """Return what runs in a thread, in files of the package."""
    found = set()
    while frame is not None:
        if frame.f_code.co_filename.endswith("gqlnb/runtime.py"):
            found.add(frame.f_code.co_name)
        frame = frame.f_back
    return found


def until_it_breaks(stream: Any) -> None:
    """Take results in a thread of its own."""
    with suppress(GqlnbError):
        for _ in stream:
            pass


# ---------------------------------------------------------------- connections that break


@BOTH
def test_a_connection_cut_in_the_middle_is_subscribed_again(ticker, relay, way, caplog):
    """The results go on; the log and the count say that some may be missing."""
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


@BOTH
def test_without_reconnecting_it_is_an_error(relay, way):
    """`reconnect=0`: the one result came, and the break is told."""
    stream = Client(relay.url).subscribe(SUBSCRIPTION, transport=way, reconnect=0)
    assert next(stream)["ticks"] == 1
    next(stream)
    relay.cut()
    with pytest.raises(TransportError) as caught:
        next(stream)
    assert caught.value.broken


@BOTH
def test_attempts_in_a_row_end(relay, way):
    """An endpoint that has gone for good is given up, and it is said how often it was tried."""
    stream = Client(relay.url).subscribe(SUBSCRIPTION, transport=way, reconnect=3)
    next(stream), next(stream)
    relay.deafen()
    relay.cut()
    with pytest.raises(TransportError, match="Tried 3 times in a row to subscribe again"):
        next(stream)


@BOTH
def test_a_server_that_starts_anew_is_found_again(ticker, way, monkeypatch):
    """Nobody is there for a while, and it was there before."""
    monkeypatch.setattr("gqlnb.client.subscriptions.LONGEST", 0.01)
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


@BOTH
def test_nobody_there_at_first_is_an_error_at_once(way):
    """Only what was open once is opened again."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(TransportError, match=r"Nothing listens there\.$"):
        list(Client(f"http://127.0.0.1:{port}/graphql").subscribe(SUBSCRIPTION, transport=way))


def test_who_does_not_answer_pings_is_given_up(relay, monkeypatch):
    """A line that is dead without having been closed."""
    monkeypatch.setattr("gqlnb.client.websocket.SILENCE", 0.1)
    stream = Client(relay.url).subscribe(SUBSCRIPTION, transport="ws", reconnect=0)
    next(stream), next(stream)
    relay.flowing.clear()
    with pytest.raises(TransportError, match="it does not answer any more"):
        next(stream)


def test_who_answers_pings_is_waited_for(ticker, relay, monkeypatch):
    """Silence alone is no reason to leave."""
    monkeypatch.setattr("gqlnb.client.websocket.SILENCE", 0.2)
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


def test_a_stream_of_events_watches_its_peer():
    """The system asks whether it is there; where it is not, that is a connection that broke."""
    with Endpoint(stalled(HEAD + b"event: next\n")) as endpoint:
        reading = Reading(Client(endpoint.url)._transport, b"{}", PATIENCE)
        assert reading.begin() is None
        assert reading._call.line.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        assert reading.more() == []
        reading._call.until = 0.0  # as the system's own timeout, it is a TimeoutError
        error = reading.more()
        assert error.broken
        assert "nobody is there any more" in str(error)
        reading.close()


def test_a_person_who_waits_is_told_once(relay, monkeypatch, capsys):
    """In a notebook, or at a terminal."""
    monkeypatch.setattr("gqlnb.client.subscriptions.watched", lambda: True)
    stream = Client(relay.url).subscribe(SUBSCRIPTION, transport="sse")
    for number in (1, 2, 3):
        assert [next(stream)["ticks"], next(stream)["ticks"]] == [number, number]
        relay.cut()
    stream.close()
    said = capsys.readouterr().err
    assert said.count("events in between are missing. Interrupt to stop.") == 1


def test_the_waits_grow_and_end():
    """Between half and all of a step that doubles."""
    from gqlnb.client import subscriptions

    subscriptions.FIRST = 0.5  # the fixture gives back what it had
    waits = [subscriptions.backoff(tried, lambda: 0.999) for tried in (1, 2, 3, 9, 99)]
    assert waits == pytest.approx([0.5, 1, 2, 30, 30], rel=0.01)
    assert subscriptions.backoff(1, lambda: 0.0) == 0.25


# ---------------------------------------------------------------- slow consumers


@BOTH
def test_a_slow_consumer_slows_the_endpoint_and_loses_nothing(ticker, url, way):
    """The source stands still while nobody takes its events, and goes on in order."""
    client = Client(url, limits=Limits(answer=2**20))
    with client.subscribe("subscription { flood { number text } }", transport=way) as stream:
        first = next(stream)["flood"]["number"]
        for _ in range(30):  # time in which a source that is not slowed would make hundreds
            client.execute("{ hello }")
        held = ticker.made
        assert held < 200
        found = [next(stream)["flood"]["number"] for _ in range(held + 20)]
    assert [first, *found] == list(range(1, held + 22))


# ---------------------------------------------------------------- interrupts and threads


@BOTH
def test_an_interrupt_while_waiting_leaves_everything_well(ticker, url, way):
    """The source ends, no thread is left, and the client answers the next question."""
    before = ours()
    client = Client(url)
    stream = client.subscribe(SUBSCRIPTION, transport=way)

    main = threading.main_thread().ident
    done = threading.Event()

    def interrupt() -> None:
        while "run" not in functions(sys._current_frames()[main]):
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


@BOTH
def test_a_stream_that_is_dropped_ends(ticker, url, way):
    """Nobody has to close what nobody has."""
    stream = Client(url).subscribe(SUBSCRIPTION, transport=way)
    next(stream)
    del stream
    assert ticker.until(lambda: not ticker.open)


@BOTH
def test_many_at_once(ticker, url, way):
    """Each has a connection of its own."""
    client = Client(url)
    streams = [client.subscribe(SUBSCRIPTION, transport=way) for _ in range(8)]
    assert sorted(next(stream)["ticks"] for stream in streams) == list(range(1, 9))
    assert ticker.open == 8
    for stream in streams:
        stream.close()
    assert ticker.until(lambda: not ticker.open)


# ---------------------------------------------------------------- which way


def test_the_way_is_found_once(url, monkeypatch):
    """A WebSocket if there is one."""
    client = Client(url)
    next(client.subscribe(SUBSCRIPTION))
    assert client._transport.way == "ws"


EVENTS = {"Content_Type": "text/event-stream"}
STREAM = b'event: next\ndata: {"data": {"ticks": 1}}\n\nevent: complete\ndata:\n\n'


@pytest.mark.parametrize(
    "refusal",
    [
        answer("no", "404 Not Found"),
        answer("no", "405 Method Not Allowed"),
        answer("no", "400 Bad Request"),
        answer("<html>", "200 OK"),
        Close(b"SSH-2.0-x\r\n"),
        answer("", "302 Found", Location="http://127.0.0.1:1/"),
    ],
    ids=["404", "405", "400", "page", "no http", "redirect"],
)
def test_events_are_taken_where_there_is_no_websocket(refusal):
    """Whatever the endpoint says to the handshake."""
    with Endpoint(Close(refusal if isinstance(refusal, bytes) else refusal.data)) as endpoint:
        endpoint.answers = [Close(getattr(refusal, "data", refusal)), answer(STREAM, **EVENTS)]
        client = Client(endpoint.url)
        assert [result["ticks"] for result in client.subscribe(SUBSCRIPTION)] == [1]
        assert [result["ticks"] for result in client.subscribe(SUBSCRIPTION)] == [1]
        assert endpoint.requests[0].startswith(b"GET /graphql")
        assert [r.split(b" ")[0] for r in endpoint.requests[1:]] == [b"POST", b"POST"]


def test_where_there_is_neither_it_is_said():
    """With what the endpoint answered."""
    with Endpoint(answer("Not here", "404 Not Found", Content_Type="text/plain")) as endpoint:
        client = Client(endpoint.url)
        with pytest.raises(TransportError, match=r"404.*Not here.*neither a WebSocket"):
            list(client.subscribe(SUBSCRIPTION))
        with pytest.raises(TransportError, match=r"no WebSocket is opened there \(HTTP 404\)"):
            list(client.subscribe(SUBSCRIPTION, transport="ws"))


@pytest.mark.parametrize("way", [None, "ws", "sse"])
@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (json_answer({"message": "Bad credentials"}, "401 Unauthorized"), AuthError),
        (json_answer({"message": "Slow down"}, "429 Too Many", Retry_After=7), RateLimited),
        (json_answer({"errors": [{"message": "no"}]}, "503 Busy"), TransportError),
    ],
    ids=["401", "429", "503"],
)
def test_a_refusal_is_the_error_it_is_elsewhere(way, said, kind):
    """To a handshake as to a request."""
    with Endpoint(said) as endpoint, pytest.raises(kind) as caught:
        list(Client(endpoint.url).subscribe(SUBSCRIPTION, transport=way, reconnect=0))
    assert type(caught.value) is kind


def test_an_error_of_the_request_is_the_error_it_is_elsewhere():
    """An endpoint may answer with JSON instead of events."""
    errors = {"errors": [{"message": "Cannot subscribe", "locations": [{"line": 1, "column": 3}]}]}
    with (
        Endpoint(json_answer(errors, "400 Bad Request")) as endpoint,
        pytest.raises(QueryError, match="Cannot subscribe"),
    ):
        list(Client(endpoint.url).subscribe(SUBSCRIPTION, transport="sse"))


def test_an_address_may_be_that_of_a_websocket(ticker, url):
    """`ws://` says the same host and port."""
    client = Client(url.replace("http:", "ws:"))
    assert client.source == url
    assert next(client.subscribe(SUBSCRIPTION))["ticks"] == 1
    assert client.execute("{ hello }")["hello"] == "Hello world!"


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"transport": "smoke"}, OptionError, "transport= takes 'ws', 'sse' or None"),
        ({"reconnect": -1}, OptionError, "reconnect= takes a number of attempts"),
        ({"reconnect": True}, OptionError, "reconnect= takes a number of attempts"),
        ({"init": "Bearer x"}, OptionError, "init= takes True or a mapping"),
        ({"init": {"a": "env:NOT_THERE"}}, AuthError, "NOT_THERE is not set"),
    ],
)
def test_an_option_that_cannot_be_is_refused_at_once(options, kind, words):
    """Before anything is sent."""
    client = Client("http://127.0.0.1:1/graphql")
    with pytest.raises(kind, match=words):
        client.subscribe(SUBSCRIPTION, **options)


def test_a_transport_of_ones_own_carries_no_subscriptions():
    """It is said, not tried."""

    class Own:
        source = "own"

        def send(self, request): ...

        async def asend(self, request): ...

        def close(self): ...

    with pytest.raises(TargetError, match="carries single answers"):
        Client(Own()).subscribe(SUBSCRIPTION)


# ---------------------------------------------------------------- deadlines


@pytest.mark.parametrize(
    ("way", "said"),
    [
        ("ws", stalled(b"")),
        ("ws", stalled(b"HTTP/1.1 101 Switching")),
        ("sse", stalled(b"")),
        ("sse", stalled(b"HTTP/1.1 200 OK\r\n")),
    ],
    ids=["ws silent", "ws half", "sse silent", "sse half"],
)
def test_the_deadline_is_for_being_let_in(way, said):
    """An endpoint that never answers."""
    with Endpoint(said) as endpoint, pytest.raises(TransportError, match=r"within|in time"):
        list(Client(endpoint.url, timeout=0.1).subscribe(SUBSCRIPTION, transport=way))


@BOTH
def test_the_deadline_is_not_for_the_stream(ticker, relay, way):
    """Events may come long after it: it is over before the third one is asked for."""
    stream = Client(relay.url, timeout=0.3).subscribe(SUBSCRIPTION, transport=way, reconnect=0)
    next(stream), next(stream)
    waiting = threading.Thread(target=until_it_breaks, args=(stream,))
    waiting.start()
    waiting.join(0.5)  # nothing happens: that is what is tested
    assert waiting.is_alive()
    assert ticker.open == 1
    relay.cut()
    waiting.join(PATIENCE)
    assert not waiting.is_alive()


# ---------------------------------------------------------------- hostile endpoints


@contextmanager
def speaking(talk: Callable[[Any], None], **options: Any) -> Iterator[str]:
    """Yield the address of a WebSocket server that talks as a test tells it to."""
    options = {"subprotocols": ["graphql-transport-ws"], "compression": None} | options

    def handle(link: Any) -> None:
        with suppress(Exception):
            talk(link)

    with ws_serve(handle, "127.0.0.1", 0, **options) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.socket.getsockname()[1]}/graphql"
        server.shutdown()
        thread.join(PATIENCE)


def greeted(*messages: str | bytes) -> Callable[[Any], None]:
    """Return a talk that lets a client in, and then sends messages."""

    def talk(link: Any) -> None:
        link.recv()
        link.send('{"type":"connection_ack"}')
        link.recv()
        for message in messages:
            link.send(message)
        link.recv(timeout=PATIENCE)

    return talk


NEXT = '{"id":"1","type":"next","payload":{"data":{"ticks":1}}}'


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "{",
        "[]",
        "null",
        '{"type":5}',
        '{"id":"1"}',
        '{"type":"data","id":"1","payload":{}}',
        '{"type":"connection_ack"}',
        '{"type":"next","payload":{"data":{}}}',
        '{"type":"next","id":"2","payload":{"data":{}}}',
        '{"type":"next","id":"1"}',
        '{"type":"complete","id":"2"}',
        '{"type":"' + "x" * 500 + '"}',
        '{"type":"next","id":' + "[" * 5000 + "}",
        b'{"type":"next"}',
        b"\xff",
    ],
    ids=lambda bad: str(bad)[:30],
)
def test_what_is_no_message_is_an_error_after_the_results(bad):
    """It says what is wrong, shortly, and subscribes to it no more."""
    with speaking(greeted(NEXT, bad)) as url:
        stream = Client(url).subscribe(SUBSCRIPTION, transport="ws")
        assert next(stream)["ticks"] == 1
        with pytest.raises(AnswerError) as caught:
            next(stream)
        assert len(str(caught.value)) < 400
        assert stream.reconnects == 0


@pytest.mark.parametrize(
    ("payload", "kind"),
    [
        ("5", AnswerError),
        ("null", AnswerError),
        ("{}", AnswerError),
        ('{"data":5}', AnswerError),
        ('{"data":null}', AnswerError),
        ('{"errors":[{"message":"no"}]}', QueryError),
        ('{"errors":[{"message":"no","extensions":{"code":"UNAUTHENTICATED"}}]}', AuthError),
        ('{"data":{"ticks":NaN}}', AnswerError),
        ('{"data":{"ticks":"\ud83d"}}'.encode("utf-8", "surrogatepass"), AnswerError),
    ],
)
@BOTH
def test_an_event_that_is_no_answer_is_the_error_it_is_elsewhere(way, payload, kind):
    """In either way."""
    text = payload if isinstance(payload, bytes) else payload.encode()
    if way == "sse":
        stream = b"event: next\ndata: " + text + b"\n\nevent: complete\ndata:\n\n"
        with Endpoint(answer(stream, **EVENTS)) as endpoint, pytest.raises(kind):
            list(Client(endpoint.url).subscribe(SUBSCRIPTION, transport=way))
        return
    message = b'{"id":"1","type":"next","payload":' + text + b"}"

    def talk(link: Any) -> None:
        link.recv()
        link.send('{"type":"connection_ack"}')
        link.recv()
        link.send(message, text=True)
        link.recv(timeout=PATIENCE)

    with speaking(talk) as url, pytest.raises(kind):
        list(Client(url).subscribe(SUBSCRIPTION, transport=way))


@pytest.mark.parametrize("payload", ["5", "null", "{}", '"x"', "[5]", "[]"])
def test_an_error_message_of_a_wrong_form_is_an_error(payload):
    """Its payload should be a list of errors."""
    said = '{"id":"1","type":"error","payload":' + payload + "}"
    with speaking(greeted(said)) as url, pytest.raises(AnswerError):
        list(Client(url).subscribe(SUBSCRIPTION, transport="ws"))


def test_an_error_message_is_what_is_wrong_with_the_query():
    """With its place."""
    said = '[{"message":"no such field","locations":[{"line":1,"column":16}]}]'
    with speaking(greeted(NEXT, f'{{"id":"1","type":"error","payload":{said}}}')) as url:
        stream = Client(url).subscribe(SUBSCRIPTION, transport="ws")
        next(stream)
        with pytest.raises(QueryError, match="no such field") as caught:
            next(stream)
    assert caught.value.problems[0].column == 16


@pytest.mark.parametrize(
    ("code", "kind", "words"),
    [
        (4400, TransportError, "did not understand a message"),
        (4401, AuthError, "asks who you are"),
        (4403, AuthError, "refused the connection"),
        (4406, TransportError, "does not speak graphql-transport-ws"),
        (4408, TransportError, "waited in vain"),
        (4409, TransportError, "runs already"),
        (4429, TransportError, "greeted twice"),
        (4500, TransportError, "the endpoint failed"),
        (4450, TransportError, "a reason of its own"),
        (1000, TransportError, "ended before the subscription was complete"),
        (1011, TransportError, "ended before the subscription was complete"),
    ],
)
def test_a_close_code_is_told_in_words(code, kind, words):
    """With the endpoint's own, and the number."""

    def talk(link: Any) -> None:
        link.recv()
        link.close(code, "because of \x1b[31m me")

    with speaking(talk) as url, pytest.raises(kind, match=words) as caught:
        list(Client(url).subscribe(SUBSCRIPTION, transport="ws", reconnect=0))
    assert f"because of [31m me), close code {code}." in str(caught.value)
    assert type(caught.value) is kind


@BOTH
def test_an_event_beyond_the_limit_is_an_error(ticker, url, way):
    """Each event counts by itself."""
    text = "subscription { flood(size: 20000) { number text } }"
    stream = Client(url, limits=Limits(answer=30_000)).subscribe(text, transport=way)
    assert [next(stream)["flood"]["number"] for _ in range(10)] == list(range(1, 11))
    text = "subscription { flood(size: 40000) { number text } }"
    with pytest.raises(GqlnbError, match="is larger than"):
        list(Client(url, limits=Limits(answer=30_000)).subscribe(text, transport=way))
    stream.close()


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"


@pytest.mark.parametrize(
    "said",
    [
        endless(HEAD, b"data: x\n" * 1000),
        endless(HEAD, b"x" * 8000),
        endless(HEAD + b"data: ", b"x" * 8000),
        Close(HEAD + b"event: next\n"),
        Close(HEAD[:40]),
        chunked(b"event: next\n", end=b"-1\r\n", **EVENTS),
        chunked(b"event: next\n", end=b"zz\r\n", **EVENTS),
        answer(b"\x1f\x8b", Content_Encoding="gzip", **EVENTS),
    ],
    ids=["lines", "line", "data", "cut", "head", "length", "chunk", "packed"],
)
def test_a_stream_of_events_that_is_none_ends(said):
    """Without end, cut, or packed."""
    with Endpoint(said) as endpoint:
        client = Client(endpoint.url, limits=Limits(answer=100_000))
        with pytest.raises(GqlnbError):
            list(client.subscribe(SUBSCRIPTION, transport="sse", reconnect=0))


def test_frames_that_are_no_websocket_are_an_error():
    """After a handshake that was one."""

    def talk(link: Any) -> None:
        link.recv()
        link.socket.sendall(b"\x8f\x01x")

    with speaking(talk) as url, pytest.raises(AnswerError, match="no WebSocket"):
        list(Client(url).subscribe(SUBSCRIPTION, transport="ws"))


def test_pings_are_answered():
    """Those of the protocol, before and after it lets us in."""
    heard = []

    def talk(link: Any) -> None:
        link.send('{"type":"ping","payload":{"a":1}}')
        heard.extend([link.recv(), link.recv()])
        link.send('{"type":"connection_ack","payload":{}}')
        heard.append(link.recv())
        link.send('{"type":"ping"}')
        heard.append(link.recv())
        link.send('{"type":"pong"}')
        link.send(NEXT)
        link.send('{"type":"complete","id":"1"}')

    with speaking(talk) as url:
        assert len(list(Client(url).subscribe(SUBSCRIPTION, transport="ws"))) == 1
    kinds = [json.loads(message)["type"] for message in heard]
    assert sorted(kinds) == ["connection_init", "pong", "pong", "subscribe"]


def test_a_server_that_chooses_no_protocol_is_not_spoken_to():
    """It would be another one."""
    words = "do not speak graphql-transport-ws"
    with (
        speaking(greeted(NEXT), subprotocols=None) as url,
        pytest.raises(TransportError, match=words),
    ):
        list(Client(url).subscribe(SUBSCRIPTION, transport="ws"))


# ---------------------------------------------------------------- secrets


def test_the_token_is_in_the_handshake_and_in_the_greeting_only_if_asked():
    """Services look in either place."""
    heard: list[Any] = []

    def talk(link: Any) -> None:
        heard.append((link.request.headers, json.loads(link.recv()).get("payload")))
        link.send('{"type":"connection_ack"}')
        link.send('{"type":"complete","id":"1"}')

    with speaking(talk) as url:
        client = Client(url, token=Token(CANARY), headers={"X-Api-Key": CANARY})
        own = {"headers": {"x-secret": CANARY}, "auth": Token(CANARY, ""), "n": 1}
        for init in (None, True, own):
            assert not list(client.subscribe(SUBSCRIPTION, transport="ws", init=init))
    assert [said["Authorization"] for said, _ in heard] == [f"Bearer {CANARY}"] * 3
    assert {said["X-Api-Key"] for said, _ in heard} == {CANARY}
    assert heard[0][1] is None
    assert heard[1][1] == {"Authorization": f"Bearer {CANARY}", "X-Api-Key": CANARY}
    assert heard[2][1] == {"headers": {"x-secret": CANARY}, "auth": CANARY, "n": 1}


def test_a_server_with_a_token_lets_in_whoever_has_it(ticker):
    """Both ways, and tells the others so."""
    with serve(ticker.schema, port=0, token=Token(CANARY)) as server:
        for way in (None, "ws", "sse"):
            stream = Client(server).subscribe(SUBSCRIPTION, transport=way)
            assert next(stream)["ticks"]
            with pytest.raises(AuthError):
                list(Client(server.url).subscribe(SUBSCRIPTION, transport=way))
            wrong = Client(server.url, token=Token("wrong-one"))
            with pytest.raises(AuthError):
                list(wrong.subscribe(SUBSCRIPTION, transport=way))
            stream.close()


@pytest.mark.parametrize("address", ["ws://api.example/graphql", "http://api.example/graphql"])
def test_a_token_does_not_travel_in_the_clear(address):
    """In the handshake, nor in the greeting."""
    with pytest.raises(AuthError, match="plain http"):
        Client(address, token=Token(CANARY))
    with pytest.raises(AuthError, match="plain http") as caught:
        Client(address).subscribe(SUBSCRIPTION, init={"token": CANARY})
    assert CANARY not in shown(caught.value)


def test_a_token_of_another_endpoint_is_not_sent(url):
    """A Token in `init` belongs to one endpoint too."""
    token = Token(CANARY)
    Client("https://api.example/graphql", token=token)
    with pytest.raises(AuthError, match="is not sent to"):
        Client(url).subscribe(SUBSCRIPTION, init={"token": token})


def shown(error: BaseException) -> str:
    """Return what a traceback with the locals of its frames shows, those of the test apart."""
    steps = traceback.walk_tb(error.__traceback__)
    local = [repr(f.f_locals) for f, _ in steps if f.f_code.co_filename != __file__]
    assert local
    assert error.__cause__ is error.__context__ is None
    return "".join([*local, repr(error), str(error), repr(vars(error))])


ECHO = f"no Bearer {CANARY} here"


def echo_close(link: Any) -> None:
    """Repeat the token as a reason."""
    link.recv()
    link.close(4403, ECHO[:120])


def echo_error(link: Any) -> None:
    """Repeat the token in an error."""
    greeted(f'{{"id":"1","type":"error","payload":[{{"message":"{ECHO}"}}]}}')(link)


def echo_type(link: Any) -> None:
    """Repeat the token as the type of a message."""
    greeted(f'{{"type":"{CANARY}"}}')(link)


def echo_field(link: Any) -> None:
    """Repeat the token in an error of a field, and break."""
    payload = {"data": {"ticks": None}, "errors": [{"message": ECHO}]}
    greeted(json.dumps({"id": "1", "type": "next", "payload": payload}), "{")(link)


@pytest.mark.parametrize("talk", [echo_close, echo_error, echo_type, echo_field])
@pytest.mark.parametrize("place", ["token", "header"])
def test_no_websocket_shows_a_token(talk, place, spelled, capfd, caplog):
    """In errors with the locals of their frames, in results, in logs, whatever it repeats."""
    options = {"token": Token(CANARY)} if place == "token" else {"headers": {"X-Key": CANARY}}
    caplog.set_level(0)
    logging.getLogger("websockets").setLevel(0)
    left = []
    with speaking(talk) as url:
        client = Client(url, **options)
        stream = client.subscribe(SUBSCRIPTION, transport="ws", reconnect=0, init=True)
        try:
            for result in stream:
                left += [repr(result), repr(result.errors), repr(result.response.headers)]
        except GqlnbError as error:
            left += [shown(error), repr(stream), repr(vars(stream))]
        else:
            pytest.fail("nothing went wrong")
    left += [record.getMessage() for record in caplog.records if "server" not in record.name]
    left += capfd.readouterr()
    found = [text for form in spelled(CANARY) for text in left if form in text.encode()]
    assert not found


@pytest.mark.parametrize(
    "said",
    [
        answer(ECHO, "401 Unauthorized"),
        answer(ECHO, "404 Not Found", X_Seen=ECHO),
        answer("", f"500 {CANARY}"),
        answer("", "302 Found", Location=f"http://127.0.0.1:1/{CANARY}"),
        Close(f"{CANARY}\r\n\r\n".encode()),
        Close(f"HTTP/1.1 101 Ok\r\n{CANARY}\r\n\r\n".encode()),
        Close(f"HTTP/1.1 101 Ok\r\nSec-WebSocket-Protocol: {CANARY}\r\n\r\n".encode()),
        Close(),
    ],
    ids=["401", "404", "500", "302", "no http", "bad head", "bad protocol", "closed"],
)
@pytest.mark.parametrize("way", [None, "ws", "sse"])
def test_no_refused_handshake_shows_a_token(said, way, spelled, capfd, caplog):
    """Whatever the endpoint repeats of it."""
    caplog.set_level(0)
    with Endpoint(said) as endpoint:
        client = Client(endpoint.url, token=Token(CANARY))
        with pytest.raises(GqlnbError) as caught:
            list(client.subscribe(SUBSCRIPTION, transport=way, reconnect=1))
    left = [shown(caught.value), *capfd.readouterr(), caplog.text]
    assert not [text for form in spelled(CANARY) for text in left if form in text.encode()]
    assert CANARY.encode() in endpoint.requests[0]


def test_a_redirect_of_a_handshake_is_not_followed(ticker, url):
    """Headers would travel along."""
    with Endpoint(answer("", "307 Temporary Redirect", Location=url)) as endpoint:
        client = Client(endpoint.url, headers={"X-Key": CANARY})
        with pytest.raises(TransportError, match="HTTP 307"):
            list(client.subscribe(SUBSCRIPTION, transport="ws"))
    assert ticker.begun == 0


def test_a_proxy_gets_no_token(monkeypatch):
    """It is asked to connect; where it refuses, events are tried, and it refuses those."""
    with Endpoint(answer("", "403 Forbidden")) as proxy:
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{proxy.port}")
        monkeypatch.delenv("no_proxy", raising=False)
        client = Client("https://endpoint.test/graphql", token=Token(CANARY))
        for way in ("ws", None):
            with pytest.raises(TransportError, match="the proxy did not"):
                list(client.subscribe(SUBSCRIPTION, transport=way, reconnect=0))
    assert {request.split(b" HTTP")[0] for request in proxy.requests} == {
        b"CONNECT endpoint.test:443"
    }
    assert not [request for request in proxy.requests if CANARY.encode() in request]


async def raising(scope: Any, receive: Any, send: Any) -> None:
    """Fail with the headers in the message."""
    raise ValueError(scope["headers"])


@pytest.mark.parametrize("way", [None, "ws", "sse"])
def test_an_application_that_fails_shows_no_token(way, spelled):
    """It gets the headers like any other."""
    client = Client(raising, token=Token(CANARY))
    with pytest.raises(TransportError) as caught:
        list(client.subscribe(SUBSCRIPTION, transport=way))
    text = shown(caught.value).encode()
    assert not [form for form in spelled(CANARY) if form in text]


def test_an_application_without_subscriptions_says_so():
    """As over a socket."""
    with pytest.raises(GqlnbError):
        list(Client(App(reference_schema())).subscribe(SUBSCRIPTION))
