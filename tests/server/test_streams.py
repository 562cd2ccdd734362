"""Server-sent events from a real server: each request a stream, ended by either side."""

from __future__ import annotations

import asyncio
import json
from urllib.parse import quote

import pytest

from gqlnb.document.limits import Limits
from gqlnb.engine.schema import reference_schema
from gqlnb.http.server_rules import Access
from gqlnb.server import streams
from gqlnb.server.background_server import serve
from tests.server.stream_helpers import PATIENCE, SECRET, Reader, streaming_schema

COMPLETE = ("complete", None)


@pytest.fixture
def schema(life):
    """Return a schema with subscriptions."""
    return streaming_schema(life)


@pytest.fixture
def server(schema):
    """Return a server of it."""
    with serve(schema, port=0) as made:
        yield made


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
def test_each_event_is_a_next_and_the_end_is_a_complete(ask, field):
    """For async and for plain generators."""
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
def test_queries_and_mutations_are_one_event(ask, query, result):
    """Who prefers events gets events."""
    assert ask(query).rest() == [("next", result), COMPLETE]


@pytest.mark.parametrize(
    "query", ["subscription {", "subscription { nothing }", "subscription { count }", ""]
)
def test_what_is_wrong_with_an_operation_is_an_event(ask, query):
    """The protocol wants it so: a browser shows no body of another status."""
    reader = ask(query)
    (name, result), end = reader.rest()
    assert (reader.status, name, end) == (200, "next", COMPLETE)
    assert list(result) == ["errors"]


def test_what_is_wrong_with_a_request_is_answered_as_always(server, ask):
    """Nothing was understood that could be streamed."""
    reader = ask("", **{"Content-Type": "text/plain"})
    assert (reader.status, reader.headers["content-type"][:16]) == (415, "application/json")


def test_who_likes_json_as_well_gets_events_for_subscriptions_alone(ask):
    """Some clients name every media type with every request."""
    both = "application/graphql-response+json, application/json, text/event-stream"
    assert ask("subscription { count(to: 0) }", Accept=both).rest() == [COMPLETE]
    response = ask("{ hello }", Accept=both).response
    assert json.loads(response.read()) == {"data": {"hello": "Hello world!"}}
    wrong = ask("subscription {", Accept=both)
    assert wrong.status == 400


def test_a_subscription_asked_for_as_json_says_how_to_ask(ask):
    """It has no one answer."""
    (error,) = json.loads(ask("subscription { quiet }", Accept="*/*").response.read())["errors"]
    assert "text/event-stream" in error["message"]


def test_a_schema_without_subscriptions_streams_nothing():
    """It answers as always."""
    with serve(reference_schema(), port=0) as server:
        reader = Reader(server.port, "{ hello }")
        assert reader.headers["content-type"].startswith("application/json")
        assert json.loads(reader.response.read()) == {"data": {"hello": "Hello world!"}}
        reader.close()


# -- GET, for a browser's EventSource


def test_an_event_source_may_subscribe_where_get_is_on(schema):
    """Mutations stay out."""
    with serve(schema, port=0, access=Access(get=True)) as server:

        def get(query):
            path = f"/graphql?query={quote(query)}"
            return Reader(server.port, "", path=path, method="GET")

        assert get("subscription { count(to: 1) }").rest() == [data(count=0), COMPLETE]
        assert get("{ hello }").rest() == [data(hello="Hello world!"), COMPLETE]
        assert get("mutation { add }").status == 405


def test_an_event_source_is_refused_where_get_is_off(ask):
    """As every GET is."""
    assert ask("", path="/graphql?query=%7Bhello%7D", method="GET").status == 405


def test_a_page_of_another_origin_subscribes_only_if_it_is_named(schema):
    """It then sees the header that lets it read."""
    origin = "http://localhost:5173"
    with serve(schema, port=0, access=Access(origins=[origin])) as server:
        reader = Reader(server.port, "subscription { count(to: 0) }", Origin=origin)
        assert reader.headers["access-control-allow-origin"] == origin
        assert reader.rest() == [COMPLETE]
        foreign = Reader(server.port, "subscription { quiet }", Origin="http://evil.example")
        assert foreign.status == 403


def test_a_token_is_asked_for(schema):
    """Before anything is streamed."""
    from gqlnb.auth import Token

    with serve(schema, port=0, token=Token("right")) as server:
        query = "subscription { count(to: 0) }"
        assert Reader(server.port, query).status == 401
        assert Reader(server.port, query, Authorization="Bearer right").rest() == [COMPLETE]


