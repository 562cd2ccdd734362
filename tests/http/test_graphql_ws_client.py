"""The client's side of graphql-transport-ws, without a socket; and both sides joined."""

from __future__ import annotations

import json

import pytest

from gqlnb.http.graphql_ws import (
    CONNECTION_LOST,
    BadMessageError,
    ClientProtocol,
    explain_close_code,
)
from gqlnb.http.messages import Request

REQUEST = Request("subscription ($n: Int) { a }", {"n": 1}, "A")
ACK = '{"type":"connection_ack"}'


@pytest.fixture
def operation():
    """Return one that was let in."""
    made = ClientProtocol(REQUEST)
    made.receive(ACK)
    return made


def test_an_event_is_a_response_with_unchanged_bytes(operation):
    """Large numbers, escapes and order are preserved."""
    body = b'{"data": {"a": 12345678901234567890, "b": "\\u00fc"} }'
    response = operation.receive('{"payload":' + body.decode() + ',"type":"next","id":"1"}')
    assert response.body == body
    assert not operation.ended


def test_complete_ends_the_subscription(operation):
    """The client sends no complete afterwards."""
    (text,) = operation.build_end_messages()
    assert json.loads(text) == {"id": "1", "type": "complete"}
    assert operation.receive('{"type":"complete","id":"1"}') is None
    assert operation.ended
    assert operation.build_end_messages() == []


def test_no_complete_is_sent_before_the_acknowledgement():
    """There is no subscription yet."""
    assert ClientProtocol(REQUEST).build_end_messages() == []


def test_messages_before_the_acknowledgement_are_rejected():
    """For example an event of an unknown subscription."""
    with pytest.raises(BadMessageError, match="its type 'next'"):
        ClientProtocol(REQUEST).receive('{"type":"next","id":"1","payload":{}}')


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
