"""The server's side of GraphQL over WebSocket, without I/O: a message in, an action out.

The protocol is the subprotocol ``graphql-transport-ws`` of the package ``graphql-ws``::

    new --connection_init--> ready     subscribe, complete, ping, pong: any number
     |                         |
     +----- CloseSocket -------+       4400 invalid message       4401 subscribe before init
                                       4403 token missing, wrong  4406 other subprotocol
                                       4408 no init in time       4409 id in use
                                       4429 second init           1009 message too long

The older protocol, of the package ``subscriptions-transport-ws``, has other types of messages; its
errors are a result, followed by ``complete``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from gqlnb.document.json_codec import JSONError, dump_json, load_json
from gqlnb.errors import sanitize_text
from gqlnb.http.messages import BadRequestError, Request, build_request
from gqlnb.http.preconditions import (
    build_error_response,
    check_head_size,
    check_host_header,
    check_origin_header,
    check_token,
)

if TYPE_CHECKING:
    from gqlnb.http.headers import HttpRequest
    from gqlnb.http.messages import Response
    from gqlnb.http.server_rules import ServerRules

__all__ = [
    "LEGACY_SUBPROTOCOL",
    "SUBPROTOCOL",
    "SUBPROTOCOLS",
    "SUBPROTOCOL_UNACCEPTABLE",
    "Action",
    "CloseSocket",
    "LegacyServerProtocol",
    "SendMessage",
    "ServerProtocol",
    "StartOperation",
    "StopOperation",
    "check_handshake",
    "find_authorization",
]

SUBPROTOCOL, LEGACY_SUBPROTOCOL = "graphql-transport-ws", "graphql-ws"
_MAX_ID_LENGTH = 256  # characters; each message of an operation repeats its id
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
        kind = self.MESSAGE_TYPES.get(kind) if isinstance(kind, str) else None
        handler = self._HANDLERS.get(kind or "")
        if handler is None:
            shown = sanitize_text(repr(members.get("type")), 60)
            return self._close(4400, f"The type {shown} is not a valid client message type.")
        return handler(self, members)

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
        name = _read_operation_id(members)
        request = build_request(members.get("payload"))
        if name in self.active:
            return self._close(4409, f"Subscriber for {sanitize_text(name, 60)} already exists")
        self.active.add(name)
        return StartOperation(name, request)

    def _handle_complete(self, members: Mapping[str, object]) -> Action | None:
        name = _read_operation_id(members)
        if name not in self.active:
            return None  # our own `complete` has crossed it
        self.active.remove(name)
        return StopOperation(name)

    def _handle_ping(self, members: Mapping[str, object]) -> Action:
        _read_payload(members)  # the pong needs no payload
        return SendMessage('{"type":"pong"}')

    def _handle_pong(self, members: Mapping[str, object]) -> None:
        _read_payload(members)

    def _handle_terminate(self, _members: Mapping[str, object]) -> Action:
        return self._close(1000, "")

    NEXT_TYPE: ClassVar[str] = "next"
    # The types of the client's messages, and their handlers.
    MESSAGE_TYPES: ClassVar[Mapping[str, str]] = {
        name: name for name in ("connection_init", "subscribe", "complete", "ping", "pong")
    }
    _HANDLERS: ClassVar[
        Mapping[str, Callable[[ServerProtocol, Mapping[str, object]], Action | None]]
    ] = {
        "connection_init": _handle_init,
        "subscribe": _handle_subscribe,
        "complete": _handle_complete,
        "ping": _handle_ping,
        "pong": _handle_pong,
        "terminate": _handle_terminate,
    }

    def build_next(self, name: str, body: bytes) -> SendMessage | None:
        """Return the message of a result in JSON; None if the operation was stopped."""
        if name not in self.active:
            return None
        # `body` is JSON already; decoding it to encode it again would double the cost of an event.
        return SendMessage(
            f'{{"id":{dump_json(name).decode()},"type":"{self.NEXT_TYPE}",'
            f'"payload":{body.decode()}}}'
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
        return (
            None
            if self.ready or self.closed
            else self._close(4408, "Connection initialisation timeout")
        )

    def _close(self, code: int, reason: str) -> CloseSocket:
        self.closed = True
        self.active.clear()
        return CloseSocket(code, reason.encode()[:MAX_REASON_BYTES].decode(errors="ignore"))


class LegacyServerProtocol(ServerProtocol):
    """The server's side of the older protocol of ``subscriptions-transport-ws``."""

    NEXT_TYPE = "data"
    MESSAGE_TYPES: ClassVar[Mapping[str, str]] = {
        "connection_init": "connection_init",
        "start": "subscribe",
        "stop": "complete",
        "connection_terminate": "terminate",
    }

    def build_error(self, name: str, errors: list[object]) -> SendMessage | None:
        """Return the message of a result with errors alone; :meth:`build_complete` follows."""
        return self.build_next(name, dump_json({"errors": errors}))


# By subprotocol, the preferred one first.
SUBPROTOCOLS: Mapping[str, type[ServerProtocol]] = {
    SUBPROTOCOL: ServerProtocol,
    LEGACY_SUBPROTOCOL: LegacyServerProtocol,
}


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


def _read_operation_id(members: Mapping[str, object]) -> str:
    name = members.get("id")
    if isinstance(name, str) and 0 < len(name) <= _MAX_ID_LENGTH:
        return name
    msg = f"The member 'id' must be a string of 1 to {_MAX_ID_LENGTH} characters."
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
