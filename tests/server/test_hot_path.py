"""The quick road, and where operations are executed: what was fast before is answered at once."""

from __future__ import annotations

import asyncio
import json
import threading
import time

import pytest

from gqlnb import Access, Client, Schema, Token, serve
from gqlnb.server import scheduling
from gqlnb.server.app import App
from gqlnb.server.hot_path import MAX_HEAD_BYTES, MAX_HEADS
from gqlnb.server.scheduling import Scheduler, SpeedRecord

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
def server(schema):
    """Serve it."""
    with serve(schema, port=0) as made:
        yield made


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


def test_an_answer_is_the_same_on_both_roads(wire, quick):
    """Status, headers and body are, and the log has both."""
    one = wire()
    first = ask(one, "{ hello }")
    assert not quick
    last = ask(one, "{ hello }", times=OFTEN)
    assert len(quick) > 1
    assert last == first


def test_the_log_has_what_was_answered_quickly(server, wire, quick):
    """With operation name, sizes and time."""
    ask(wire(), "query Greeting { hello }", times=OFTEN)
    log = server.log
    assert quick
    assert len(log) == OFTEN
    assert set(log["operation"]) == {"Greeting"}
    assert log["bytes_in"].nunique() == log["bytes_out"].nunique() == 1


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
def test_an_unusual_head_is_not_remembered(server, wire, quick, header):
    """It may hold a secret, or ask for more than an answer."""
    for _ in range(OFTEN):
        one = wire()
        one.post(b'{"query": "{ hello }"}', header)
        one.head()
    assert not quick
    assert not server._listener.app._served.heads._by_bytes


@pytest.mark.parametrize(
    "options", [{"token": Token("canary")}, {"access": Access(origins=["http://a.example"])}]
)
def test_nothing_is_quick_where_every_head_is_to_be_judged(schema, wire, quick, options):
    """A token is compared each time, and an origin gets headers of its own."""
    with serve(schema, port=0, **options) as server:
        one = wire(server.port)
        assert ask(one, "{ hello }", b"Authorization: Bearer canary", times=OFTEN)[0] == 200
    assert not quick


def test_heads_are_few(server, wire):
    """A stranger who never sends the same fills no memory."""
    one = wire()
    for number in range(MAX_HEADS + 9):
        ask(one, "{ hello }", b"User-Agent: %d" % number)
    assert len(server._listener.app._served.heads._by_bytes) == MAX_HEADS


def test_a_length_that_lies_is_read_as_it_is(wire, quick):
    """The bytes of a known head with another body behind them are no known request."""
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


def test_what_is_asked_behind_a_slow_one_waits_for_it(wire):
    """Answers come in the order of the questions."""
    one = wire()
    ask(one, "{ hello }", times=OFTEN)
    one.post(json.dumps({"query": "{ slow(seconds: 0.2) }"}).encode())
    one.post(json.dumps({"query": "{ hello }"}).encode())
    assert b"slow" in one.answer()[2]
    assert b"Hello!" in one.answer()[2]


def test_a_schema_served_anew_answers_at_once(server, wire, quick):
    """Nothing of the old one is remembered."""
    ask(wire(), "{ hello }", times=OFTEN)
    other = Schema("type Query { hello: String }", {"Query": {"hello": lambda *_: "Other!"}})
    with serve(other, port=server.port):
        assert ask(wire(server.port), "{ hello }")[2] == {"data": {"hello": "Other!"}}
    assert quick


def test_a_resolver_put_in_place_answers_at_once(schema, wire, quick):
    """It has proven nothing, so it is executed in a thread first."""
    one = wire()
    ask(one, "{ hello }", times=OFTEN)
    schema.resolver("Query.hello")(where)
    assert quick
    count = len(quick)
    assert not ask(one, "{ hello }")[2]["data"]["hello"].startswith(LOOP)
    assert len(quick) == count
    assert ask(one, "{ hello }", times=OFTEN)[2]["data"]["hello"].startswith(LOOP)


