"""The ASGI application as a host sees it: messages in, messages out."""

from __future__ import annotations

import asyncio
import json

import pytest
from graphql import parse

from gqlnb.engine.schema import Schema, reference_schema
from gqlnb.errors import ServerError
from gqlnb.http.handler import encode_response
from gqlnb.http.server_rules import Access
from gqlnb.limits import Limits
from gqlnb.server.app import App
from gqlnb.server.scheduling import NEEDED_RUNS

HEADERS = [(b"host", b"localhost"), (b"content-type", b"application/json")]
SCOPE = {
    "type": "http",
    "asgi": {"version": "3.0"},
    "http_version": "1.1",
    "method": "POST",
    "path": "/graphql",
    "query_string": b"",
    "root_path": "",
    "headers": HEADERS,
}
HELLO = b'{"query":"{ hello }"}'


class Host:
    """What a host does: it hands messages in, and keeps what is sent."""

    def __init__(self, *messages):
        self.waiting = list(messages)
        self.sent = []

    async def receive(self):
        """Hand in the next message."""
        return self.waiting.pop(0)

    async def send(self, message):
        """Keep a message."""
        self.sent.append(message)

    def run(self, app, **scope):
        """Let an application answer, and return this host."""
        asyncio.run(app(SCOPE | scope, self.receive, self.send))
        return self

    @property
    def status(self):
        """The status sent."""
        return self.sent[0]["status"]

    @property
    def headers(self):
        """The headers sent."""
        return dict(self.sent[0]["headers"])

    @property
    def body(self):
        """The whole body sent."""
        return b"".join(message["body"] for message in self.sent[1:])


def part(body=b"", *, more=False):
    """Return one message of a body."""
    return {"type": "http.request", "body": body, "more_body": more}


@pytest.fixture
def app():
    """Return the reference schema as an application."""
    return App(reference_schema())


def test_reading_stops_at_the_limit(app):
    """An endless body is buffered up to the limit plus one message."""
    chunk = part(b"x" * 2**19, more=True)
    host = Host(chunk, chunk, chunk, *[chunk] * 5, part()).run(app)
    assert (host.status, host.headers[b"connection"]) == (400, b"close")
    assert "too large" in json.loads(host.body)["errors"][0]["message"]
    assert host.waiting == []  # the rest was read and dropped, so that the client reads the answer
    assert host.sent[-1] == {"type": "http.response.body", "body": b"", "more_body": False}


def test_a_disconnected_client_gets_no_response(app):
    """A half-sent body followed by a disconnect is dropped."""
    assert Host(part(HELLO[:5], more=True), {"type": "http.disconnect"}).run(app).sent == []
    assert app.running_requests == 0


@pytest.mark.parametrize("accept", [b"application/json", b"text/event-stream"])
@pytest.mark.parametrize("log", [True, False])
def test_a_client_that_leaves_during_the_response_is_no_failure(accept, log):
    """Some hosts raise an OSError from `send` then."""

    class BrokenHost(Host):
        async def send(self, message):
            msg = "the client has gone"
            raise ConnectionResetError(msg)

    app = App(reference_schema(), access=Access(log=log))
    BrokenHost(part(HELLO)).run(app, headers=[*HEADERS, (b"accept", accept)])


def test_the_connection_is_not_closed_in_http_2(app):
    """HTTP/2 knows no Connection header."""
    headers = [*HEADERS, (b"content-length", b"9")]
    host = Host(part(b"x" * 9)).run(app, http_version="2", path="/other", headers=headers)
    assert b"connection" not in host.headers


def test_lifespan_events_are_acknowledged(app):
    """Startup and shutdown complete."""
    host = Host({"type": "lifespan.startup"}, {"type": "lifespan.shutdown"})
    host.run(app, type="lifespan")
    assert [message["type"] for message in host.sent] == [
        "lifespan.startup.complete",
        "lifespan.shutdown.complete",
    ]


@pytest.mark.parametrize(
    ("path", "status"), [("/api/graphql", 200), ("/graphql", 200), ("/apigraphql", 404)]
)
def test_the_app_can_be_mounted(app, path, status):
    """Paths are relative to the mount point."""
    assert Host(part(HELLO)).run(app, root_path="/api", path=path).status == status


def test_websockets_are_rejected(app):
    """Closing before accepting gives 403."""
    host = Host({"type": "websocket.connect"}).run(app, type="websocket")
    assert host.sent == [{"type": "websocket.close", "code": 1008}]


@pytest.mark.parametrize(
    "wrong", [parse("type Query { hello: String }"), Schema, "type Query { a: Int }", None]
)
def test_only_a_schema_is_served(wrong):
    """Any other object is rejected immediately, and the error names the accepted types."""
    with pytest.raises(ServerError, match=r"Only a gqlnb\.Schema can be served; got "):
        App(wrong)


class Dripping(Host):
    """A host whose client sends a byte now and then, and never the last one."""

    def __init__(self, *messages):
        super().__init__(*messages)
        self.drips = 0

    async def receive(self):
        """Hand in what there is, then one byte after the other."""
        if self.waiting:
            return self.waiting.pop(0)
        self.drips += 1
        if self.sent:  # the answer has come: the client goes
            return {"type": "http.disconnect"}
        await asyncio.sleep(0.01)
        return part(b" ", more=True)


