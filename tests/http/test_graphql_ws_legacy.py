"""The older WebSocket subprotocol from the client's side, without a socket."""

from __future__ import annotations

import json

import pytest

from gqlnb.http.graphql_ws import (
    BadMessageError,
    LegacyClientProtocol,
    RefusedError,
    parse_error_payload,
)
from gqlnb.http.messages import Request

REQUEST = Request("subscription ($n: Int) { a }", {"n": 1}, "A")


@pytest.fixture
def operation():
    """Return one that was let in."""
    made = LegacyClientProtocol(REQUEST)
    made.receive('{"type":"connection_ack"}')
    return made


def test_the_client_sends_connection_init_and_starts_on_ack():
    """Keep-alive messages may precede the acknowledgement."""
    operation = LegacyClientProtocol(REQUEST, b'{"Authorization":"Bearer x"}')
    assert json.loads(operation.build_init()) == {
        "type": "connection_init",
        "payload": {"Authorization": "Bearer x"},
    }
    assert operation.build_end_messages() == []
    assert operation.receive('{"type":"ka"}') is None
    payload = {"query": REQUEST.query, "variables": {"n": 1}, "operationName": "A"}
    said = operation.receive('{"type":"connection_ack","id":null,"payload":null}')
    assert json.loads(said.text) == {"id": "1", "type": "start", "payload": payload}


def test_connection_init_always_has_a_payload():
    """PostGraphile 4 fails without one."""
    hello = json.loads(LegacyClientProtocol(REQUEST).build_init())
    assert hello == {"type": "connection_init", "payload": {}}


def test_an_event_is_a_response_with_unchanged_bytes(operation):
    """Its bytes are left alone."""
    body = b'{"data": {"a": 12345678901234567890} }'
    response = operation.receive('{"type":"data","id":"1","payload":' + body.decode() + "}")
    assert response.body == body
    assert not operation.ended


def test_leaving_sends_stop_and_terminate(operation):
    """After completion there is no operation to stop."""
    said = [json.loads(text) for text in operation.build_end_messages()]
    assert said == [{"id": "1", "type": "stop"}, {"type": "connection_terminate"}]
    assert operation.receive('{"type":"complete","id":"1","payload":null}') is None
    assert operation.ended
    assert [json.loads(text) for text in operation.build_end_messages()] == [
        {"type": "connection_terminate"}
    ]


@pytest.mark.parametrize(
    ("payload", "errors"),
    [
        (b'{"message":"a","locations":[]}', [{"message": "a", "locations": []}]),
        (b'[{"message":"a"},{"message":"b"}]', [{"message": "a"}, {"message": "b"}]),
        (b'{"errors":[{"message":"a"}]}', [{"message": "a"}]),
        (b'{"error":"a","code":"c"}', [{"error": "a", "code": "c", "message": "a"}]),
        (b'"a"', [{"message": "a"}]),
        (b"[]", [{"message": "no reason given"}]),
        (b"null", [{"message": "no reason given"}]),
        (b"", [{"message": "no reason given"}]),
        (b"[5]", [{"message": "no reason given"}]),
    ],
)
def test_every_form_of_error_is_parsed(operation, payload, errors):
    """Each becomes errors of a response without data."""
    assert parse_error_payload(payload) == errors
    if payload:
        text = '{"type":"error","id":"1","payload":' + payload.decode() + "}"
        assert json.loads(operation.receive(text).body) == {"errors": errors}
        assert operation.ended


def test_a_rejection_has_the_servers_message():
    """Before and after the acknowledgement."""
    for messages in ([], ['{"type":"connection_ack"}']):
        operation = LegacyClientProtocol(REQUEST)
        for message in messages:
            operation.receive(message)
        with pytest.raises(RefusedError, match="Prohibited connection!"):
            operation.receive(
                '{"type":"connection_error","payload":{"message":"Prohibited connection!"}}'
            )


@pytest.mark.parametrize("message", [b"{}", "{", "5", '{"type":"next","id":"1","payload":{}}'])
def test_other_messages_are_rejected(operation, message):
    """Including those of the newer subprotocol."""
    with pytest.raises(BadMessageError):
        operation.receive(message)


def test_messages_before_the_acknowledgement_are_rejected():
    """For example an event of an unknown subscription."""
    with pytest.raises(BadMessageError, match="its type 'data'"):
        LegacyClientProtocol(REQUEST).receive('{"type":"data","id":"1","payload":{}}')
