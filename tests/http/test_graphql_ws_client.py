"""The client's side of both WebSocket subprotocols, without a socket."""

from __future__ import annotations

import pytest

from gqlnb.http.graphql_ws import (
    ClientProtocol,
    LegacyClientProtocol,
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
