"""The client's side of GraphQL over WebSocket, without I/O: both subprotocols, and close codes.

One subscription has one socket, so there is one operation id. The states are::

    initial --connection_ack--> acknowledged --error or complete--> ended

with any number of `next` messages before the end, and pings and pongs at any time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import msgspec

from gqlnb.document.json_codec import JSONError, dump_json, load_json
from gqlnb.errors import sanitize_text
from gqlnb.http.graphql_ws_server import LEGACY_SUBPROTOCOL, SUBPROTOCOL, SendMessage
from gqlnb.http.messages import JSON_CONTENT_TYPE, Response

if TYPE_CHECKING:
    from gqlnb.http.messages import Request

__all__ = [
    "ANSWER_HEADERS",
    "BAD_MESSAGE_CODE",
    "LEGACY_SUBPROTOCOL",
    "WRONG_SUBPROTOCOL_CODES",
    "BadMessageError",
    "ClientProtocol",
    "LegacyClientProtocol",
    "RefusedError",
    "explain_close_code",
]

_OPERATION_ID = "1"
_PONG = SendMessage('{"type":"pong"}')
BAD_MESSAGE_CODE = 4400  # the close code after an invalid message
ANSWER_HEADERS: Mapping[str, str] = {"content-type": JSON_CONTENT_TYPE}


class BadMessageError(Exception):
    """The server sent an invalid message; the text is the reason, as the end of a sentence."""


class RefusedError(Exception):
    """The server refused the connection; the text is the server's reason."""


class ServerMessage(msgspec.Struct):
    """A message of a server, its payload not decoded."""

    type: str
    id: str | None = None
    payload: msgspec.Raw = msgspec.Raw()


# The payload is decoded later, with the types of the schema, so that numbers stay exact.
_DECODER = msgspec.json.Decoder(ServerMessage)


class ClientProtocol:
    """One subscription over one WebSocket, subprotocol ``graphql-transport-ws``.

    Parameters
    ----------
    request
        The subscription.
    init
        The payload of ``connection_init`` as JSON; None for none.

    Attributes
    ----------
    acknowledged
        Whether the server has accepted the connection.
    ended
        Whether the subscription has ended.
    """

    subprotocol: ClassVar[str] = SUBPROTOCOL
    _start_type: ClassVar[str] = "subscribe"
    _next_type: ClassVar[str] = "next"

    def __init__(self, request: Request, init: bytes | None = None) -> None:
        self.acknowledged = False
        self.ended = False
        self._request = request
        self._init_payload = init

    def build_init(self) -> str:
        """Return the first message."""
        payload = "" if self._init_payload is None else f',"payload":{self._init_payload.decode()}'
        return f'{{"type":"connection_init"{payload}}}'

    def build_end_messages(self) -> list[str]:
        """Return the messages that end the subscription from the client's side."""
        if self.ended or not self.acknowledged:
            return []
        return [f'{{"id":"{_OPERATION_ID}","type":"complete"}}']

    def receive(self, text: str | bytes) -> SendMessage | Response | None:
        """Handle a message; return a message to send, or a response, or None.

        Raises
        ------
        RefusedError
            If the server refuses the connection.
        BadMessageError
            If the message is not of the protocol, or out of order.
        """
        message = _parse_server_message(text)
        if message.type == "connection_ack" and not self.acknowledged:
            self.acknowledged = True
            start = f'"type":"{self._start_type}","payload":{self._request.encode().decode()}'
            return SendMessage(f'{{"id":"{_OPERATION_ID}",{start}}}')
        if self.acknowledged and message.type in (self._next_type, "error", "complete"):
            return self._handle_result(message)
        return self._handle_other(message)

    def _handle_result(self, message: ServerMessage) -> Response | None:
        if message.id != _OPERATION_ID:
            msg = f"its id {sanitize_text(repr(message.id), 60)} is not that of an operation."
            raise BadMessageError(msg)
        self.ended = message.type != self._next_type
        if message.type == "complete":
            return None
        payload = bytes(message.payload)
        if not payload:
            msg = f"a message {message.type!r} without a payload."
            raise BadMessageError(msg)
        return Response(
            200, ANSWER_HEADERS, self._encode_errors(payload) if self.ended else payload
        )

    def _encode_errors(self, payload: bytes) -> bytes:
        """Return the payload of ``error`` as a GraphQL response."""
        return b'{"errors":%b}' % payload

    def _handle_other(self, message: ServerMessage) -> SendMessage | None:
        """Handle a message that is neither an acknowledgement nor a result."""
        if message.type not in ("ping", "pong"):
            _raise_unexpected(message)
        return _PONG if message.type == "ping" else None