def test_failures_are_masked_on_the_quick_road(schema, server, wire, quick):
    """An id leads to the exception, as on the other."""
    answers = ["fine"] * OFTEN

    @schema.resolver("Query.fail")
    def fail(*_):
        return answers.pop()

    ask(wire(), "{ fail }", times=OFTEN)
    count = len(quick)
    status, _, members = ask(wire(), "{ fail }")
    assert len(quick) == count + 1
    assert (status, members["data"]) == (200, {"fail": None})
    assert "pop" not in members["errors"][0]["message"]
    assert isinstance(server.error(server.log["error_id"].iloc[-1]), IndexError)


def test_an_exit_on_the_quick_road_ends_no_server(schema, wire, quick):
    """It is a fault of ours, with an id."""
    raised = []

    @schema.resolver("Query.fail")
    def fail(*_):
        if raised:
            raise SystemExit(raised)
        return "fine"

    ask(wire(), "{ fail }", times=OFTEN)
    raised.append("canary")
    assert ask(wire(), "{ fail }")[0] == 500
    assert quick[-1][0] == 500
    assert ask(wire(), "{ hello }")[0] == 200


@pytest.mark.parametrize("value", [float("nan"), object(), {1: 2}, "\ud800"])
def test_what_json_cannot_hold_becomes_null_on_both_roads(schema, wire, quick, value):
    """And an error, in its place."""
    values = ["fine"] * OFTEN
    field = "text" if isinstance(value, str) else "any"
    schema.resolver(f"Query.{field}")(lambda *_: values.pop() if values else value)
    ask(wire(), f"{{ {field} }}", times=OFTEN)
    count = len(quick)
    _, _, members = ask(wire(), f"{{ {field} }}")
    assert len(quick) == count + 1
    assert members["data"] in ({field: None}, {field: {}})
    assert members["errors"]


def test_what_comes_to_wait_is_awaited_once(schema, wire, quick):
    """A plain resolver may return something to wait for; it is not called twice for it."""
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


def test_what_was_fast_is_executed_on_the_loop(wire):
    """After it was in a thread."""
    one = wire()
    assert ask(one, "{ where }")[2]["data"]["where"].startswith("gqlnb-worker")
    assert ask(one, "{ where }", times=OFTEN)[2]["data"]["where"].startswith(LOOP)


def test_a_mutation_is_never_executed_on_the_loop(wire):
    """It may wait for anything."""
    found = ask(wire(), "mutation { where }", times=2 * OFTEN)
    assert found[2]["data"]["where"].startswith("gqlnb-worker")


def test_what_is_slow_never_holds_up_others(server, wire):
    """Not even with a text that was fast with other values."""
    query = "query ($s: Float!) { slow(seconds: $s) }"
    one, other = wire(), wire()
    for _ in range(OFTEN):
        assert ask(one, query, variables={"s": 0})[0] == 200
    ask(other, "{ hello }", times=OFTEN)
    one.post(json.dumps({"query": query, "variables": {"s": 0.5}}).encode())
    begun = time.monotonic()
    ask(other, "{ hello }", times=20)
    assert time.monotonic() - begun < 0.4
    assert one.answer()[0] == 200
    assert server.log["status"].eq(200).all()


def test_other_variables_have_proven_nothing(wire):
    """However often the text was fast."""
    one = wire()
    query = "query ($s: Float!) { slow(seconds: $s) where }"
    for number in range(30):
        ask(one, query, times=OFTEN, variables={"s": number * 1e-9})
    found = ask(one, query, variables={"s": 1e-6})
    assert found[2]["data"]["where"].startswith("gqlnb-worker")


def test_what_waits_is_never_executed_on_the_loop(schema, server, wire):
    """It may wait for this very server, and would wait for itself."""
    client = Client(server)
    schema.resolver("Query.text")(lambda *_: client.execute("{ hello }")["hello"])
    for _ in range(2 * OFTEN):
        assert ask(wire(), "{ text }")[2] == {"data": {"text": "Hello!"}}


