"""The quick road, and where operations are executed: what was fast before is answered at once."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
import time

import pytest

from gqlnb import Access, Client, Limits, Schema, Token, serve
from gqlnb.document.document import Document
from gqlnb.document.sized_cache import MAX_CACHED_CHARACTERS
from gqlnb.server import scheduling
from gqlnb.server.app import MAX_HEAD_BYTES, MAX_HEADS, App

SDL = """
scalar Any
type Query {
  hello: String where: String slow(seconds: Float!): String later: String any: Any fail: String
  text: String taken(x: Any): String
}
type Mutation { where: String }
"""
LOOP = "gqlnb-server"
OFTEN = 3 * scheduling.NEEDED_RUNS


class Stray(BaseException):
    """Raised by what is written in another language, say."""


def where(*_):
    """Name the thread."""
    return threading.current_thread().name


def slow(_root, args, _context):
    """Sleep."""
    time.sleep(args["seconds"])
    return where()


def build():
    """Return a schema whose answers tell where they were made."""
    query = {"where": where, "slow": slow, "hello": lambda *_: "Hello!"}
    return Schema(SDL, {"Query": query, "Mutation": {"where": where}})


@pytest.fixture
def schema():
    """Return the schema that is served."""
    return build()


@pytest.fixture
def quick(monkeypatch):
    """List what was answered quickly."""
    found = []
    plain = App.answer_from_hot_path

    def quickly(app, head, body):
        answer = plain(app, head, body)
        if answer is not None:
            found.append(answer)
        return answer

    monkeypatch.setattr(App, "answer_from_hot_path", quickly)
    return found


def ask(one, query, *headers, times=1, **members):
    """Ask the same so many times; return the last status, headers and JSON."""
    for _ in range(times):
        one.post(json.dumps({"query": query, **members}).encode(), *headers)
        status, found, body = one.answer()
    return status, found, json.loads(body)


# -- the quick road


def test_fast_and_slow_path_responses_are_equal(wire, quick):
    """Status, headers, body and log entry are compared."""
    one = wire()
    first = ask(one, "{ hello }")
    assert not quick
    last = ask(one, "{ hello }", times=OFTEN)
    assert len(quick) > 1
    assert last == first


@pytest.mark.parametrize(
    "header",
    [
        b"Authorization: Bearer canary",
        b"Cookie: session=canary",
        b"X-Api-Key: canary",
        b"Accept: text/event-stream",
        b"Connection: close, keep-alive",
        b"Expect: nothing",
        b"User-Agent: " + b"x" * MAX_HEAD_BYTES,
    ],
)
def test_an_unusual_head_is_not_cached(server, wire, quick, header):
    """It may contain a secret or request an upgrade."""
    for _ in range(OFTEN):
        one = wire()
        one.post(b'{"query": "{ hello }"}', header)
        one.head()
    assert not quick
    assert not server._listener.app._served.heads


@pytest.mark.parametrize(
    "options", [{"token": Token("canary")}, {"access": Access(origins=["http://a.example"])}]
)
def test_a_token_or_cors_disables_the_fast_path(schema, wire, quick, options):
    """Each request is checked in full."""
    with serve(schema, port=0, **options) as server:
        one = wire(server.port)
        assert ask(one, "{ hello }", b"Authorization: Bearer canary", times=OFTEN)[0] == 200
    assert not quick


def test_the_head_cache_is_bounded(server, wire):
    """Clients that vary their headers do not fill memory."""
    one = wire()
    for number in range(MAX_HEADS + 9):
        ask(one, "{ hello }", b"User-Agent: %d" % number)
    assert len(server._listener.app._served.heads) == MAX_HEADS


def test_a_body_in_its_own_segment_uses_the_fast_path(server, wire, quick):
    """http.client and requests send head and body separately."""
    ask(wire(), "{ hello }", times=OFTEN)
    quick.clear()
    one, before = wire(), server.log.shape[0]
    body = b'{"query": "{ hello }"}'
    for count in range(1, 4):
        one.send(known_head(len(body)))
        one.send(body)
        assert json.loads(one.answer()[2]) == {"data": {"hello": "Hello!"}}
        assert len(quick) == count
    assert server.log.shape[0] == before + 3


def test_a_cached_head_without_its_body_has_the_body_timeout(schema, wire):
    """The connection is not idle; body chunks are joined."""
    with serve(schema, port=0, limits=Limits(body_seconds=0.2, idle_seconds=60)) as server:
        one, body = wire(server.port), b'{"query": "{ hello }"}'
        ask(one, "{ hello }", times=OFTEN)
        for part in (known_head(len(body)), body[:5], body[5:]):
            one.send(part)
        assert json.loads(one.answer()[2]) == {"data": {"hello": "Hello!"}}
        one.send(known_head(len(body)))
        assert one.answer()[0] == 408
        assert one.closed()


def known_head(length):
    """Return the head that `Wire.post` sends."""
    return (
        b"POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: %d\r\n\r\n" % length
    )


def test_a_cached_head_does_not_fix_the_body(wire, quick):
    """The same head bytes with another body are parsed as sent."""
    one = wire()
    ask(one, "{ hello }", times=OFTEN)
    count = len(quick)
    body = json.dumps({"query": "{ hello }"}).encode()
    one.post(body[:-3], length=len(body))
    one.send(body[-3:])
    assert one.answer()[0] == 200
    for _ in range(2):  # two requests in one piece are answered in order
        one.post(body)
    assert [one.answer()[0], one.answer()[0]] == [200, 200]
    assert len(quick) - count <= 2


def test_pipelined_responses_keep_the_request_order(wire):
    """A fast request behind a slow one waits."""
    one = wire()
    ask(one, "{ hello }", times=OFTEN)
    one.post(json.dumps({"query": "{ slow(seconds: 0.2) }"}).encode())
    one.post(json.dumps({"query": "{ hello }"}).encode())
    assert b"slow" in one.answer()[2]
    assert b"Hello!" in one.answer()[2]


def test_a_new_schema_takes_effect_immediately(server, wire, quick):
    """The caches of the old schema are dropped."""
    ask(wire(), "{ hello }", times=OFTEN)
    other = Schema("type Query { hello: String }", {"Query": {"hello": lambda *_: "Other!"}})
    with serve(other, port=server.port):
        assert ask(wire(server.port), "{ hello }")[2] == {"data": {"hello": "Other!"}}
    assert quick


def test_a_replaced_resolver_takes_effect_immediately(schema, wire, quick):
    """It is first executed in a thread."""
    one = wire()
    ask(one, "{ hello }", times=OFTEN)
    schema.resolver("Query.hello")(where)
    assert quick
    count = len(quick)
    assert not ask(one, "{ hello }")[2]["data"]["hello"].startswith(LOOP)
    assert len(quick) == count
    assert ask(one, "{ hello }", times=OFTEN)[2]["data"]["hello"].startswith(LOOP)


def test_errors_are_masked_on_the_fast_path(schema, server, wire, quick):
    """The error id leads to the exception."""
    answers = ["fine"] * OFTEN

    @schema.resolver("Query.fail")
    def fail(*_):
        return answers.pop()

    ask(wire(), "{ fail }", times=OFTEN)
    count = len(quick)
    status, _, members = ask(wire(), "{ fail }")
    assert len(quick) == count  # the executor encodes it
    assert (status, members["data"]) == (200, {"fail": None})
    assert "pop" not in members["errors"][0]["message"]
    assert isinstance(server.error(server.log["error_id"].iloc[-1]), IndexError)


@pytest.mark.parametrize("value", [float("nan"), object(), {1: 2}, "\ud800"])
def test_values_without_a_json_form_become_null_on_both_paths(schema, wire, quick, value):
    """With an error at their path."""
    values = ["fine"] * OFTEN
    field = "text" if isinstance(value, str) else "any"
    schema.resolver(f"Query.{field}")(lambda *_: values.pop() if values else value)
    ask(wire(), f"{{ {field} }}", times=OFTEN)
    count = len(quick)
    _, _, members = ask(wire(), f"{{ {field} }}")
    assert len(quick) == count  # the executor encodes it
    assert members["data"] in ({field: None}, {field: {}})
    assert members["errors"]


def test_an_awaitable_from_a_plain_resolver_is_awaited_once(schema, wire, quick):
    """The resolver is not called a second time."""
    calls = []

    async def late():
        await asyncio.sleep(0.01)
        return "late"

    @schema.resolver("Query.later")
    def later(*_):
        calls.append(1)
        return "soon" if len(calls) <= OFTEN else late()

    ask(wire(), "{ later }", times=OFTEN)
    count = len(quick)
    for number in range(3):
        assert ask(wire(), "{ later }")[2] == {"data": {"later": "late"}}
        assert len(calls) == OFTEN + number + 1
    assert len(quick) == count


# -- where operations are executed


def test_a_fast_query_moves_to_the_event_loop(wire):
    """After a first execution in a thread."""
    one = wire()
    assert ask(one, "{ where }")[2]["data"]["where"].startswith("gqlnb-resolver")
    assert ask(one, "{ where }", times=OFTEN)[2]["data"]["where"].startswith(LOOP)


def test_a_mutation_is_never_executed_on_the_loop(wire):
    """Mutations always run in a thread."""
    found = ask(wire(), "mutation { where }", times=2 * OFTEN)
    assert found[2]["data"]["where"].startswith("gqlnb-resolver")


def test_a_slow_query_never_delays_others(server, wire):
    """Even if it was fast with other variables."""
    query = "query ($s: Float!) { slow(seconds: $s) }"
    one, other = wire(), wire()
    for _ in range(OFTEN):
        assert ask(one, query, variables={"s": 0})[0] == 200
    ask(other, "{ hello }", times=OFTEN)
    one.post(json.dumps({"query": query, "variables": {"s": 1.5}}).encode())
    begun = time.monotonic()
    ask(other, "{ hello }", times=20)
    assert time.monotonic() - begun < 1.4
    assert one.answer()[0] == 200
    assert server.log["status"].eq(200).all()


def test_new_variables_are_executed_in_a_thread_first(wire):
    """However often the same text was fast."""
    one = wire()
    query = "query ($s: Float!) { slow(seconds: $s) where }"
    for number in range(30):
        ask(one, query, times=OFTEN, variables={"s": number * 1e-9})
    found = ask(one, query, variables={"s": 1e-6})
    assert found[2]["data"]["where"].startswith("gqlnb-resolver")


def test_a_blocking_query_is_never_executed_on_the_loop(schema, server, wire):
    """It may call this very server and would deadlock."""
    client = Client(server)
    schema.resolver("Query.text")(lambda *_: client.execute("{ hello }")["hello"])
    for _ in range(2 * OFTEN):
        assert ask(wire(), "{ text }")[2] == {"data": {"text": "Hello!"}}


def test_variables_are_not_shared_between_requests(schema, wire):
    """A resolver that changes them does not affect the next request."""
    schema.resolver("Query.taken")(lambda _root, args, _context: str(args["x"].popitem()))
    body = {"variables": {"x": {"a": [1]}}}
    found = [ask(wire(), "query ($x: Any) { taken(x: $x) }", **body)[2] for _ in range(OFTEN)]
    assert found == [{"data": {"taken": "('a', [1])"}}] * OFTEN


@pytest.mark.parametrize("error", [GeneratorExit, asyncio.CancelledError, Stray])
@pytest.mark.parametrize(("times", "is_async"), [(0, False), (OFTEN, False), (0, True)])
def test_a_base_exception_ends_only_its_request(schema, server, wire, error, times, is_async):
    """On either path, and of async resolvers, it is logged as an internal error with an id."""
    raised = []

    def fail(*_):
        if raised:
            raise error
        return "fine"

    async def fail_later(*_):
        await asyncio.sleep(0)
        return fail()

    schema.resolver("Query.fail")(fail_later if is_async else fail)
    one = wire()
    ask(one, "{ fail }", times=max(1, times))
    raised.append(1)
    status, headers, members = ask(one, "{ fail }")
    assert status == 500
    assert headers["content-type"].startswith("application/json")
    assert "Internal error" in members["errors"][0]["message"]
    assert isinstance(server.error(server.log["error_id"].iloc[-1]).__cause__, error)
    assert ask(one, "{ hello }")[0] == 200


def test_the_query_cache_is_bounded(schema):
    """The oldest entry is evicted, and long requests are not cached."""
    from gqlnb.http.messages import build_request, load_body
    from gqlnb.http.server_rules import ServerRules
    from gqlnb.server.request_executor import RequestExecutor

    execution = RequestExecutor(schema, ServerRules())

    async def fill():
        for number in range(scheduling.MAX_KNOWN_REQUESTS + 9):
            body = b'{"query": "{ a%d: hello }"}' % number
            await execution(build_request(load_body(body), raw=body))
        long = b'{"query": "{ hello }%b"}' % (b" " * scheduling.MAX_KNOWN_BODY)
        await execution(build_request(load_body(long), raw=long))

    asyncio.run(fill())
    kept = execution.scheduler
    assert len(kept._known_requests) == scheduling.MAX_KNOWN_REQUESTS
    assert max(map(len, kept._known_requests)) <= scheduling.MAX_KNOWN_BODY


def test_the_document_cache_is_bounded_in_bytes(schema, wire):
    """Many long texts use no more memory than a few."""
    one = wire()
    for number in range(300):
        ask(one, f"{{ hello }} # {number} {'x' * 2000}", times=2)
    gc.collect()
    kept = [it for it in gc.get_objects() if type(it) is Document and it.schema is schema.graphql]
    assert 0 < len(kept) <= 2 * MAX_CACHED_CHARACTERS / 2000


def test_an_answer_that_cannot_be_encoded_is_an_error_on_the_fast_path(server, wire):
    """A list that nests too deeply: each request gets status 500, and is in the log."""

    def nest(*_):
        made: list[object] = []
        for _ in range(3000):
            made = [made]
        return made

    server.reload(Schema(SDL, {"Query": {"any": nest}}))
    one = wire()
    for _ in range(OFTEN):
        one.post(b'{"query":"{any}"}')
        assert one.answer()[0] == 500
    assert list(server.log["status"]) == [500] * OFTEN


def test_the_log_has_the_time_of_what_fails_on_the_fast_path(server):
    """Also where the executor makes the answer."""
    least = 0.0004

    def fail(*_):
        until = time.perf_counter() + least
        while time.perf_counter() < until:
            pass
        msg = "no"
        raise ValueError(msg)

    server.reload(Schema(SDL, {"Query": {"fail": fail}}))
    client = Client(server.url)
    for _ in range(OFTEN):
        client.execute("{ fail }")
    assert min(server.log["seconds"]) >= least
