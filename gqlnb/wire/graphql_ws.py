"""GraphQL over WebSocket as rules: messages in, what to do out, no socket and no clock.

The protocol is the subprotocol ``graphql-transport-ws`` of ``graphql-ws``. From the server's side::

    new --connection_init--> ready     subscribe, complete, ping, pong: as often as one likes
     |                         |
     +------ Close(code) ------+       4400 no message of the protocol    4401 subscribe before init
                                       4403 the token is missing or wrong 4406 another subprotocol
                                       4408 no init in time               4409 an id that is in use
                                       4429 a second init                 1009 over the limit
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from gqlnb.errors import plain
from gqlnb.wire.json import JSONError, dump, load
from gqlnb.wire.request import BadRequestError, Request, from_members
from gqlnb.wire.rules import ENDPOINT
from gqlnb.wire.screening import known_token, own_host, own_origin, refusal, small_head

if TYPE_CHECKING:
    from gqlnb.wire.http import HttpRequest
    from gqlnb.wire.response import Response
    from gqlnb.wire.rules import Rules

__all__ = [
    "SUBPROTOCOL",
    "UNACCEPTABLE",
    "Action",
    "Close",
    "Connection",
    "Send",
    "Start",
    "Stop",
    "authorization",
    "handshake",
]

SUBPROTOCOL = "graphql-transport-ws"
ID = 256  # characters; each message of an operation repeats its id
REASON = 123  # bytes of UTF-8 that fit into a close frame (RFC 6455, 5.5)


class Send(NamedTuple):
    """Send a message."""

    text: str


class Start(NamedTuple):
    """Start an operation."""

    id: str
    request: Request


class Stop(NamedTuple):
    """Stop an operation: the client has heard enough."""

    id: str


class Close(NamedTuple):
    """Close the socket."""

    code: int
    reason: str


Action = Send | Start | Stop | Close
UNACCEPTABLE = Close(4406, "Subprotocol not acceptable")
TOO_LATE = "Connection initialisation timeout"


def handshake(request: HttpRequest, rules: Rules) -> Response | None:
    """Judge the head of a handshake: the response that refuses it, or None to accept it.

    A browser can send no token with it, so that one may come with ``connection_init``. One that
    does come is judged here.
    """
    if request.path != ENDPOINT:
        return refusal(404, f"Nothing is at {plain(request.path, 80)}. The endpoint is {ENDPOINT}.")
    steps = (small_head, own_host, own_origin)
    for step in (*steps, known_token) if "authorization" in request.headers else steps:
        refused = step(request, rules)
        if refused is not None:
            return refused
    return None


class Connection:
    """One WebSocket from the server's side.

    Parameters
    ----------
    allowed
        Tells by the payload of ``connection_init`` whether a client may ask.
    most
        Characters of a message; None for any number.

    Attributes
    ----------
    ready
        Whether the client was let in.
    closed
        Whether a Close was given; nothing follows it.
    active
        The ids of the operations that run.
    """

    def __init__(
        self, allowed: Callable[[Mapping[str, Any]], bool], most: int | None = None
    ) -> None:
        self.ready = False
        self.closed = False
        self.active: set[str] = set()
        self._allowed = allowed
        self._most = most

    # ---------------------------------------------------------------- from the client

    def receive(self, message: str | bytes) -> Action | None:
        """Take a message and return what to do about it; None for nothing."""
        if self.closed:
            return None
        try:
            return self._take(message)
        except BadRequestError as error:
            return self._close(4400, str(error))

    def _take(self, message: str | bytes) -> Action | None:
        if not isinstance(message, str):
            return self._close(4400, "Binary messages are not taken; send JSON as text.")
        if self._most is not None and len(message) > self._most:
            return self._close(1009, f"At most {self._most:,} characters are read.")
        members = read(message)
        kind = members.get("type")
        take = self._TAKE.get(kind) if isinstance(kind, str) else None
        if take is None:
            return self._close(4400, f"No client sends the type {plain(repr(kind), 60)}.")
        return take(self, members)

    def _init(self, members: Mapping[str, Any]) -> Action:
        if self.ready:
            return self._close(4429, "Too many initialisation requests")
        if not self._allowed(payload_of(members)):
            return self._close(4403, "Forbidden")
        self.ready = True
        return Send('{"type":"connection_ack"}')

    def _subscribe(self, members: Mapping[str, Any]) -> Action:
        if not self.ready:
            return self._close(4401, "Unauthorized")
        name = id_of(members)
        request = from_members(members.get("payload"))
        if name in self.active:
            return self._close(4409, f"Subscriber for {plain(name, 60)} already exists")
        self.active.add(name)
        return Start(name, request)

    def _complete(self, members: Mapping[str, Any]) -> Action | None:
        name = id_of(members)
        if name not in self.active:
            return None  # our own complete is on its way
        self.active.remove(name)
        return Stop(name)

    def _ping(self, members: Mapping[str, Any]) -> Action:
        payload_of(members)  # a payload may be sent back, and need not
        return Send('{"type":"pong"}')

    def _pong(self, members: Mapping[str, Any]) -> None:
        payload_of(members)

    _TAKE: ClassVar[Mapping[str, Callable[[Connection, Mapping[str, Any]], Action | None]]] = {
        "connection_init": _init,
        "subscribe": _subscribe,
        "complete": _complete,
        "ping": _ping,
        "pong": _pong,
    }

    # ---------------------------------------------------------------- to the client

    def next(self, name: str, body: bytes) -> Send | None:
        """Return the message with a result in JSON; None if nobody waits for it any more."""
        if name not in self.active:
            return None
        return Send(f'{{"id":{dump(name).decode()},"type":"next","payload":{body.decode()}}}')

    def error(self, name: str, errors: list[Any]) -> Send | None:
        """Return the message with what is wrong, which ends the operation."""
        if name not in self.active:
            return None
        self.active.remove(name)
        return Send(dump({"id": name, "type": "error", "payload": errors}).decode())

    def complete(self, name: str) -> Send | None:
        """Return the message that an operation is complete."""
        if name not in self.active:
            return None
        self.active.remove(name)
        return Send(dump({"id": name, "type": "complete"}).decode())

    def late(self) -> Close | None:
        """Close the socket of a client that has not introduced itself in time."""
        return None if self.ready or self.closed else self._close(4408, TOO_LATE)

    def _close(self, code: int, reason: str) -> Close:
        self.closed = True
        self.active.clear()
        return Close(code, cut(reason))


def read(message: str) -> Mapping[str, Any]:
    """Return the members of a message.

    Raises
    ------
    BadRequestError
        If it is no JSON object.
    """
    try:
        members = load(message.encode())
    except (JSONError, UnicodeEncodeError) as error:
        msg = f"The message is not JSON: {error}"
        raise BadRequestError(msg) from None
    if not isinstance(members, Mapping):
        msg = "A message is a JSON object with a member 'type'."
        raise BadRequestError(msg)
    return members


def id_of(members: Mapping[str, Any]) -> str:
    """Return the id of an operation.

    Raises
    ------
    BadRequestError
        If there is none.
    """
    name = members.get("id")
    if isinstance(name, str) and 0 < len(name) <= ID:
        return name
    msg = f"The member 'id' must be a string of 1 to {ID} characters."
    raise BadRequestError(msg)


def payload_of(members: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the payload of a message that may have one; empty without.

    Raises
    ------
    BadRequestError
        If it is no object.
    """
    payload = members.get("payload")
    if payload is None or isinstance(payload, Mapping):
        return payload or {}
    msg = "The member 'payload' must be an object."
    raise BadRequestError(msg)


def authorization(payload: Mapping[str, Any]) -> str | None:
    """Return the ``Authorization`` of a ``connection_init``, in any case; None without."""
    for name, value in payload.items():
        if name.lower() == "authorization" and isinstance(value, str):
            return value
    return None


def cut(reason: str) -> str:
    """Return a reason that fits into a close frame."""
    return reason.encode()[:REASON].decode(errors="ignore")
