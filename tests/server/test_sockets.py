"""The server over real sockets: what clients send, and what others do."""

from __future__ import annotations

import json
import re
import sys
import threading

import pytest
import requests

from gqlnb.auth import Token
from gqlnb.document.limits import Limits
from gqlnb.engine.schema import Schema, reference_schema
from gqlnb.http.server_rules import Access
from gqlnb.server import scheduling
from gqlnb.server.background_server import serve

HELLO = {"query": "{ hello }"}
ANSWER = {"data": {"hello": "Hello world!"}}


@pytest.fixture(params=["uvloop", "asyncio"], autouse=True)
def loop(request, monkeypatch):
    """Run each test on both event loops."""
    if request.param == "asyncio":
        monkeypatch.setitem(sys.modules, "uvloop", None)
    else:
        pytest.importorskip("uvloop")


def test_a_query_and_a_mutation_by_post(server):
    """The specified request gets the specified answer."""
    response = requests.post(server.url, json=HELLO, timeout=20)
    assert (response.status_code, response.json()) == (200, ANSWER)
    assert response.headers["content-type"] == "application/json; charset=utf-8"
    assert "date" in response.headers
    assert "server" not in response.headers
    response = requests.post(server.url, json={"query": "mutation { count }"}, timeout=20)
    assert response.json() == {"data": {"count": 1}}


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE"])
def test_other_methods_are_405(server, method):
    """Every other method is refused with Allow and, where a body may be, JSON."""
    response = requests.request(method, server.url, timeout=20)
    assert (response.status_code, response.headers["allow"]) == (405, "POST")
    assert method == "HEAD" or response.json()["errors"]


def test_other_paths_are_404(server):
    """Nothing else is served, in JSON."""
    response = requests.post(server.url.replace("/graphql", "/"), json=HELLO, timeout=20)
    assert (response.status_code, list(response.json())) == (404, ["errors"])


def test_a_token_is_asked_for(schema):
    """With a token, only who sends it is answered."""
    with serve(schema, port=0, token=Token("open-sesame")) as server:
        refused = requests.post(server.url, json=HELLO, timeout=20)
        headers = {"Authorization": "token open-sesame"}
        allowed = requests.post(server.url, json=HELLO, headers=headers, timeout=20)
    assert (refused.status_code, allowed.json()) == (401, ANSWER)
    assert {"message", "documentation_url"} <= set(refused.json())


def test_a_browser_gets_the_page_and_its_assets(server):
    """The links of the page lead to the assets."""
    page = requests.get(server.url, headers={"Accept": "text/html"}, timeout=20)
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    names = re.findall('"graphql/assets/([^"]+)"', page.text)
    assert len(names) >= 3
    for name in names:
        asset = requests.get(f"{server.url}/assets/{name}", timeout=20)
        assert (asset.status_code, asset.headers["x-content-type-options"]) == (200, "nosniff")


def test_a_connection_is_kept(wire):
    """Several requests go over one connection, also byte by byte and all at once."""
    one = wire()
    for _ in range(3):
        one.post()
        assert one.answer()[0] == 200
    one.post()
    one.post()
    assert [json.loads(one.answer()[2]) for _ in range(2)] == [ANSWER] * 2


def test_a_request_may_come_byte_by_byte(wire):
    """However slowly it comes, the answer is the same."""
    one = wire()
    body = json.dumps(HELLO).encode()
    head = b"POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    for byte in head + b"Content-Length: %d\r\n\r\n" % len(body) + body:
        one.send(bytes([byte]))
    assert json.loads(one.answer()[2]) == ANSWER


