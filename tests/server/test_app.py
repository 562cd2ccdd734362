"""The ASGI application as a host sees it: messages in, messages out."""

from __future__ import annotations

import asyncio
import json

import pytest
from graphql import parse

from gqlnb.engine.schema import Schema, reference_schema
from gqlnb.errors import AuthError, ServerError
from gqlnb.server.app import App
from gqlnb.token import Token

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


def test_a_body_is_put_together_from_its_parts(app):
    """However a body is cut, the answer is the same."""
    whole = Host(part(HELLO)).run(app)
    cut = Host(*(part(HELLO[i : i + 1], more=True) for i in range(len(HELLO))), part()).run(app)
    assert whole.sent == cut.sent
    assert json.loads(whole.body) == {"data": {"hello": "Hello world!"}}
    assert whole.headers[b"content-length"] == str(len(whole.body)).encode()


def test_reading_stops_at_the_limit(app):
    """Of a body without end no more is kept than the limit and one message."""
    chunk = part(b"x" * 2**19, more=True)
    host = Host(chunk, chunk, chunk, *[chunk] * 5, part()).run(app)
    assert (host.status, host.headers[b"connection"]) == (400, b"close")
    assert "too large" in json.loads(host.body)["errors"][0]["message"]
    assert host.waiting == []  # the rest was read and dropped, so that the client reads the answer
    assert host.sent[-1] == {"type": "http.response.body", "body": b"", "more_body": False}


def test_a_refusal_does_not_wait_for_the_body(app):
    """A head that is refused is answered before a byte of the body is asked for."""
    host = Host()
    host.receive = None  # asking for the body would fail
    length = [(b"content-length", b"0")]
    host.run(app, path="/other", headers=[*HEADERS, *length])
    assert host.status == 404


def test_a_client_that_leaves_gets_nothing(app):
    """A half-sent body that ends in a disconnect is dropped."""
    assert Host(part(HELLO[:5], more=True), {"type": "http.disconnect"}).run(app).sent == []
    assert app.running == 0


def test_the_connection_is_not_closed_in_http_2(app):
    """HTTP/2 knows no Connection header."""
    headers = [*HEADERS, (b"content-length", b"9")]
    host = Host(part(b"x" * 9)).run(app, http_version="2", path="/other", headers=headers)
    assert b"connection" not in host.headers


@pytest.mark.parametrize(
    ("path", "status"), [("/api/graphql", 200), ("/graphql", 200), ("/apigraphql", 404)]
)
def test_it_can_be_mounted(app, path, status):
    """Below a mount point the path counts from there."""
    assert Host(part(HELLO)).run(app, root_path="/api", path=path).status == status


def test_lifespan_is_followed(app):
    """Startup and shutdown are acknowledged."""
    host = Host({"type": "lifespan.startup"}, {"type": "lifespan.shutdown"})
    host.run(app, type="lifespan")
    assert [message["type"] for message in host.sent] == [
        "lifespan.startup.complete",
        "lifespan.shutdown.complete",
    ]


def test_websockets_are_refused(app):
    """Closing before accepting is 403."""
    host = Host({"type": "websocket.connect"}).run(app, type="websocket")
    assert host.sent == [{"type": "websocket.close", "code": 1008}]


def test_the_schema_can_be_swapped(app):
    """The next request is answered by the new schema."""
    app.schema = Schema(
        "type Query { hello: String }", {"Query": {"hello": lambda *_: "Hello again!"}}
    )
    assert repr(app.schema) == "Schema(query: hello)"
    assert b"Hello again!" in Host(part(HELLO)).run(app).body


def test_becoming_another_takes_its_rules_too():
    """With the schema the token is taken over."""
    app = App(reference_schema())
    app.become(App(reference_schema(), token=Token("open-sesame")))
    assert Host(part(HELLO)).run(app).status == 401


def test_the_page_can_be_left_out():
    """Without the page, a browser is refused as anybody else."""
    headers = [*HEADERS, (b"accept", b"text/html")]
    app = App(reference_schema(), page=False)
    assert Host().run(app, method="GET", headers=headers).status == 405


@pytest.mark.parametrize(
    "wrong", [parse("type Query { hello: String }"), Schema, "type Query { a: Int }", None]
)
def test_only_a_schema_is_served(wrong):
    """What is no schema object is refused at once, with what would be right."""
    with pytest.raises(ServerError, match=r"Only a gqlnb\.Schema can be served; got "):
        App(wrong)


@pytest.mark.parametrize(
    ("header", "url"), [(None, "https://a.example"), (b"x", "https://b.example")]
)
def test_a_401_leads_where_the_application_says(header, url):
    """Its two addresses, for a missing token and for a wrong one, can be given."""
    documentation = ("https://a.example", "https://b.example")
    app = App(reference_schema(), token=Token("open-sesame"), documentation=documentation)
    sent = [(b"authorization", header)] if header else []
    host = Host(part(HELLO)).run(app, headers=[*HEADERS, *sent])
    assert (host.status, json.loads(host.body)["documentation_url"]) == (401, url)


def test_a_literal_token_is_refused():
    """A token typed into a cell would be saved with the notebook."""
    with pytest.raises(AuthError) as caught:
        App(reference_schema(), token="open-sesame")
    assert "sesame" not in str(caught.value)