class LegacyClientProtocol(ClientProtocol):
    """One subscription over one WebSocket, legacy subprotocol ``graphql-ws``.

    Parameters and attributes are those of :class:`ClientProtocol`.
    """

    subprotocol = LEGACY_SUBPROTOCOL
    _start_type = "start"
    _next_type = "data"

    def build_init(self) -> str:
        """Return the first message, always with a payload: PostGraphile 4 fails without."""
        payload = "{}" if self._init_payload is None else self._init_payload.decode()
        return f'{{"type":"connection_init","payload":{payload}}}'

    def build_end_messages(self) -> list[str]:
        """Return the messages that end the subscription from the client's side."""
        if not self.acknowledged:
            return []
        stop = [] if self.ended else [f'{{"id":"{_OPERATION_ID}","type":"stop"}}']
        return [*stop, '{"type":"connection_terminate"}']

    def _encode_errors(self, payload: bytes) -> bytes:
        return dump_json({"errors": parse_error_payload(payload)})

    def _handle_other(self, message: ServerMessage) -> None:
        if message.type == "connection_error":
            raise RefusedError(parse_error_payload(bytes(message.payload))[0]["message"])
        if message.type != "ka":  # keep-alive
            _raise_unexpected(message)


def _raise_unexpected(message: ServerMessage) -> NoReturn:
    msg = f"its type {sanitize_text(repr(message.type), 60)} is not expected here."
    raise BadMessageError(msg)


def _parse_server_message(text: str | bytes) -> ServerMessage:
    if not isinstance(text, str):
        msg = "it is binary, and the protocol is JSON as text."
        raise BadMessageError(msg)
    try:
        return _DECODER.decode(text)
    except msgspec.ValidationError:
        reason = "it is not a JSON object with a text 'type'."
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        reason = "it is not JSON."
    raise BadMessageError(reason)


class CloseReason(msgspec.Struct, frozen=True):
    """The meaning of a close code.

    Attributes
    ----------
    description
        The meaning, as the end of a sentence.
    refused
        Whether the token is missing or wrong.
    transient
        Whether a new subscription may succeed.
    """

    description: str
    refused: bool = False
    transient: bool = False


# graphql-ws, "PROTOCOL.md", and RFC 6455, section 7.4.1.
CLOSE_REASONS: Mapping[int, CloseReason] = {
    4400: CloseReason("the endpoint did not understand a message"),
    4401: CloseReason("the endpoint requires authentication", refused=True),
    4403: CloseReason("the endpoint refused the connection", refused=True),
    4406: CloseReason("the endpoint does not speak graphql-transport-ws"),
    4408: CloseReason("the endpoint received no connection_init in time", transient=True),
    4409: CloseReason("the endpoint reports that the subscription is already running"),
    4429: CloseReason("the endpoint reports a second connection_init"),
    4500: CloseReason("the endpoint failed"),
    1002: CloseReason("the endpoint reports a violation of the WebSocket protocol"),
    1003: CloseReason("the endpoint does not accept text"),
    1007: CloseReason("the endpoint received text that is not UTF-8"),
    1008: CloseReason("the endpoint refused the connection by a policy of its own"),
    1009: CloseReason("the request is larger than the endpoint accepts"),
    1010: CloseReason("the endpoint lacks an extension of the WebSocket protocol"),
}
# Before connection_ack these mean that the server does not support the subprotocol it chose: the
# library ws chooses the first one offered, whatever the application supports.
WRONG_SUBPROTOCOL_CODES = frozenset({1002, 4406})
# 1000, 1001, 1005, 1006, 1011 to 1015: only `complete` ends a subscription.
CONNECTION_LOST = CloseReason(
    "the connection ended before the subscription was complete", transient=True
)


def explain_close_code(code: int | None) -> CloseReason:
    """Return the meaning of a close code; None is a connection that broke without one."""
    if code is not None and 4400 <= code <= 4599 and code not in CLOSE_REASONS:
        return CloseReason("the endpoint ended the connection for a reason of its own")
    return CLOSE_REASONS.get(code or 0, CONNECTION_LOST)


def parse_error_payload(payload: bytes) -> list[Mapping[str, Any]]:
    """Return the payload of ``error`` or ``connection_error`` as errors of a GraphQL response.

    Parameters
    ----------
    payload
        JSON: one error, a list of them, ``{"errors": [...]}`` or a text, depending on the server.

    Returns
    -------
    list of dict
        At least one, each with a `message`.
    """
    try:
        value = load_json(payload)
    except JSONError:
        value = None
    if isinstance(value, dict) and isinstance(value.get("errors"), list):
        value = value["errors"]
    errors = value if isinstance(value, list) else [value]
    return [_normalize_error(error) for error in errors or [None]]


def _normalize_error(value: object) -> Mapping[str, Any]:
    if isinstance(value, dict):
        if isinstance(value.get("message"), str):
            return value
        message = value.get("error")  # of Hasura's older versions
        return {**value, "message": message if isinstance(message, str) else "no reason given"}
    return {"message": value if isinstance(value, str) and value else "no reason given"}