def test_a_chunked_body_is_read(wire):
    """A body without a length is put together from its chunks."""
    one = wire()
    head = b"POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    body = json.dumps(HELLO).encode()
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in body)
    one.send(head + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n")
    assert json.loads(one.answer()[2]) == ANSWER


def test_a_large_body_gets_an_answer_instead_of_a_reset(server):
    """Announced or not, 16 MiB are refused with a response that the client can read."""

    def pieces():
        yield from [b"x" * 2**20] * 16

    headers = {"Content-Type": "application/json"}
    for body in (b"x" * 2**24, pieces()):
        response = requests.post(server.url, data=body, headers=headers, timeout=20)
        assert response.status_code == 400
        assert "too large" in response.json()["errors"][0]["message"]


def test_a_refusal_comes_before_the_body(wire):
    """Who announces too much, or waits for 100 Continue in vain, is answered by the head alone."""
    one = wire()
    one.post(b"", b"Expect: 100-continue", length=2**30)
    status, headers, _ = one.answer()
    assert (status, headers["connection"]) == (400, "close")


def test_100_continue_is_sent_where_the_body_is_wanted(wire):
    """A client that asks first is told to go on."""
    one, body = wire(), json.dumps(HELLO).encode()
    one.post(b"", b"Expect: 100-continue", length=len(body))
    assert one.head()[0] == 100
    one.send(body)
    assert json.loads(one.answer()[2]) == ANSWER


def test_a_foreign_host_is_refused(server):
    """A name that someone's DNS leads here is not served (DNS rebinding)."""
    response = requests.post(server.url, json=HELLO, headers={"Host": "evil.example"}, timeout=20)
    assert (response.status_code, list(response.json())) == (403, ["errors"])


def test_a_foreign_origin_is_refused_without_cors(server):
    """A page of another origin may not ask, and no answer carries a CORS header."""
    response = requests.post(
        server.url, json=HELLO, headers={"Origin": "http://evil.example"}, timeout=20
    )
    assert response.status_code == 403
    assert not [name for name in response.headers if name.startswith("access-control")]


def test_a_websocket_is_refused(wire, capfd):
    """Where there is nothing to subscribe to, it is refused, and nothing is printed about it."""
    one = wire()
    one.send(
        b"GET /graphql HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    status, headers, body = one.answer()
    assert (status, list(json.loads(body))) == (403, ["errors"])
    assert headers["connection"] == "close"
    assert one.closed()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("target", "version", "host", "status"),
    [
        (b"/%67raphql", b"1.1", b"Host: localhost\r\n", 200),
        (b"http://localhost/graphql", b"1.1", b"Host: localhost\r\n", 200),
        (b"/graphql/", b"1.1", b"Host: localhost\r\n", 404),
        (b"/graphql%2F", b"1.1", b"Host: localhost\r\n", 404),
        (b"/graphql%3Fa=1", b"1.1", b"Host: localhost\r\n", 404),
        (b"/graphql?a=1", b"1.1", b"Host: localhost\r\n", 200),
        (b"/" + b"x" * 9000, b"1.1", b"Host: localhost\r\n", 404),
        (b"/graphql", b"1.0", b"Host: localhost\r\n", 200),
        (b"/graphql", b"1.0", b"", 400),
        (b"/graphql", b"1.1", b"Host: localhost\r\nHost: evil.example\r\n", 400),
    ],
)
def test_targets_and_hosts_of_every_form(wire, target, version, host, status):
    """What may be written in several ways is read, what is not ours is refused in JSON."""
    one = wire()
    body = json.dumps(HELLO).encode()
    head = b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
    one.send(b"POST %b HTTP/%b\r\n%b%b%b" % (target, version, host, head, body))
    found, headers, answer = one.answer()
    assert found == status
    assert json.loads(answer) == ANSWER if status == 200 else json.loads(answer)["errors"]
    assert headers["x-content-type-options"] == "nosniff"


def test_a_page_that_is_named_is_let_in(schema):
    """Its preflight and its request are answered with its name, nobody else's are."""
    with serve(schema, port=0, access=Access(origins=["http://localhost:5173"])) as server:

        def ask(method, origin, **more):
            headers = {"Origin": origin, "Access-Control-Request-Method": "POST"}
            return requests.request(method, server.url, headers=headers, timeout=20, **more)

        for origin, first, second in (
            ("http://localhost:5173", 204, 200),
            ("http://localhost:51733", 403, 403),
        ):
            preflight, asked = ask("OPTIONS", origin), ask("POST", origin, json=HELLO)
            assert (preflight.status_code, asked.status_code) == (first, second)
            allowed = {one.headers.get("access-control-allow-origin") for one in (preflight, asked)}
            assert allowed == ({origin} if second == 200 else {None})
        assert (preflight.headers["vary"], asked.headers["vary"]) == ("Origin", "Origin")


def test_a_query_by_get_where_it_is_switched_on(schema):
    """Queries are answered, mutations are 405, and the connection goes on."""
    with serve(schema, port=0, access=Access(get=True)) as server, requests.Session() as session:
        asked = session.get(server.url, params={"query": "{ hello }"}, timeout=20)
        assert (asked.status_code, asked.json()) == (200, ANSWER)
        refused = session.get(server.url, params={"query": "mutation { count }"}, timeout=20)
        assert (refused.status_code, refused.headers["allow"]) == (405, "POST")
        assert session.post(server.url, json=HELLO, timeout=20).json() == ANSWER


def test_resolvers_that_hang_do_not_keep_others_waiting(schema, gate):
    """As many as there are threads hang, and the next request is answered before they are."""
    with serve(schema, port=0, limits=Limits(seconds=2.0)) as server:

        def hang(answers):
            slow = requests.post(server.url, json={"query": "{ wait }"}, timeout=20)
            answers.append(slow.json())

        answers = []
        threads = [
            threading.Thread(target=hang, args=[answers])
            for _ in range(scheduling.MAX_BUSY_THREADS + 5)
        ]
        for thread in threads:
            thread.start()
        assert gate.entered.wait(20)
        assert requests.post(server.url, json=HELLO, timeout=20).json() == ANSWER
        for thread in threads:
            thread.join(20)
    assert len(answers) == scheduling.MAX_BUSY_THREADS + 5
    assert all(answer["data"] is None and answer["errors"] for answer in answers)


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 3,
        b"hello\r\n\r\n",
        b"POST /graphql HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        b"POST /graphql HTTP/1.1\r\nHost : localhost\r\n\r\n",
        b"POST /graphql HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
)
def test_what_is_not_http_harms_nobody(server, wire, garbage, capfd):
    """Garbage is refused or cut off, in silence, and the next request is answered."""
    one = wire()
    one.send(garbage)
    first = one.sock.recv(12)
    assert first in {b"", b"HTTP/1.1 400"}
    assert requests.post(server.url, json=HELLO, timeout=20).json() == ANSWER
    assert capfd.readouterr() == ("", "")