# -- errors


def test_a_field_that_fails_is_masked_and_the_stream_goes_on(server, ask):
    """The exception can be found while it goes on."""
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
def test_a_source_that_fails_ends_its_stream_masked(server, ask, field, kind):
    """Its words stay here."""
    *_, (name, result), end = ask(f"subscription S {{ {field} }}").rest()
    assert (name, end) == ("next", COMPLETE)
    assert SECRET not in json.dumps(result)
    entry = server.log.iloc[-1]
    assert (entry["operation"], entry["status"]) == ("S", 200)
    assert isinstance(server.error(entry["error_id"]), kind)


def test_a_value_without_a_json_form_costs_its_place(ask):
    """As over HTTP."""
    _, (_, result), _ = ask("subscription { thing { odd } }").rest()
    assert result["data"] == {"thing": {"odd": None}}


def test_errors_are_few_and_short(schema):
    """As many, and as long, as the limits allow."""
    with serve(schema, port=0, limits=Limits(errors=1, message=20)) as server:
        events = Reader(server.port, "subscription { thing { a: fails b: fails } }").rest()
    errors = events[0][1]["errors"]
    assert len(errors) == 2
    assert "1 more error" in errors[1]["message"]
    assert max(len(error["message"]) for error in errors[:1]) <= 20


# -- where it runs, and how it ends


def test_plain_resolvers_of_an_event_run_in_worker_threads(ask):
    """A slow one holds up no other stream."""
    _, result = ask("subscription { thing { where } }").next()
    assert result["data"]["thing"]["where"].startswith("gqlnb-worker")


def test_a_client_that_leaves_ends_the_source(life, ask):
    """While it waits for an event."""
    reader = ask("subscription { quiet }")
    assert reader.next() == data(quiet=0)
    assert not life.ended.is_set()
    reader.close()
    assert life.ended.wait(PATIENCE)


def test_a_client_that_does_not_read_holds_up_its_source_and_may_leave(life, ask, server):
    """Events wait where they are made; nothing piles up."""
    reader = ask("subscription { flood }")
    reader.next()
    assert Reader(server.port, "{ hello }").rest()[0] == data(hello="Hello world!")
    assert not life.ended.is_set()
    reader.close()
    assert life.ended.wait(PATIENCE)


def test_a_source_that_fails_to_close_harms_nobody(server, ask, caplog):
    """Its stream ends; what it raised is logged, and not sent."""
    reader = ask("subscription { stubborn }")
    assert reader.next()[0] == "next"
    assert SECRET not in json.dumps(reader.rest())
    assert ask("{ hello }").rest()[0] == data(hello="Hello world!")


def test_a_closed_server_ends_its_streams(life, schema):
    """Their sources' `finally` has run when it returns."""
    with serve(schema, port=0) as server:
        reader = Reader(server.port, "subscription { quiet }")
        reader.next()
    assert life.ended.is_set()
    assert life.running == 0
    reader.close()


def test_a_silent_stream_is_kept_open_by_comments(monkeypatch, schema):
    """Until an event comes, or for ever."""
    monkeypatch.setattr(streams, "KEEP_ALIVE_SECONDS", 0.01)
    with serve(schema, port=0) as server:
        reader = Reader(server.port, "subscription { quiet }")
        assert reader.next() == data(quiet=0)
        assert [reader.response.readline() for _ in range(4)] == [b":\n", b"\n"] * 2
        reader.close()


def test_streams_are_counted(life, schema):
    """One more than allowed is refused, with advice; one that has ended makes room."""
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


def test_the_log_has_a_line_when_a_stream_has_ended(server, ask):
    """With its name, its time and what was sent."""
    ask("subscription Counting { count(to: 3) }").rest()
    entry = server.log.iloc[-1]
    assert (entry["operation"], entry["status"]) == ("Counting", 200)
    assert entry["bytes_out"] == 3 * len('{"data":{"count":0}}')
    assert entry["seconds"] > 0


def test_a_schema_served_anew_leaves_running_streams_alone(life, schema, server, ask):
    """The next one runs on the new schema."""
    reader = ask("subscription { quiet }")
    reader.next()
    with serve(reference_schema(), port=server.port):
        assert not life.ended.is_set()
        assert ask("{ hello }").headers["content-type"].startswith("application/json")
