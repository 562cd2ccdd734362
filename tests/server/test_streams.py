"""Server-sent events from a real server: each request a stream, ended by either side."""

from __future__ import annotations

import asyncio
import json
from urllib.parse import quote

import pytest
import requests

from gqlnb.engine.schema import reference_schema
from gqlnb.http.incremental import MultipartReader, negotiate_event_boundary, parse_boundary
from gqlnb.http.server_rules import Access
from gqlnb.limits import Limits
from gqlnb.server import streams
from gqlnb.server.background_server import serve
from gqlnb.tokens import Token
from tests.server.stream_helpers import PATIENCE, SECRET, Reader, streaming_schema

COMPLETE = ("complete", None)


@pytest.fixture
def schema(life):
    """Return a schema with subscriptions."""
    return streaming_schema(life)


@pytest.fixture
def ask(server):
    """Return a function that asks the server for events."""
    opened = []

    def asked(query, port=server.port, **options):
        opened.append(Reader(port, query, **options))
        return opened[-1]

    yield asked
    for each in opened:
        each.close()


def data(**members):
    """Return the event of a result."""
    return "next", {"data": members}


# -- what is answered


@pytest.mark.parametrize("field", ["count", "plain"])
def test_each_event_is_sent_as_next_and_the_end_as_complete(ask, field):
    """For async and plain generators."""
    reader = ask(f"subscription {{ n: {field}(to: 2) }}")
    assert reader.status == 200
    assert reader.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert reader.headers["cache-control"] == "no-store"
    assert reader.rest() == [data(n=0), data(n=1), COMPLETE]


@pytest.mark.parametrize(
    ("query", "result"),
    [
        ("{ hello }", {"data": {"hello": "Hello world!"}}),
        ("mutation { add }", {"data": {"add": 1}}),
    ],
)
def test_queries_and_mutations_give_one_event(ask, query, result):
    """If the client prefers an event stream."""
    assert ask(query).rest() == [("next", result), COMPLETE]


@pytest.mark.parametrize(
    "query", ["subscription {", "subscription { nothing }", "subscription { count }", ""]
)
def test_operation_errors_are_sent_as_events(ask, query):
    """As the protocol requires: browsers hide the body of other statuses."""
    reader = ask(query)
    (name, result), end = reader.rest()
    assert (reader.status, name, end) == (200, "next", COMPLETE)
    assert list(result) == ["errors"]


def test_malformed_requests_get_an_ordinary_error(server, ask):
    """No event stream is opened."""
    reader = ask("", **{"Content-Type": "text/plain"})
    assert (reader.status, reader.headers["content-type"][:16]) == (415, "application/json")


def test_json_is_preferred_except_for_subscriptions(ask):
    """Some clients accept every media type."""
    both = "application/graphql-response+json, application/json, text/event-stream"
    assert ask("subscription { count(to: 0) }", Accept=both).rest() == [COMPLETE]
    response = ask("{ hello }", Accept=both).response
    assert json.loads(response.read()) == {"data": {"hello": "Hello world!"}}
    wrong = ask("subscription {", Accept=both)
    assert wrong.status == 400


def test_a_subscription_requested_as_json_is_rejected(ask):
    """The error names the media type to accept."""
    (error,) = json.loads(ask("subscription { quiet }", Accept="*/*").response.read())["errors"]
    assert "text/event-stream" in error["message"]


def test_a_schema_without_subscriptions_opens_no_stream():
    """It gives ordinary responses."""
    with serve(reference_schema(), port=0) as server:
        reader = Reader(server.port, "{ hello }")
        assert reader.headers["content-type"].startswith("application/json")
        assert json.loads(reader.response.read()) == {"data": {"hello": "Hello world!"}}
        reader.close()


# -- GET, for a browser's EventSource


def test_an_event_source_may_subscribe_if_get_is_enabled(schema):
    """Mutations are rejected."""
    with serve(schema, port=0, access=Access(get=True)) as server:

        def get(query):
            path = f"/graphql?query={quote(query)}"
            return Reader(server.port, "", path=path, method="GET")

        assert get("subscription { count(to: 1) }").rest() == [data(count=0), COMPLETE]
        assert get("{ hello }").rest() == [data(hello="Hello world!"), COMPLETE]
        assert get("mutation { add }").status == 405


def test_an_event_source_is_rejected_if_get_is_disabled(ask):
    """Like every GET request."""
    assert ask("", path="/graphql?query=%7Bhello%7D", method="GET").status == 405


def test_only_allowed_origins_may_subscribe(schema):
    """They get the CORS header."""
    origin = "http://localhost:5173"
    with serve(schema, port=0, access=Access(origins=[origin])) as server:
        reader = Reader(server.port, "subscription { count(to: 0) }", Origin=origin)
        assert reader.headers["access-control-allow-origin"] == origin
        assert reader.rest() == [COMPLETE]
        foreign = Reader(server.port, "subscription { quiet }", Origin="http://evil.example")
        assert foreign.status == 403


