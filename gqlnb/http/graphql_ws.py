"""GraphQL over WebSocket without I/O: both sides of the protocol, and close codes.

The protocol is the subprotocol ``graphql-transport-ws`` of the package ``graphql-ws``. For a
server, a message in is an action out::

    new --connection_init--> ready     subscribe, complete, ping, pong: any number
     |                         |
     +----- CloseSocket -------+       4400 invalid message       4401 subscribe before init
                                       4403 token missing, wrong  4406 other subprotocol
                                       4408 no init in time       4409 id in use
                                       4429 second init           1009 message too long

Clients also speak the older protocol, of the package ``subscriptions-transport-ws``. It has other
types of messages; its errors are a result, followed by ``complete``.

For a client, one subscription has one socket, so there is one operation id. The states are::

    initial --connection_ack--> acknowledged --error or complete--> ended

with any number of `next` messages before the end, and pings and pongs at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, NoReturn

import msgspec

from gqlnb.document.json_codec import JSONError, dump_json, load_json, mark_numbers, unmark_numbers
from gqlnb.errors import sanitize_text
from gqlnb.http.messages import JSON_CONTENT_TYPE, BadRequestError, Request, Response, build_request
from gqlnb.http.preconditions import (
    build_error_response,
    check_head_size,
    check_host_header,
    check_origin_header,
    check_token,
)

if TYPE_CHECKING:
    from gqlnb.http.messages import HttpRequest
    from gqlnb.http.server_rules import ServerRules

SUBPROTOCOL, LEGACY_SUBPROTOCOL = "graphql-transport-ws", "graphql-ws"
_MAX_ID_LENGTH = 256  # characters; each message or event of an operation repeats its id
MAX_REASON_BYTES = 123  # UTF-8 bytes in a close frame (RFC 6455, 5.5)


class SendMessage(NamedTuple):
    """Send a message."""

    text: str


class StartOperation(NamedTuple):
    """Start an operation."""

    id: str
    request: Request


class StopOperation(NamedTuple):
    """Stop an operation, at the client's request."""

    id: str


class CloseSocket(NamedTuple):
    """Close the socket."""

    code: int
    reason: str


Action = SendMessage | StartOperation | StopOperation | CloseSocket
_PONG = SendMessage('{"type":"pong"}')
SUBPROTOCOL_UNACCEPTABLE = CloseSocket(4406, "Subprotocol not acceptable")


def check_handshake(request: HttpRequest, rules: ServerRules) -> Response | None:
    """Check a handshake: return the response that refuses it, or None to accept it."""
    # Browsers cannot send a token in the handshake; it may follow in `connection_init`. A token in
    # the handshake is checked here.
    if request.path != rules.path:
        return build_error_response(
            404, f"Nothing is at {sanitize_text(request.path, 80)}. The endpoint is {rules.path}."
        )
    # No method, Accept or Content-Type to check: the WebSocket library has checked the handshake.
    steps = (check_head_size, check_host_header, check_origin_header)
    for step in (*steps, check_token) if "authorization" in request.headers else steps:
        refused = step(request, rules)
        if refused is not None:
            return refused
    return None


