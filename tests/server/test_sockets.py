"""The server over real sockets: what clients send, and what others do."""

from __future__ import annotations

import gzip
import json
import re
import sys
import threading

import pytest
import requests

from gqlnb.engine.schema import Schema
from gqlnb.limits import Limits
from gqlnb.server import worker_pool
from gqlnb.server.app import App
from gqlnb.server.background_server import serve

JSON = {"content-type": "application/json"}
HELLO = {"query": "{ hello }"}
ANSWER = {"data": {"hello": "Hello world!"}}


pytestmark = pytest.mark.usefixtures("loop")
# Threads of workers, whatever loop waits for them; it takes seconds.
ON_ONE_LOOP = pytest.mark.parametrize("loop", ["uvloop"], indirect=True)


def test_a_query_and_a_mutation_by_post_return_data(server):
    """The specified request gets the specified response."""
    response = requests.post(server.url, json=HELLO, timeout=20)
    assert (response.status_code, response.json()) == (200, ANSWER)
    assert response.headers["content-type"] == "application/json; charset=utf-8"
    assert "date" in response.headers
    assert "server" not in response.headers
    response = requests.post(server.url, json={"query": "mutation { count }"}, timeout=20)
    assert response.json() == {"data": {"count": 1}}


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE"])
def test_other_methods_get_405(server, method):
    """With Allow and, where a body is permitted, JSON."""
    response = requests.request(method, server.url, timeout=20)
    assert (response.status_code, response.headers["allow"]) == (405, "POST")
    assert method == "HEAD" or response.json()["errors"]


def test_a_query_by_get_is_told_how_to_enable_get(server):
    """Clients such as urql use GET by default."""
    answer = requests.get(server.url, params={"query": "{ hello }"}, timeout=20)
    assert "serve(schema, access=Access(get=True))" in answer.json()["errors"][0]["message"]