def test_variables_are_of_one_request_alone(schema, wire):
    """What a resolver does to them, the next one does not see."""
    schema.resolver("Query.taken")(lambda _root, args, _context: str(args["x"].popitem()))
    body = {"variables": {"x": {"a": [1]}}}
    found = [ask(wire(), "query ($x: Any) { taken(x: $x) }", **body)[2] for _ in range(OFTEN)]
    assert found == [{"data": {"taken": "('a', [1])"}}] * OFTEN


@pytest.mark.parametrize("error", [GeneratorExit, asyncio.CancelledError, Stray])
@pytest.mark.parametrize("times", [0, OFTEN])
def test_what_is_no_exception_ends_no_more_than_its_request(schema, server, wire, error, times):
    """On either road it is a fault with an id, and in the log."""
    raised = []

    @schema.resolver("Query.fail")
    def fail(*_):
        if raised:
            raise error
        return "fine"

    one = wire()
    ask(one, "{ fail }", times=max(1, times))
    raised.append(1)
    status, headers, members = ask(one, "{ fail }")
    assert status == 500
    assert headers["content-type"].startswith("application/json")
    assert "Internal error" in members["errors"][0]["message"]
    assert isinstance(server.error(server.log["error_id"].iloc[-1]).__cause__, error)
    assert ask(one, "{ hello }")[0] == 200


@pytest.mark.parametrize("error", [asyncio.CancelledError, Stray])
def test_what_an_async_resolver_raises_ends_no_more_either(schema, server, wire, error):
    """It is awaited on the loop, beside others."""

    @schema.resolver("Query.later")
    async def later(*_):
        await asyncio.sleep(0)
        raise error

    one = wire()
    status, _, members = ask(one, "{ later }")
    assert status == 500
    assert "Internal error" in members["errors"][0]["message"]
    assert isinstance(server.error(server.log["error_id"].iloc[-1]).__cause__, error)
    assert ask(one, "{ hello }")[0] == 200


def test_one_outlier_is_forgiven_and_two_are_not():
    """A busy machine makes anything slow; a very slow one needs no second."""
    proof = SpeedRecord(1)
    proof.fast_runs = 1
    proof.record_loop_run(2 * scheduling.SLOW_SECONDS)
    assert proof
    for _ in range(scheduling.SUSPICION_RUNS):
        proof.record_loop_run(0)
    proof.record_loop_run(2 * scheduling.SLOW_SECONDS)
    assert proof
    proof.record_loop_run(2 * scheduling.SLOW_SECONDS)
    assert not proof
    assert proof.needed_runs == 4
    proof.fast_runs = 4
    assert proof
    proof.record_loop_run(2 * scheduling.TOO_SLOW_SECONDS)
    assert not proof
    assert proof.needed_runs == 16


def test_what_is_remembered_is_bounded(schema):
    """The oldest goes, and long requests are not remembered at all."""
    from gqlnb.http.messages import parse_request_body
    from gqlnb.server.request_executor import RequestExecutor

    execution = RequestExecutor(schema)

    async def fill():
        for number in range(scheduling.MAX_KNOWN_REQUESTS + 9):
            await execution(parse_request_body(b'{"query": "{ a%d: hello }"}' % number))
        await execution(
            parse_request_body(b'{"query": "{ hello }%b"}' % (b" " * scheduling.MAX_KNOWN_BODY))
        )

    asyncio.run(fill())
    kept = execution.scheduler
    assert len(kept._known_requests) == scheduling.MAX_KNOWN_REQUESTS
    assert max(map(len, kept._known_requests)) <= scheduling.MAX_KNOWN_BODY


def test_anything_that_executes_may_be_served():
    """Without an age, what it is made of counts as unchanged."""
    assert Scheduler(object()).find_known(b"{}") is None
