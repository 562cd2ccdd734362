"""GraphQL over WebSocket from the client's side, as rules: messages in, what to do out.

One subscription has one socket, so there is one id. The states are::

    hello --connection_ack--> greeted     next: as often as there are events
                                 |        ping, pong: as often as one likes
                                 +--> ended, by error or by complete
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from gqlnb.document.json_codec import JSONError, dump_json, load_json
from gqlnb.errors import sanitize_text
from gqlnb.http.graphql_ws_server import SUBPROTOCOL, SendMessage
from gqlnb.http.messages import JSON_CONTENT_TYPE, Response

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gqlnb.http.messages import Request

__all__ = [
    "ANSWER_HEADERS",
    "BAD_MESSAGE_CODE",
    "LEGACY_SUBPROTOCOL",
    "WRONG_SUBPROTOCOL_CODES",
    "BadMessageError",
    "ClientProtocol",
    "CloseReason",
    "LegacyClientProtocol",
    "RefusedError",
    "explain_close_code",
    "parse_error_payload",
]

OPERATION_ID = "1"
PONG = SendMessage('{"type":"pong"}')
BAD_MESSAGE_CODE = 4400  # what the protocol closes with after a message that is none of its own
ANSWER_HEADERS: Mapping[str, str] = {"content-type": JSON_CONTENT_TYPE}  # every message is JSON


class BadMessageError(Exception):
    """A message that no server may send; its text says why, as the end of a sentence."""


class RefusedError(Exception):
    """The server refuses the connection; its text is the server's reason."""


class ServerMessage(msgspec.Struct):
    """What every message of a server has; the payload is left as it came."""

    type: str
    id: str | None = None
    payload: msgspec.Raw = msgspec.Raw()


_DECODER = msgspec.json.Decoder(ServerMessage)


class ClientProtocol:
    """One subscription over one WebSocket.

    Parameters
    ----------
    request
        What is subscribed to.
    init
        The payload of ``connection_init`` as JSON; None for none.

    Attributes
    ----------
    acknowledged
        Whether the server has let us in.
    ended
        Whether nothing more will come.
    """

    subprotocol = SUBPROTOCOL

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
        """Return the messages that end it from this side."""
        return (
            []
            if self.ended or not self.acknowledged
            else [f'{{"id":"{OPERATION_ID}","type":"complete"}}']
        )

    def receive(self, text: str | bytes) -> SendMessage | Response | None:
        """Take a message; return what to send, or an answer; None for nothing.

        Raises
        ------
        BadMessageError
            If it is none of the protocol, or comes when it may not.
        """
        message = parse_server_message(text)
        if message.type == "ping":
            return PONG
        if message.type == "pong":
            return None
        if message.type == "connection_ack" and not self.acknowledged:
            self.acknowledged = True
            query = self._request.encode().decode()
            return SendMessage(f'{{"id":"{OPERATION_ID}","type":"subscribe","payload":{query}}}')
        if message.type not in ("next", "error", "complete") or not self.acknowledged:
            msg = f"its type {sanitize_text(repr(message.type), 60)} is not what comes here."
            raise BadMessageError(msg)
        return self._handle_result(message)

    def _handle_result(self, message: ServerMessage) -> Response | None:
        """Take a message of the subscription itself."""
        self._check_id(message)
        self.ended = message.type != "next"
        if message.type == "complete":
            return None
        payload = self._require_payload(message)
        return Response(200, ANSWER_HEADERS, b'{"errors":%b}' % payload if self.ended else payload)

    def _check_id(self, message: ServerMessage) -> None:
        """Refuse a message of another operation."""
        if message.id != OPERATION_ID:
            msg = f"its id {sanitize_text(repr(message.id), 60)} is none that was asked for."
            raise BadMessageError(msg)

    def _require_payload(self, message: ServerMessage) -> bytes:
        """Return the payload of a message that must have one."""
        payload = bytes(message.payload)
        if not payload:
            msg = f"a message {message.type!r} without a payload."
            raise BadMessageError(msg)
        return payload


def parse_server_message(text: str | bytes) -> ServerMessage:
    """Return a message.

    Raises
    ------
    BadMessageError
        If it is not a JSON object with a type, as text.
    """
    if not isinstance(text, str):
        msg = "it is binary, and the protocol is JSON as text."
        raise BadMessageError(msg)
    try:
        return _DECODER.decode(text)
    except msgspec.ValidationError:
        reason = "it is no JSON object with a text 'type'."
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        reason = "it is not JSON."
    raise BadMessageError(reason)


class CloseReason(msgspec.Struct, frozen=True):
    """What a close code means.

    Attributes
    ----------
    description
        In words, as the end of a sentence.
    refused
        Whether it is about the token.
    transient
        Whether to subscribe again may help.
    """

    description: str
    refused: bool = False
    transient: bool = False


