"""GraphQL over WebSocket from the client's side, as rules: messages in, what to do out.

One subscription has one socket, so there is one id. The states are::

    hello --connection_ack--> greeted     next: as often as there are events
                                 |        ping, pong: as often as one likes
                                 +--> ended, by error or by complete
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from gqlnb.errors import plain
from gqlnb.wire.graphql_ws import SUBPROTOCOL, Send
from gqlnb.wire.response import JSON, Response

if TYPE_CHECKING:
    from gqlnb.wire.request import Request

__all__ = [
    "BAD_MESSAGE",
    "HEADERS",
    "UNSPOKEN",
    "BadMessageError",
    "Closed",
    "Operation",
    "RefusedError",
    "closed",
]

ID = "1"
PONG = Send('{"type":"pong"}')
BAD_MESSAGE = 4400  # what the protocol closes with after a message that is none of its own
HEADERS: Mapping[str, str] = {"content-type": JSON}  # every message is JSON


class BadMessageError(Exception):
    """A message that no server may send; its text says why, as the end of a sentence."""


class RefusedError(Exception):
    """The server refuses the connection; its text is the server's reason."""


class Message(msgspec.Struct):
    """What every message of a server has; the payload is left as it came."""

    type: str
    id: str | None = None
    payload: msgspec.Raw = msgspec.Raw()


_DECODER = msgspec.json.Decoder(Message)


class Operation:
    """One subscription over one WebSocket.

    Parameters
    ----------
    request
        What is subscribed to.
    init
        The payload of ``connection_init`` as JSON; None for none.

    Attributes
    ----------
    greeted
        Whether the server has let us in.
    ended
        Whether nothing more will come.
    """

    subprotocol = SUBPROTOCOL

    def __init__(self, request: Request, init: bytes | None = None) -> None:
        self.greeted = False
        self.ended = False
        self._request = request
        self._init = init

    def hello(self) -> str:
        """Return the first message."""
        payload = "" if self._init is None else f',"payload":{self._init.decode()}'
        return f'{{"type":"connection_init"{payload}}}'

    def goodbye(self) -> list[str]:
        """Return the messages that end it from this side."""
        return [] if self.ended or not self.greeted else [f'{{"id":"{ID}","type":"complete"}}']

    def receive(self, text: str | bytes) -> Send | Response | None:
        """Take a message; return what to send, or an answer; None for nothing.

        Raises
        ------
        BadMessageError
            If it is none of the protocol, or comes when it may not.
        """
        message = read(text)
        if message.type == "ping":
            return PONG
        if message.type == "pong":
            return None
        if message.type == "connection_ack" and not self.greeted:
            self.greeted = True
            query = self._request.encode().decode()
            return Send(f'{{"id":"{ID}","type":"subscribe","payload":{query}}}')
        if message.type not in ("next", "error", "complete") or not self.greeted:
            msg = f"its type {plain(repr(message.type), 60)} is not what comes here."
            raise BadMessageError(msg)
        return self._operation(message)

    def _operation(self, message: Message) -> Response | None:
        """Take a message of the subscription itself."""
        self._check_id(message)
        self.ended = message.type != "next"
        if message.type == "complete":
            return None
        payload = self._payload_of(message)
        return Response(200, HEADERS, b'{"errors":%b}' % payload if self.ended else payload)

    def _check_id(self, message: Message) -> None:
        """Refuse a message of another operation."""
        if message.id != ID:
            msg = f"its id {plain(repr(message.id), 60)} is none that was asked for."
            raise BadMessageError(msg)

    def _payload_of(self, message: Message) -> bytes:
        """Return the payload of a message that must have one."""
        payload = bytes(message.payload)
        if not payload:
            msg = f"a message {message.type!r} without a payload."
            raise BadMessageError(msg)
        return payload


def read(text: str | bytes) -> Message:
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


class Closed(msgspec.Struct, frozen=True):
    """What a close code means.

    Attributes
    ----------
    why
        In words, as the end of a sentence.
    refused
        Whether it is about the token.
    passing
        Whether to subscribe again may help.
    """

    why: str
    refused: bool = False
    passing: bool = False


# graphql-ws, "PROTOCOL.md", and RFC 6455, section 7.4.1.
CODES: Mapping[int, Closed] = {
    4400: Closed("the endpoint did not understand a message"),
    4401: Closed("the endpoint asks who you are", refused=True),
    4403: Closed("the endpoint refused the connection", refused=True),
    4406: Closed("the endpoint does not speak graphql-transport-ws"),
    4408: Closed("the endpoint waited in vain for an introduction", passing=True),
    4409: Closed("the endpoint says that the subscription runs already"),
    4429: Closed("the endpoint says that it was greeted twice"),
    4500: Closed("the endpoint failed"),
    1002: Closed("the endpoint saw a breach of the WebSocket protocol"),
    1003: Closed("the endpoint does not take text"),
    1007: Closed("the endpoint saw text that is no UTF-8"),
    1008: Closed("the endpoint refused the connection by a policy of its own"),
    1009: Closed("the request is larger than the endpoint takes"),
    1010: Closed("the endpoint lacks an extension of the WebSocket protocol"),
}
# Before the server has let us in, these mean that it does not speak the subprotocol it chose: the
# library ws chooses the first one offered, whatever the application behind it speaks.
UNSPOKEN = frozenset({1002, 4406})
# 1000, 1001, 1005, 1006, 1011 to 1015: only `complete` says that nothing more will come.
LOST = Closed("the connection ended before the subscription was complete", passing=True)


def closed(code: int | None) -> Closed:
    """Return what a close code means; None for a connection that broke without one."""
    if code is not None and 4400 <= code <= 4599 and code not in CODES:
        return Closed("the endpoint ended the connection for a reason of its own")
    return CODES.get(code or 0, LOST)