class ServerProtocol:
    """The server's side of one WebSocket.

    Parameters
    ----------
    allowed
        Returns whether a client has access, by the payload of ``connection_init``.
    most
        Maximum length of a message in characters; None for no limit.

    Attributes
    ----------
    ready
        Whether the client was accepted.
    closed
        Whether a CloseSocket was returned; nothing follows it.
    active
        The ids of the running operations.
    """

    def __init__(
        self, allowed: Callable[[Mapping[str, object]], bool], most: int | None = None
    ) -> None:
        self.ready = False
        self.closed = False
        self.active: set[str] = set()
        self._is_allowed = allowed
        self._max_length = most

    def receive(self, message: str | bytes) -> Action | None:
        """Handle a message of the client, and return the action it requires."""
        if self.closed:
            return None
        try:
            return self._handle_message(message)
        except BadRequestError as error:
            return self._close(4400, str(error))

    def _handle_message(self, message: str | bytes) -> Action | None:
        if not isinstance(message, str):
            return self._close(4400, "Binary messages are not accepted; send JSON as text.")
        if self._max_length is not None and len(message) > self._max_length:
            return self._close(1009, f"At most {self._max_length:,} characters are accepted.")
        members = _parse_message(message)
        kind = members.get("type")
        if kind in ("ping", "pong"):
            _read_payload(members)  # the pong needs no payload
            return _PONG if kind == "ping" else None
        handlers = {
            "connection_init": self._handle_init,
            "subscribe": self._handle_subscribe,
            "complete": self._handle_complete,
        }
        if not isinstance(kind, str) or kind not in handlers:
            quoted = sanitize_text(repr(kind), 60)
            return self._close(4400, f"The type {quoted} is not a valid client message type.")
        return handlers[kind](members)

    def _handle_init(self, members: Mapping[str, object]) -> Action:
        if self.ready:
            return self._close(4429, "Too many initialisation requests")
        if not self._is_allowed(_read_payload(members)):
            return self._close(4403, "Forbidden")
        self.ready = True
        return SendMessage('{"type":"connection_ack"}')

    def _handle_subscribe(self, members: Mapping[str, object]) -> Action:
        if not self.ready:
            return self._close(4401, "Unauthorized")
        name = check_operation_id(members.get("id"), "'id'")
        request = build_request(members.get("payload"))
        if name in self.active:
            return self._close(4409, f"Subscriber for {sanitize_text(name, 60)} already exists")
        self.active.add(name)
        return StartOperation(name, request)

    def _handle_complete(self, members: Mapping[str, object]) -> Action | None:
        name = check_operation_id(members.get("id"), "'id'")
        if name not in self.active:
            return None  # our own `complete` has crossed it
        self.active.remove(name)
        return StopOperation(name)

    def build_next(self, name: str, body: bytes) -> SendMessage | None:
        """Return the message of a result in JSON; None if the operation was stopped."""
        if name not in self.active:
            return None
        # `body` is JSON already; decoding it to encode it again would double the cost of an event.
        return SendMessage(
            f'{{"id":{dump_json(name).decode()},"type":"next","payload":{body.decode()}}}'
        )

    def build_error(self, name: str, errors: list[object]) -> SendMessage | None:
        """Return the message of errors, which ends the operation; None if it was stopped."""
        return self._end_operation(name, {"type": "error", "payload": errors})

    def build_complete(self, name: str) -> SendMessage | None:
        """Return the message that an operation is complete; None if it was stopped."""
        return self._end_operation(name, {"type": "complete"})

    def _end_operation(self, name: str, members: Mapping[str, object]) -> SendMessage | None:
        if name not in self.active:
            return None
        self.active.remove(name)
        return SendMessage(dump_json({"id": name, **members}).decode())

    def close_unless_ready(self) -> CloseSocket | None:
        """Close the socket of a client that has not sent ``connection_init`` in time."""
        if self.ready or self.closed:
            return None
        return self._close(4408, "Connection initialisation timeout")

    def _close(self, code: int, reason: str) -> CloseSocket:
        self.closed = True
        self.active.clear()
        return CloseSocket(code, reason.encode()[:MAX_REASON_BYTES].decode(errors="ignore"))


def _parse_message(message: str) -> Mapping[str, object]:
    try:
        members = load_json(message.encode())
    except (JSONError, UnicodeEncodeError) as error:
        msg = f"The message is not JSON: {error}"
        raise BadRequestError(msg) from None
    if not isinstance(members, Mapping):
        msg = "A message is a JSON object with a member 'type'."
        raise BadRequestError(msg)
    return members


def check_operation_id(name: object, member: str) -> str:
    """Return the id that a client gives to an operation; raise BadRequestError if invalid."""
    if isinstance(name, str) and 0 < len(name) <= _MAX_ID_LENGTH:
        return name
    msg = f"The member {member} must be a string of 1 to {_MAX_ID_LENGTH} characters."
    raise BadRequestError(msg)


def _read_payload(members: Mapping[str, object]) -> Mapping[str, object]:
    """Return the optional payload of a message; empty if it is missing."""
    payload = members.get("payload")
    if payload is None or isinstance(payload, Mapping):
        return payload or {}
    msg = "The member 'payload' must be an object."
    raise BadRequestError(msg)


def find_authorization(payload: Mapping[str, object]) -> str | None:
    """Return the ``Authorization`` of a ``connection_init``, in any letter case, or None."""
    for name, value in payload.items():
        if name.lower() == "authorization" and isinstance(value, str):
            return value
    return None


_OPERATION_ID = "1"
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
        body = text.encode()
        marked = mark_numbers(body)
        message = _DECODER.decode(marked)
    except msgspec.ValidationError:
        reason = "it is not a JSON object with a text 'type'."
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        reason = "it is not JSON."
    else:
        if marked is not body:  # the payload keeps them, for the parser of the response
            message.payload = msgspec.Raw(unmark_numbers(bytes(message.payload)))
        return message
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