def test_a_chunked_body_is_decoded(wire):
    """Its chunks are joined."""
    one = wire()
    head = b"POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    body = json.dumps(HELLO).encode()
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in body)
    one.send(head + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n")
    assert json.loads(one.answer()[2]) == ANSWER


def test_a_large_body_gets_a_response_instead_of_a_reset(server):
    """The client can read the error, for 16 MiB with and without Content-Length."""

    def pieces():
        yield from [b"x" * 2**20] * 16

    headers = {"Content-Type": "application/json"}
    for body in (b"x" * 2**24, pieces()):
        response = requests.post(server.url, data=body, headers=headers, timeout=20)
        assert response.status_code == 400
        assert "too large" in response.json()["errors"][0]["message"]


def test_a_request_can_be_rejected_before_its_body(wire):
    """By Content-Length or Expect, the head alone is enough."""
    one = wire()
    one.post(b"", b"Expect: 100-continue", length=2**30)
    status, headers, _ = one.answer()
    assert (status, headers["connection"]) == (400, "close")


def test_100_continue_is_sent_for_an_acceptable_body(wire):
    """A client with Expect then sends it."""
    one, body = wire(), json.dumps(HELLO).encode()
    one.post(b"", b"Expect: 100-continue", length=len(body))
    assert one.head()[0] == 100
    one.send(body)
    assert json.loads(one.answer()[2]) == ANSWER


def test_100_continue_is_not_sent_to_http_1_0(wire):
    """Its clients take the first status for that of the response."""
    one, body = wire(), json.dumps(HELLO).encode()
    head = b"POST /graphql HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    one.send(head + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    assert json.loads(one.answer()[2]) == ANSWER


def test_a_compressed_body_is_rejected_with_the_reason(server):
    """Rather than with advice on the media type, which is right."""
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    response = requests.post(server.url, data=gzip.compress(b"{}"), headers=headers, timeout=20)
    assert response.status_code == 415
    assert "Content-Encoding: gzip is not supported" in response.json()["errors"][0]["message"]


@pytest.mark.parametrize(
    ("target", "version", "host", "status"),
    [
        (b"/%67raphql", b"1.1", b"Host: localhost\r\n", 200),
        (b"http://localhost/graphql", b"1.1", b"Host: localhost\r\n", 200),
        (b"/graphql%2F", b"1.1", b"Host: localhost\r\n", 404),
        (b"/graphql%3Fa=1", b"1.1", b"Host: localhost\r\n", 404),
        (b"/graphql?a=1", b"1.1", b"Host: localhost\r\n", 200),
        (b"/" + b"x" * 9000, b"1.1", b"Host: localhost\r\n", 404),
        (b"/graphql", b"1.0", b"Host: localhost\r\n", 200),
        (b"/graphql", b"1.0", b"", 400),
        (b"/graphql", b"1.1", b"Host: localhost\r\nHost: evil.example\r\n", 400),
        (b"/graphql", b"1.1", b"Host: localhost \t\r\n", 200),
        (b"http://evil.example/graphql", b"1.1", b"Host: localhost\r\n", 403),
        (b"http://localhost/graphql", b"1.1", b"Host: evil.example\r\n", 200),
        (b"http://user:secret@localhost/graphql", b"1.1", b"Host: localhost\r\n", 400),
        (b"ftp://localhost/graphql", b"1.1", b"Host: localhost\r\n", 404),
        (b"*", b"1.1", b"Host: localhost\r\n", 404),
        (b"/graphql;x", b"1.1", b"Host: localhost\r\n", 404),
    ],
)
def test_every_form_of_target_and_host_is_parsed(wire, target, version, host, status):
    """Foreign ones are rejected with JSON; an absolute target overrides the Host header."""
    one = wire()
    body = json.dumps(HELLO).encode()
    head = b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
    one.send(b"POST %b HTTP/%b\r\n%b%b%b" % (target, version, host, head, body))
    found, headers, answer = one.answer()
    assert found == status
    assert json.loads(answer) == ANSWER if status == 200 else json.loads(answer)["errors"]
    assert headers["x-content-type-options"] == "nosniff"


@ON_ONE_LOOP
def test_hanging_resolvers_do_not_delay_other_requests(schema, gate):
    """With every worker thread hanging, the next request is answered first."""
    with serve(schema, port=0, limits=Limits(seconds=2.0)) as server:

        def hang(answers):
            slow = requests.post(server.url, json={"query": "{ wait }"}, timeout=20)
            answers.append(slow.json())

        answers = []
        threads = [
            threading.Thread(target=hang, args=[answers])
            for _ in range(worker_pool.MAX_BUSY_THREADS + 5)
        ]
        for thread in threads:
            thread.start()
        assert gate.entered.wait(20)
        assert requests.post(server.url, json=HELLO, timeout=20).json() == ANSWER
        for thread in threads:
            thread.join(20)
    assert len(answers) == worker_pool.MAX_BUSY_THREADS + 5
    assert all(answer["data"] is None and answer["errors"] for answer in answers)


def test_invalid_http_does_not_affect_other_clients(server, wire, capfd):
    """It is rejected without output."""
    one = wire()
    one.send(
        b"POST /graphql HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"
    )
    assert one.sock.recv(12) == b"HTTP/1.1 400"
    assert requests.post(server.url, json=HELLO, timeout=20).json() == ANSWER
    assert capfd.readouterr() == ("", "")


def test_plain_resolvers_run_in_workers_and_async_ones_on_the_loop(server):
    """Async resolvers run on the server's own loop."""
    answer = requests.post(server.url, json={"query": "{ later hello }"}, timeout=20).json()
    assert answer["data"]["later"] == f"gqlnb-server-{server.port}"


def test_exit_in_a_resolver_does_not_end_the_server():
    """Tested with plain and async resolvers."""

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


def test_concurrent_clients_get_their_own_responses():
    """A hundred requests from ten threads."""
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


@ON_ONE_LOOP
def test_a_hanging_field_blocks_neither_other_fields_nor_servers(schema, gate, monkeypatch):
    """Further calls of it fail immediately with the reason."""
    monkeypatch.setattr(worker_pool, "MAX_THREADS", 8)
    monkeypatch.setattr(worker_pool, "MAX_BUSY_THREADS", 2)
    with (
        serve(schema, port=0, limits=Limits(seconds=0.5)) as server,
        serve(schema, port=0) as other,
    ):
        refused = None
        for _ in range(20):
            body = b'{"query":"query Slow { wait }"}'
            refused = requests.post(server.url, data=body, headers=JSON, timeout=20)
            if refused.status_code == 503:
                break
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
        message = refused.json()["errors"][0]["message"]
        assert "4 calls of the field 'wait' are still running" in message
        for name in ("a", "b", "c"):
            for one in (server, other):
                query = {"query": f"{{ {name}: hello }}"}
                answer = requests.post(one.url, json=query, timeout=20).json()
                assert answer == {"data": {name: "Hello world!"}}
        assert server.log["status"].iloc[-4] == 503
        hanging = server.hanging
        assert list(hanging["operation"]) == ["Slow"] * len(hanging)
        assert len(hanging) in {3, 4}  # the last may have begun less than a second ago
        assert re.match(r"tests\.server\.conftest\.Gate\.__call__, line \d+", hanging.resolver[0])
        assert (hanging["seconds"] > 1).all()
        assert other.hanging.empty
        gate.open.set()


@ON_ONE_LOOP
def test_a_hanging_resolver_never_moves_to_the_event_loop(schema, gate):
    """An execution stopped before its first resolver does not count as fast."""
    with serve(schema, port=0, limits=Limits(seconds=0.1)) as server:
        execute = server._listener.app._served.execute
        for _ in range(6):
            answer = requests.post(server.url, json={"query": "{ wait }"}, timeout=20).json()
            assert "Execution stopped after 0.1 s" in answer["errors"][0]["message"]
        body = b'{"query":"{ wait }"}'
        stopped = Limits(seconds=1e-9)
        server._listener.app.switch_to(App(schema, limits=stopped))
        for _ in range(6):
            answer = requests.post(server.url, data=body, headers=JSON, timeout=20).json()
            assert "Execution stopped" in answer["errors"][0]["message"]
        assert server._listener.app._served.execute.scheduler.find_known(body) is None
        assert execute.scheduler.find_known(b'{"query": "{ wait }"}') is None
        gate.open.set()


def test_a_resolver_that_closes_its_server_gets_its_response(schema):
    """The server stops after sending it."""
    server = serve(Schema("type Query { close: String }", {"Query": {"close": lambda *_: "x"}}), 0)

    @server._listener.app.schema.resolver("Query.close")
    def close(*_):
        server.close()
        return "closed"

    answer = requests.post(server.url, json={"query": "{ close }"}, timeout=20)
    assert answer.json() == {"data": {"close": "closed"}}
    server.wait()
    assert server.closed
