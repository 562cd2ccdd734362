"""The client's side of both WebSocket subprotocols, without a socket."""

from __future__ import annotations

import json

import pytest

from gqlnb.http.graphql_ws import (
    CONNECTION_LOST,
    ClientProtocol,
    LegacyClientProtocol,
    explain_close_code,
)
from gqlnb.http.messages import Request

REQUEST = Request("subscription ($n: Int) { a }", {"n": 1}, "A")
ACK = '{"type":"connection_ack"}'


def accepted(protocol=ClientProtocol):
    """Return an operation that was let in."""
    made = protocol(REQUEST)
    made.receive(ACK)
    return made


@pytest.mark.parametrize(
    ("protocol", "kind"), [(ClientProtocol, "next"), (LegacyClientProtocol, "data")]
)
def test_an_event_is_a_response_with_unchanged_bytes(protocol, kind):
    """Large numbers, escapes and order are preserved."""
    operation = accepted(protocol)
    body = b'{"data": {"a": 12345678901234567890, "b": "\\u00fc"} }'
    response = operation.receive(f'{{"payload":{body.decode()},"type":"{kind}","id":"1"}}')
    assert response.body == body
    assert not operation.ended


def test_complete_ends_the_subscription():
    """The client sends no complete afterwards."""
    operation = accepted()
    (text,) = operation.build_end_messages()
    assert json.loads(text) == {"id": "1", "type": "complete"}
    assert operation.receive('{"type":"complete","id":"1"}') is None
    assert operation.ended
    assert operation.build_end_messages() == []


def test_no_complete_is_sent_before_the_acknowledgement():
    """There is no subscription yet."""
    assert ClientProtocol(REQUEST).build_end_messages() == []


def test_leaving_sends_stop_and_terminate():
    """In the older subprotocol; after completion there is no operation to stop."""
    operation = accepted(LegacyClientProtocol)
    said = [json.loads(text) for text in operation.build_end_messages()]
    assert said == [{"id": "1", "type": "stop"}, {"type": "connection_terminate"}]
    assert operation.receive('{"type":"complete","id":"1","payload":null}') is None
    assert operation.ended
    assert [json.loads(text) for text in operation.build_end_messages()] == said[1:]


@pytest.mark.parametrize(
    ("code", "refused", "passing"),
    [
        (4401, True, False),
        (4403, True, False),
        (4400, False, False),
        (4409, False, False),
        (4429, False, False),
        (4408, False, True),
        (4599, False, False),
        (1012, False, True),
        (1000, False, True),
        (None, False, True),
        (1008, False, False),
        (3000, False, True),
    ],
)
def test_a_close_code_determines_the_error(code, refused, passing):
    """Missing token, transient failure, or neither."""
    found = explain_close_code(code)
    assert (found.refused, found.transient) == (refused, passing)
    assert found.description
    assert explain_close_code(None) is CONNECTION_LOST