# graphql-ws, "PROTOCOL.md", and RFC 6455, section 7.4.1.
CLOSE_REASONS: Mapping[int, CloseReason] = {
    4400: CloseReason("the endpoint did not understand a message"),
    4401: CloseReason("the endpoint asks who you are", refused=True),
    4403: CloseReason("the endpoint refused the connection", refused=True),
    4406: CloseReason("the endpoint does not speak graphql-transport-ws"),
    4408: CloseReason("the endpoint waited in vain for an introduction", transient=True),
    4409: CloseReason("the endpoint says that the subscription runs already"),
    4429: CloseReason("the endpoint says that it was greeted twice"),
    4500: CloseReason("the endpoint failed"),
    1002: CloseReason("the endpoint saw a breach of the WebSocket protocol"),
    1003: CloseReason("the endpoint does not take text"),
    1007: CloseReason("the endpoint saw text that is no UTF-8"),
    1008: CloseReason("the endpoint refused the connection by a policy of its own"),
    1009: CloseReason("the request is larger than the endpoint takes"),
    1010: CloseReason("the endpoint lacks an extension of the WebSocket protocol"),
}
# Before the server has let us in, these mean that it does not speak the subprotocol it chose: the
# library ws chooses the first one offered, whatever the application behind it speaks.
WRONG_SUBPROTOCOL_CODES = frozenset({1002, 4406})
# 1000, 1001, 1005, 1006, 1011 to 1015: only `complete` says that nothing more will come.
CONNECTION_LOST = CloseReason(
    "the connection ended before the subscription was complete", transient=True
)


def explain_close_code(code: int | None) -> CloseReason:
    """Return what a close code means; None for a connection that broke without one."""
    if code is not None and 4400 <= code <= 4599 and code not in CLOSE_REASONS:
        return CloseReason("the endpoint ended the connection for a reason of its own")
    return CLOSE_REASONS.get(code or 0, CONNECTION_LOST)


LEGACY_SUBPROTOCOL = "graphql-ws"


class LegacyClientProtocol(ClientProtocol):
    """One subscription over one WebSocket of the older subprotocol.

    Parameters and attributes are those of :class:`~gqlnb.http.graphql_ws_client.ClientProtocol`.
    """

    subprotocol = LEGACY_SUBPROTOCOL

    def build_init(self) -> str:
        """Return the first message.

        It always has a payload, as that of the library's own client: PostGraphile 4 fails without.
        """
        payload = "{}" if self._init_payload is None else self._init_payload.decode()
        return f'{{"type":"connection_init","payload":{payload}}}'

    def build_end_messages(self) -> list[str]:
        """Return the messages that end it from this side."""
        stop = (
            [f'{{"id":"{OPERATION_ID}","type":"stop"}}']
            if self.acknowledged and not self.ended
            else []
        )
        return [*stop, '{"type":"connection_terminate"}'] if self.acknowledged else []

    def receive(self, text: str | bytes) -> SendMessage | Response | None:
        """Take a message; return a message to send, or an answer; None for neither.

        Raises
        ------
        RefusedError
            If the server refuses the connection.
        BadMessageError
            If the message is not of the protocol, or out of order.
        """
        message = parse_server_message(text)
        if message.type == "ka":
            return None
        if message.type == "connection_ack" and not self.acknowledged:
            self.acknowledged = True
            query = self._request.encode().decode()
            return SendMessage(f'{{"id":"{OPERATION_ID}","type":"start","payload":{query}}}')
        if message.type == "connection_error":
            raise RefusedError(parse_error_payload(bytes(message.payload))[0]["message"])
        if message.type not in ("data", "error", "complete") or not self.acknowledged:
            msg = f"its type {sanitize_text(repr(message.type), 60)} is not what comes here."
            raise BadMessageError(msg)
        return self._handle_legacy_result(message)

    def _handle_legacy_result(self, message: ServerMessage) -> Response | None:
        """Take a message of the subscription itself."""
        self._check_id(message)
        self.ended = message.type != "data"
        if message.type == "complete":
            return None
        payload = self._require_payload(message)
        if message.type == "data":
            return Response(200, ANSWER_HEADERS, payload)
        return Response(200, ANSWER_HEADERS, dump_json({"errors": parse_error_payload(payload)}))


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
        found = load_json(payload)
    except JSONError:
        found = None
    if isinstance(found, dict) and isinstance(found.get("errors"), list):
        found = found["errors"]
    errors = found if isinstance(found, list) else [found]
    return [_normalize_error(each) for each in errors] or [_normalize_error(None)]


def _normalize_error(value: Any) -> Mapping[str, Any]:
    if isinstance(value, dict):
        if isinstance(value.get("message"), str):
            return value
        said = value.get("error")  # Hasura's older versions
        return {**value, "message": said if isinstance(said, str) else "no reason given"}
    return {"message": value if isinstance(value, str) and value else "no reason given"}
