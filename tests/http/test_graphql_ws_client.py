"""The client's side of graphql-transport-ws, without a socket; and both sides joined."""

from __future__ import annotations

import json

import pytest

from gqlnb.http.graphql_ws import (
    CONNECTION_LOST,
    BadMessageError,
    ClientProtocol,
    SendMessage,
    ServerProtocol,
    StartOperation,
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


def test_the_client_sends_connection_init_and_subscribes_on_ack():
    """The payload is sent only if there is one."""
    operation = ClientProtocol(REQUEST)
    assert json.loads(operation.build_init()) == {"type": "connection_init"}
    said = operation.receive(ACK)
    assert isinstance(said, SendMessage)
    payload = {"query": REQUEST.query, "variables": {"n": 1}, "operationName": "A"}
    assert json.loads(said.text) == {"id": "1", "type": "subscribe", "payload": payload}
    greeting = ClientProtocol(REQUEST, b'{"Authorization":"Bearer x"}').build_init()
    assert json.loads(greeting)["payload"] == {"Authorization": "Bearer x"}


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


def test_an_error_is_a_response_without_data(operation):
    """The errors equal those over HTTP, and the subscription ends."""
    response = operation.receive('{"type":"error","id":"1","payload":[{"message":"no"}]}')
    assert json.loads(response.body) == {"errors": [{"message": "no"}]}
    assert operation.ended


def test_no_complete_is_sent_before_the_acknowledgement():
    """There is no subscription yet."""
    assert ClientProtocol(REQUEST).build_end_messages() == []


def test_a_ping_is_answered_at_any_time(operation):
    """A pong is not."""
    for each in (ClientProtocol(REQUEST), operation):
        assert json.loads(each.receive('{"type":"ping","payload":{"a":1}}').text)["type"] == "pong"
        assert each.receive('{"type":"pong"}') is None


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (b"{}", "it is binary"),
        ("", "it is not JSON"),
        ("{", "it is not JSON"),
        ("\ud800", "it is not JSON"),
        ("5", "not a JSON object"),
        ("{}", "not a JSON object"),
        ('{"type":null}', "not a JSON object"),
        ('{"type":"next","id":1,"payload":{}}', "not a JSON object"),
        ('{"type":"smoke"}', "its type 'smoke'"),
        (ACK, "its type 'connection_ack'"),
        ('{"type":"next","id":"2","payload":{}}', "its id '2'"),
        ('{"type":"next","payload":{}}', "its id None"),
        ('{"type":"next","id":"1"}', "without a payload"),
        ('{"type":"error","id":"1"}', "without a payload"),
    ],
)
def test_an_invalid_server_message_is_rejected(operation, message, why):
    """The error has the reason."""
    with pytest.raises(BadMessageError, match=why):
        operation.receive(message)


def test_messages_before_the_acknowledgement_are_rejected():
    """For example an event of an unknown subscription."""
    with pytest.raises(BadMessageError, match="its type 'next'"):
        ClientProtocol(REQUEST).receive('{"type":"next","id":"1","payload":{}}')


def test_client_and_server_protocols_are_compatible():
    """They are connected message by message."""
    server, client = (
        ServerProtocol(lambda payload: payload == {"a": 1}),
        ClientProtocol(REQUEST, b'{"a":1}'),
    )
    ack = server.receive(client.build_init())
    start = server.receive(client.receive(ack.text).text)
    assert isinstance(start, StartOperation)
    assert start.request.query == REQUEST.query
    response = client.receive(server.build_next(start.id, b'{"data":{"a":1}}').text)
    assert response.body == b'{"data":{"a":1}}'
    assert client.receive(server.build_complete(start.id).text) is None
    assert client.ended


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