def test_plain_resolvers_run_in_workers_and_async_ones_on_the_loop(server):
    """An async resolver is awaited on the server's own loop, not on anybody else's."""
    answer = requests.post(server.url, json={"query": "{ later hello }"}, timeout=20).json()
    assert answer["data"]["later"] == f"gqlnb-server-{server.port}"


def test_a_slow_resolver_delays_nobody(server, gate):
    """While one request waits, others are answered."""
    answers = []
    thread = threading.Thread(
        target=lambda: answers.append(
            requests.post(server.url, json={"query": "{ wait }"}, timeout=20).json()
        )
    )
    thread.start()
    assert gate.entered.wait(20)
    assert requests.post(server.url, json=HELLO, timeout=20).json() == ANSWER
    gate.open.set()
    thread.join(20)
    assert answers == [{"data": {"wait": "open"}}]


def test_exit_in_a_resolver_ends_nothing():
    """Neither a plain nor an async resolver can end the server or its thread."""

    async def leave(*_):
        sys.exit(3)

    def plain(*_):
        sys.exit(3)

    schema = Schema(
        "type Query { hello: String plain: String a: String b: String }",
        {"Query": {"hello": lambda *_: "Hello world!", "plain": plain, "a": leave, "b": leave}},
    )
    with serve(schema, port=0) as server:
        for query in ("{ plain }", "{ a }", "{ a b }"):
            response = requests.post(server.url, json={"query": query}, timeout=20)
            assert response.status_code == 500
        assert requests.post(server.url, json=HELLO, timeout=20).json() == ANSWER


def test_many_clients_at_once_get_their_own_answers():
    """A hundred requests from ten threads are not mixed up."""
    schema = Schema(
        "type Query { echo(n: Int!): Int }",
        {"Query": {"echo": lambda _root, args, _context: args["n"]}},
    )

    def ask(numbers, found):
        with requests.Session() as session:
            for n in numbers:
                wanted = {"query": "query ($n: Int!) { echo(n: $n) }", "variables": {"n": n}}
                found[n] = session.post(server.url, json=wanted, timeout=20).json()["data"]["echo"]

    found = {}
    with serve(schema, port=0) as server:
        threads = [threading.Thread(target=ask, args=(range(k, 100, 10), found)) for k in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
    assert found == {n: n for n in range(100)}


def test_the_reference_schema_says_hello():
    """The reference schema answers over HTTP as it does in process."""
    with serve(reference_schema(), port=0) as server:
        assert requests.post(server.url, json=HELLO, timeout=20).json() == ANSWER
