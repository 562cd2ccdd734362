"""Incremental and streamed responses to `execute`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gqlnb import AnswerError, Client, GqlnbError, QueryError, TransportError
from tests.client.faults import answer, json_answer

DEFERRED = "{ a ... @defer { b } }"
ADVICE = r"Use client\.subscribe\(text\).*or remove these directives"
MIXED, EVENTS = "multipart/mixed; boundary=-", "text/event-stream"
FIRST = {"data": {"a": 1}, "hasNext": True}
LAST = {"incremental": [{"path": [], "data": {"b": 2}}], "hasNext": False}
SDL = "directive @defer on INLINE_FRAGMENT type Query { a: Int b: Int }"


def mixed(*parts: Any, end: bytes = b"--") -> bytes:
    """Return an answer in parts."""
    written = [b"\r\n---\r\n\r\n" + json.dumps(part).encode() for part in parts]
    return answer(b"".join(written) + b"\r\n---" + end, Content_Type=MIXED)


def events(*parts: Any, end: bytes = b"event: complete\ndata:\n\n") -> bytes:
    """Return an answer as events."""
    written = [b"event: next\ndata: " + json.dumps(part).encode() + b"\n\n" for part in parts]
    return answer(b"".join(written) + end, Content_Type=EVENTS)


@pytest.mark.parametrize("schema", [None, SDL], ids=["unknown", "known"])
@pytest.mark.parametrize("form", [mixed, events])
def test_complete_incremental_responses_are_joined(endpoint, form, schema):
    """A server may stream without being asked to."""
    client = Client(endpoint(form(FIRST, LAST)).url, schema=schema)
    assert client.execute(DEFERRED).data == {"a": 1, "b": 2}
    client = Client(endpoint(form({"data": {"a": 1}})).url, schema=schema)
    assert client.execute("{ a }").data == {"a": 1}


FAULTS = {
    "406": (answer("", "406 Not Acceptable"), TransportError),
    "mixed, cut": (mixed(FIRST, end=b""), AnswerError),
    "mixed, ended": (mixed(FIRST), AnswerError),
    "mixed, garbage": (answer(b"\r\n---\r\n\r\n{\r\n-----", Content_Type=MIXED), AnswerError),
    "events, cut": (events(FIRST, end=b""), AnswerError),
    "events, none": (events(), AnswerError),
    "first part as JSON": (json_answer(FIRST), AnswerError),
    "Apollo": (
        json_answer(
        {"errors": [{"message": "Apollo server received an operation that uses incremental "
        "delivery directives (@defer or @stream), but the client does not specify "
        "that it accepts multipart/mixed.", "extensions": {"code": "BAD_REQUEST"}}]},
        "400 Bad Request"), QueryError),
    "graphql-js": (
        json_answer(
        {"errors": [{"message": "Executing this GraphQL operation would unexpectedly produce "
        "multiple payloads (due to @defer or @stream directive)"}]}), QueryError),
}  # fmt: skip


@pytest.mark.parametrize("schema", [None, SDL], ids=["unknown", "known"])
@pytest.mark.parametrize("fault", FAULTS)
def test_the_error_recommends_subscribe(endpoint, fault, schema):
    """Once, with the code to write."""
    said, kind = FAULTS[fault]
    client = Client(endpoint(said).url, schema=schema)
    with pytest.raises(kind, match=ADVICE) as caught:
        client.execute(DEFERRED)
    assert str(caught.value).count("client.subscribe") == 1


def test_the_error_has_the_first_part(endpoint):
    """As its partial result."""
    client = Client(endpoint(json_answer(FIRST)).url)
    with pytest.raises(AnswerError, match="first part of an answer") as caught:
        client.execute(DEFERRED)
    assert caught.value.result.data == {"a": 1}


@pytest.mark.parametrize("fault", ["406", "mixed, cut", "events, none"])
def test_other_errors_do_not_recommend_subscribe(endpoint, fault):
    """It would not help."""
    client = Client(endpoint(FAULTS[fault][0]).url)
    with pytest.raises(GqlnbError) as caught:
        client.execute("{ a }")
    assert "subscribe" not in str(caught.value)
    with pytest.raises(GqlnbError) as caught:
        list(client.subscribe(DEFERRED))
    assert "client.subscribe" not in str(caught.value)


def test_an_executed_subscription_is_referred_to_subscribe(endpoint):
    """If the endpoint answers with a stream."""
    client = Client(endpoint(events({"data": {"a": 1}}, {"data": {"a": 2}})).url)
    with pytest.raises(AnswerError, match=r"use client\.subscribe\(text\)"):
        client.execute("subscription { a }")
