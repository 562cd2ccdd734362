"""The older WebSocket subprotocol from the client's side, without a socket."""

from __future__ import annotations

import json

import pytest

from gqlnb.http.graphql_ws import (
    BadMessageError,
    LegacyClientProtocol,
    RefusedError,
)
from gqlnb.http.messages import Request

REQUEST = Request("subscription ($n: Int) { a }", {"n": 1}, "A")


@pytest.fixture
def operation():
    """Return one that was let in."""
    made = LegacyClientProtocol(REQUEST)
    made.receive('{"type":"connection_ack"}')
    return made


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


def test_messages_before_the_acknowledgement_are_rejected():
    """For example an event of an unknown subscription."""
    with pytest.raises(BadMessageError, match="its type 'data'"):
        LegacyClientProtocol(REQUEST).receive('{"type":"data","id":"1","payload":{}}')