def test_a_token_is_required(schema):
    """It is checked before the stream opens."""
    with serve(schema, port=0, token=Token("right")) as server:
        query = "subscription { count(to: 0) }"
        assert Reader(server.port, query).status == 401
        assert Reader(server.port, query, Authorization="Bearer right").rest() == [COMPLETE]


# -- errors


def test_a_failing_field_is_masked_and_the_stream_continues(server, ask):
    """The exception can be looked up meanwhile."""
    reader = ask("subscription { thing { name fails } }")
    name, result = reader.next()
    assert (name, result["data"]) == ("next", {"thing": {"name": "a", "fails": None}})
    (error,) = result["errors"]
    assert "division" not in error["message"]
    number = error["message"].split()[2].rstrip(".")
    assert isinstance(server.error(number), ZeroDivisionError)
    assert len(reader.rest()) == 2


@pytest.mark.parametrize(
    ("field", "kind"),
    [("breaks", ValueError), ("refuses", LookupError), ("cancels", asyncio.CancelledError)],
)
def test_an_error_in_the_source_is_masked_and_ends_the_stream(server, ask, field, kind):
    """Its message is not sent."""
    *_, (name, result), end = ask(f"subscription S {{ {field} }}").rest()
    assert (name, end) == ("next", COMPLETE)
    assert SECRET not in json.dumps(result)
    entry = server.log.iloc[-1]
    assert (entry["operation"], entry["status"]) == ("S", 200)
    assert isinstance(server.error(entry["error_id"]), kind)


def test_a_value_without_a_json_form_becomes_null(ask):
    """As over HTTP."""
    _, (_, result), _ = ask("subscription { thing { odd } }").rest()
    assert result["data"] == {"thing": {"odd": None}}


def test_errors_are_limited_in_number_and_length(schema):
    """The server's limits apply."""
    with serve(schema, port=0, limits=Limits(errors=1, message=20)) as server:
        events = Reader(server.port, "subscription { thing { a: fails b: fails } }").rest()
    errors = events[0][1]["errors"]
    assert len(errors) == 2
    assert "1 more error" in errors[1]["message"]
    assert max(len(error["message"]) for error in errors[:1]) <= 20


# -- where it runs, and how it ends


def test_plain_resolvers_of_an_event_run_in_worker_threads(ask):
    """A slow one does not delay other streams."""
    _, result = ask("subscription { thing { where } }").next()
    assert result["data"]["thing"]["where"].startswith("gqlnb-resolver")


def test_backpressure_pauses_the_source_of_a_slow_client(life, ask, server):
    """Events are not buffered, and the client may disconnect."""
    reader = ask("subscription { flood }")
    reader.next()
    assert Reader(server.port, "{ hello }").rest()[0] == data(hello="Hello world!")
    assert not life.ended.is_set()
    reader.close()
    assert life.ended.wait(PATIENCE)


def test_an_error_while_closing_a_source_is_logged(server, ask, caplog):
    """The stream ends, and the error is not sent."""
    reader = ask("subscription { stubborn }")
    assert reader.next()[0] == "next"
    assert SECRET not in json.dumps(reader.rest())
    assert ask("{ hello }").rest()[0] == data(hello="Hello world!")


def test_closing_the_server_ends_its_streams(life, schema):
    """`finally` blocks of the sources have run when close returns."""
    with serve(schema, port=0) as server:
        reader = Reader(server.port, "subscription { quiet }")
        reader.next()
    assert life.ended.is_set()
    assert life.running == 0
    reader.close()


def test_an_idle_stream_sends_comments(monkeypatch, schema):
    """Keep-alive comments continue until the next event."""
    monkeypatch.setattr(streams, "KEEP_ALIVE_SECONDS", 0.01)
    with serve(schema, port=0) as server:
        reader = Reader(server.port, "subscription { quiet }")
        assert reader.next() == data(quiet=0)
        assert [reader.response.readline() for _ in range(4)] == [b":\n", b"\n"] * 2
        reader.close()


MULTIPART = "multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/json"


