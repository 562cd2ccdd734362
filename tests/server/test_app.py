"""The ASGI application as a host sees it: messages in, messages out."""

from __future__ import annotations

import asyncio
import json
import threading

import pytest
from graphql import parse

from gqlnb.auth import Token
from gqlnb.document.limits import Limits
from gqlnb.engine.schema import Schema, reference_schema
from gqlnb.errors import AuthError, ServerError
from gqlnb.http.server_rules import Access
from gqlnb.server.app import App

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
    assert app.running_requests == 0


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
    app.switch_to(App(reference_schema(), token=Token("open-sesame")))
    assert Host(part(HELLO)).run(app).status == 401


def test_the_page_can_be_left_out():
    """Without the page, a browser is refused as anybody else."""
    headers = [*HEADERS, (b"accept", b"text/html")]
    app = App(reference_schema(), access=Access(page=False))
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
def test_a_body_that_drips_is_408(messages):
    """However steadily it comes, it has a deadline; the connection is closed."""
    host = Dripping(*messages).run(App(reference_schema(), limits=Limits(body_seconds=0.05)))
    assert (host.status, host.headers[b"connection"]) == (408, b"close")
    assert json.loads(host.body)["errors"][0]["message"] == (
        "The body was not received within 0.05 seconds."
    )
    assert host.drips > 1


def test_a_body_that_never_comes_is_408():
    """A head without anything after it does not keep anybody."""
    host = Host()

    async def receive():
        if host.sent:
            return {"type": "http.disconnect"}
        return await asyncio.Event().wait()

    host.receive = receive
    host.run(App(reference_schema(), limits=Limits(body_seconds=0.05)))
    assert host.status == 408


def test_a_refusal_for_time_is_in_the_journal():
    """Whoever serves sees who was too slow."""
    app = App(reference_schema(), limits=Limits(body_seconds=0.05))
    Dripping().run(app)
    assert list(app.request_log.build_frame()["status"]) == [408]


@pytest.mark.parametrize(
    ("limits", "size", "status"),
    [
        (Limits(body=100), 100, 200),
        (Limits(body=100), 101, 400),
        (Limits(body=None), 2**21, 200),
    ],
)
def test_the_limit_of_a_body_can_be_set(limits, size, status):
    """In bytes, or none at all."""
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
def test_a_large_head_is_431(app, scope):
    """Whatever is long in it, under every host; none is without a limit."""
    assert Host(part(HELLO)).run(app, **scope).status == 431
    unlimited = App(reference_schema(), limits=Limits(head=None))
    assert Host(part(HELLO)).run(unlimited, **scope).status in {200, 404}


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("http://localhost:4000/graphql", 200),
        ("http://evil.example/graphql", 403),
        ("http://localhost", 404),
        ("*", 404),
        ("", 404),
        ("//graphql", 404),
        ("/graphql/../graphql", 404),
        ("/graphql;x", 404),
        ("/graphql\x00", 404),
        ("/" + "%" * 9000, 404),
    ],
)
def test_targets_of_every_form_are_read(app, path, status):
    """The absolute form counts with its own host, and what is no path of ours is 404."""
    assert Host(part(HELLO)).run(app, path=path).status == status


def test_a_slash_at_the_end_is_pointed_out(app):
    """The answer says what is wrong with the address."""
    host = Host(part(HELLO)).run(app, path="/graphql/")
    assert host.status == 404
    assert json.loads(host.body)["errors"][0]["message"] == (
        "The endpoint is /graphql, without a slash at the end."
    )


def test_a_query_by_get_needs_no_body():
    """No byte of a body is asked for."""
    app = App(reference_schema(), access=Access(get=True))
    host = Host(part())
    host.run(app, method="GET", query_string=b"query=%7Bhello%7D", headers=HEADERS[:1])
    assert json.loads(host.body) == {"data": {"hello": "Hello world!"}}


def test_an_answer_without_a_body_has_no_length():
    """204 has none by definition (RFC 9110, 8.6)."""
    app = App(reference_schema(), access=Access(origins="http://localhost:5173"))
    first = [(b"origin", b"http://localhost:5173"), (b"access-control-request-method", b"POST")]
    host = Host().run(app, method="OPTIONS", headers=[*HEADERS, *first])
    assert host.status == 204
    assert b"content-length" not in host.headers
    assert host.body == b""


def test_other_names_of_the_host_can_be_let_in():
    """Those of this machine stay."""
    app = App(reference_schema(), access=Access(hosts=["lab.example"]))
    for name, status in ((b"lab.example:80", 200), (b"localhost", 200), (b"evil.example", 403)):
        headers = [(b"host", name), HEADERS[1]]
        assert Host(part(HELLO)).run(app, headers=headers).status == status


def test_what_it_lets_through_can_be_read():
    """Its limits and its access are those that were given, or the defaults."""
    app = App(reference_schema())
    assert (app.limits, app.access) == (Limits(), Access())
    app.switch_to(App(reference_schema(), limits=Limits(depth=3), access=Access(get=True)))
    assert (app.limits, app.access) == (Limits(depth=3), Access(get=True))


def test_an_operation_that_hangs_is_answered():
    """The resolver hangs on, in a thread of its own."""
    gate = threading.Event()
    schema = Schema("type Query { hangs: Int }", {"Query": {"hangs": lambda *_: gate.wait(20)}})
    host = Host(part(b'{"query":"{ hangs }"}')).run(App(schema, limits=Limits(seconds=0.05)))
    gate.set()
    assert (host.status, json.loads(host.body)["data"]) == (200, None)


def test_a_literal_token_is_refused():
    """A token typed into a cell would be saved with the notebook."""
    with pytest.raises(AuthError) as caught:
        App(reference_schema(), token="open-sesame")
    assert "sesame" not in str(caught.value)
