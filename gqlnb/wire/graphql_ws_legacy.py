"""The older WebSocket subprotocol, ``graphql-ws``, from the client's side, as rules.

It is that of the library ``subscriptions-transport-ws``, which many servers still speak, some of
them nothing else. Its name is the name of the library that replaced it, whose subprotocol is
``graphql-transport-ws``. The states are::

    new --connection_ack--> acknowledged     data: once per event; ka at any time
     |                            |
     +-- connection_error         +--> ended, by error or by complete

Source: apollographql/subscriptions-transport-ws, "PROTOCOL.md".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gqlnb.errors import plain
from gqlnb.wire.graphql_ws import Send
from gqlnb.wire.graphql_ws_client import (
    HEADERS,
    ID,
    BadMessageError,
    Message,
    Operation,
    RefusedError,
    read,
)
from gqlnb.wire.json import JSONError, dump, load
from gqlnb.wire.response import Response

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["LEGACY_SUBPROTOCOL", "LegacyOperation", "parse_error_payload"]

LEGACY_SUBPROTOCOL = "graphql-ws"


class LegacyOperation(Operation):
    """One subscription over one WebSocket of the older subprotocol.

    Parameters and attributes are those of :class:`~gqlnb.wire.graphql_ws_client.Operation`.
    """

    subprotocol = LEGACY_SUBPROTOCOL

    def hello(self) -> str:
        """Return the first message.

        It always has a payload, as that of the library's own client: PostGraphile 4 fails without.
        """
        payload = "{}" if self._init is None else self._init.decode()
        return f'{{"type":"connection_init","payload":{payload}}}'

    def goodbye(self) -> list[str]:
        """Return the messages that end it from this side."""
        stop = [f'{{"id":"{ID}","type":"stop"}}'] if self.greeted and not self.ended else []
        return [*stop, '{"type":"connection_terminate"}'] if self.greeted else []

    def receive(self, text: str | bytes) -> Send | Response | None:
        """Take a message; return a message to send, or an answer; None for neither.

        Raises
        ------
        RefusedError
            If the server refuses the connection.
        BadMessageError
            If the message is not of the protocol, or out of order.
        """
        message = read(text)
        if message.type == "ka":
            return None
        if message.type == "connection_ack" and not self.greeted:
            self.greeted = True
            query = self._request.encode().decode()
            return Send(f'{{"id":"{ID}","type":"start","payload":{query}}}')
        if message.type == "connection_error":
            raise RefusedError(parse_error_payload(bytes(message.payload))[0]["message"])
        if message.type not in ("data", "error", "complete") or not self.greeted:
            msg = f"its type {plain(repr(message.type), 60)} is not what comes here."
            raise BadMessageError(msg)
        return self._receive_result(message)

    def _receive_result(self, message: Message) -> Response | None:
        """Take a message of the subscription itself."""
        self._check_id(message)
        self.ended = message.type != "data"
        if message.type == "complete":
            return None
        payload = self._payload_of(message)
        if message.type == "data":
            return Response(200, HEADERS, payload)
        return Response(200, HEADERS, dump({"errors": parse_error_payload(payload)}))


def parse_error_payload(payload: bytes) -> list[Mapping[str, Any]]:
    """Return the payload of ``error`` or ``connection_error`` as errors of a GraphQL response.

    Parameters
    ----------
    payload
        JSON. Servers send one error, a list of them, ``{"errors": [...]}`` or a text.

    Returns
    -------
    list of dict
        At least one, each with a `message`.
    """
    try:
        found = load(payload)
    except JSONError:
        found = None
    if isinstance(found, dict) and isinstance(found.get("errors"), list):
        found = found["errors"]
    errors = found if isinstance(found, list) else [found]
    return [_error_of(each) for each in errors] or [_error_of(None)]


def _error_of(value: Any) -> Mapping[str, Any]:
    if isinstance(value, dict):
        if isinstance(value.get("message"), str):
            return value
        said = value.get("error")  # Hasura's older versions
        return {**value, "message": said if isinstance(said, str) else "no reason given"}
    return {"message": value if isinstance(value, str) and value else "no reason given"}