@pytest.mark.parametrize(
    ("accept", "boundary"),
    [
        (MULTIPART, "graphql"),
        (MULTIPART.replace(",", ",application/graphql-response+json,") + ";q=0.9", "graphql"),
        ('application/json, Multipart/Mixed; boundary="X"; SubscriptionSpec="1.0"', "X"),
        ('multipart/mixed;subscriptionSpec=1.0;boundary="a, b:\'?"', "a, b:'?"),
        ("multipart/mixed;subscriptionSpec=1.0;boundary=" + "x" * 70, "x" * 70),
        ("multipart/mixed;subscriptionSpec=1.0;boundary=" + "x" * 71, "-"),
        ('multipart/mixed;subscriptionSpec=1.0;boundary="a "', "-"),
        ('multipart/mixed;subscriptionSpec=1.0;boundary="a\\"b"', "-"),
        ("multipart/mixed;subscriptionSpec=1.0;boundary=é", "-"),
        ("multipart/mixed;subscriptionSpec=1.0;boundary=", "-"),
        ("multipart/mixed;subscriptionSpec=1.0", "-"),
        ("multipart/mixed;subscriptionSpec=1.0;q=0", None),
        ("multipart/mixed;subscriptionSpec=2.0", None),
        ("multipart/mixed;deferSpec=20220824", None),
        ("application/json;subscriptionSpec=1.0", None),
        (None, None),
    ],
)
def test_clients_ask_for_events_in_multipart(accept, boundary):
    """By the parameter of Apollo's protocol, with a boundary that RFC 2046 allows or ours."""
    assert negotiate_event_boundary(accept) == boundary


def post_multipart(server, query, **headers):
    """Post a query for events in multipart, and return the response, not read yet."""
    headers = {"Accept": MULTIPART, **headers}
    return requests.post(
        server.url, json={"query": query}, headers=headers, timeout=PATIENCE, stream=True
    )


@pytest.mark.parametrize(
    ("asked", "boundary"), [("graphql", "graphql"), ('"a, b"', '"a, b"'), ('"a "', '"-"')]
)
def test_events_in_multipart_have_the_form_of_apollo(server, asked, boundary):
    """Each is the payload of a part; what is no stream is JSON."""
    accept = MULTIPART.replace("graphql", asked)
    response = post_multipart(server, "subscription { count(to: 2) }", Accept=accept)
    media = response.headers["content-type"]
    assert media == f"multipart/mixed; boundary={boundary}; subscriptionSpec=1.0"
    assert response.headers["x-accel-buffering"] == "no"
    bodies = MultipartReader(parse_boundary(media)).feed(response.content)
    expected = [{"payload": {"data": {"count": number}}} for number in range(2)]
    assert [json.loads(body) for body in bodies] == expected
    assert response.content.endswith(f"\r\n--{parse_boundary(media)}--\r\n".encode())
    for query in ("{ hello }", "subscription { nope }", "subscription {"):
        json_response = post_multipart(server, query)
        assert json_response.headers["content-type"] == "application/json; charset=utf-8"
        assert json_response.json()


def test_an_idle_multipart_stream_sends_empty_parts(monkeypatch, life, schema):
    """Until the client leaves, which closes the source."""
    monkeypatch.setattr(streams, "KEEP_ALIVE_SECONDS", 0.01)
    with serve(schema, port=0) as server:
        response = post_multipart(server, "subscription { quiet }")
        reader = MultipartReader("graphql")
        parts = (part for chunk in response.iter_content(None) for part in reader.feed(chunk))
        event = next(part for part in parts if part != b"{}")  # one may come before the event
        assert json.loads(event) == {"payload": {"data": {"quiet": 0}}}
        assert [json.loads(next(parts)) for _ in range(3)] == [{}] * 3
        response.close()
        assert life.ended.wait(PATIENCE)


def test_events_in_multipart_need_token_and_origin(schema):
    """As any other request."""
    with serve(schema, port=0, token=Token("right")) as server:
        query = "subscription { count(to: 1) }"
        assert post_multipart(server, query).status_code == 401
        assert post_multipart(server, query, Authorization="Bearer right").status_code == 200
        evil = {"Authorization": "Bearer right", "Origin": "https://evil.example"}
        assert post_multipart(server, query, **evil).status_code == 403


def test_the_number_of_streams_is_limited(life, schema):
    """One over the limit is rejected; a finished stream frees its slot."""
    with serve(schema, port=0, limits=Limits(subscriptions=1)) as server:
        first = Reader(server.port, "subscription { quiet }")
        first.next()
        second = Reader(server.port, "subscription { quiet }")
        assert (second.status, second.headers["retry-after"]) == (503, "5")
        assert "At most 1 " in json.loads(second.response.read())["errors"][0]["message"]
        first.close()
        assert life.ended.wait(PATIENCE)
        while (third := Reader(server.port, "subscription { count(to: 0) }")).status == 503:
            third.close()
        assert third.rest() == [COMPLETE]


def test_a_finished_stream_is_logged(server, ask):
    """With operation name, duration and bytes sent."""
    ask("subscription Counting { count(to: 3) }").rest()
    entry = server.log.iloc[-1]
    assert (entry["operation"], entry["status"]) == ("Counting", 200)
    assert entry["bytes_out"] == 3 * len('{"data":{"count":0}}')
    assert entry["seconds"] > 0


def test_a_new_schema_does_not_affect_running_streams(life, schema, server, ask):
    """New streams use it."""
    reader = ask("subscription { quiet }")
    reader.next()
    with serve(reference_schema(), port=server.port):
        assert not life.ended.is_set()
        assert ask("{ hello }").headers["content-type"].startswith("application/json")