@pytest.mark.parametrize("messages", [(), (part(HELLO[:9], more=True),)])
def test_a_slowly_sent_body_gets_408(messages):
    """The deadline covers the whole body; the connection is closed, and it is logged."""
    app = App(reference_schema(), limits=Limits(body_seconds=0.05))
    host = Dripping(*messages).run(app)
    assert (host.status, host.headers[b"connection"]) == (408, b"close")
    assert json.loads(host.body)["errors"][0]["message"] == (
        "The body was not received within 0.05 seconds."
    )
    assert host.drips > 1
    assert list(app.request_log.build_frame()["status"]) == [408]


@pytest.mark.parametrize(
    ("limits", "size", "status"),
    [(Limits(body=100), 100, 200), (Limits(body=100), 101, 400), (Limits(body=None), 2**21, 200)],
)
def test_the_body_limit_can_be_set(limits, size, status):
    """In bytes, or None for no limit."""
    body = HELLO + b" " * (size - len(HELLO))
    cut = [part(body[i : i + 2**16], more=True) for i in range(0, size, 2**16)]
    assert Host(*cut, part()).run(App(reference_schema(), limits=limits)).status == status


@pytest.mark.parametrize(
    "scope",
    [
        {"headers": [*HEADERS, (b"x-long", b"x" * 2**14)]},
        {"headers": [*HEADERS, *[(b"x-%d" % n, b"") for n in range(2000)]]},
        {"path": "/" + "x" * 2**14},
        {"query_string": b"x" * 2**14},
    ],
)
def test_a_large_head_gets_431(app, scope):
    """The limit covers every part of the head, under every host."""
    assert Host(part(HELLO)).run(app, **scope).status == 431
    unlimited = App(reference_schema(), limits=Limits(head=None))
    assert Host(part(HELLO)).run(unlimited, **scope).status in {200, 404}


def test_a_trailing_slash_is_explained_in_the_404(app):
    """The message has the address without it."""
    host = Host(part(HELLO)).run(app, path="/graphql/")
    assert host.status == 404
    assert json.loads(host.body)["errors"][0]["message"] == (
        "The endpoint is /graphql, without a slash at the end."
    )


def test_a_204_response_has_no_content_length():
    """204 has none by definition (RFC 9110, 8.6)."""
    app = App(reference_schema(), access=Access(origins="http://localhost:5173"))
    first = [(b"origin", b"http://localhost:5173"), (b"access-control-request-method", b"POST")]
    host = Host().run(app, method="OPTIONS", headers=[*HEADERS, *first])
    assert host.status == 204
    assert b"content-length" not in host.headers
    assert host.body == b""


def test_additional_host_names_can_be_allowed():
    """The names of this machine remain allowed."""
    app = App(reference_schema(), access=Access(hosts=["Lab.Example"]))
    allowed = (b"lab.example", b"lab.example:80", b"LAB.example:8443", b"localhost")
    for name in (
        *allowed,
        b"evil.example",
        b"lab.example.evil.example",
        b"xlab.example",
        b"example",
    ):
        headers = [(b"host", name), HEADERS[1]]
        assert Host(part(HELLO)).run(app, headers=headers).status == (
            200 if name in allowed else 403
        )


def test_the_loop_turns_between_large_responses(monkeypatch):
    """Their encoding holds up all other requests, although they were executed together."""
    monkeypatch.setattr("gqlnb.server.app.PART_BYTES", 100)
    turn, encoded = 0, []

    def encode(*args):
        encoded.append(turn)
        return encode_response(*args)

    monkeypatch.setattr("gqlnb.http.handler.encode_response", encode)
    app = App(Schema("type Query { text: String }", {"Query": {"text": lambda *_: "x" * 200}}))
    request = {"type": "http.request", "body": b'{"query":"{ text }"}', "more_body": False}

    async def ask():
        host = Host(request)
        await app(SCOPE, host.receive, host.send)
        assert host.status == 200

    async def ask_often():
        def tick():
            nonlocal turn
            turn += 1
            asyncio.get_running_loop().call_soon(tick)

        for _ in range(2 * NEEDED_RUNS):
            await ask()
        tick()
        encoded.clear()
        await asyncio.gather(*(ask() for _ in range(5)))

    asyncio.run(ask_often())
    assert len(encoded) == len(set(encoded)) == 5


def test_the_loop_turns_while_a_long_response_is_encoded():
    """Small requests need not wait for all of it."""
    rows, turns = [{"text": "x" * 2**20}] * 40, []

    async def resolve_rows(*_):
        turns.clear()
        return rows

    schema = Schema(
        "type Query { rows: [Row] } type Row { text: String }", {"Query": {"rows": resolve_rows}}
    )
    host = Host(part(b'{"query":"{ rows { text } }"}'))

    async def turn():
        while not host.sent:
            turns.append(len(host.sent))
            await asyncio.sleep(0)

    async def answer():
        await asyncio.gather(App(schema)(SCOPE, host.receive, host.send), turn())

    asyncio.run(answer())
    assert len(turns) > 15
    assert json.loads(host.body)["data"] == {"rows": rows}
