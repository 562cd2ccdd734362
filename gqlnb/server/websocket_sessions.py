"""GraphQL over WebSocket: sockets, tasks and time limits for the protocol in `gqlnb.http`."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any

from gqlnb.document.json_codec import JSONError, load_json
from gqlnb.http.graphql_ws import (
    SUBPROTOCOL,
    SUBPROTOCOL_UNACCEPTABLE,
    CloseSocket,
    SendMessage,
    ServerProtocol,
    StartOperation,
    StopOperation,
    check_handshake,
    find_authorization,
)
from gqlnb.http.handler import attach_http_request
from gqlnb.http.messages import Response
from gqlnb.http.preconditions import build_error_response
from gqlnb.server.authentication import authenticate
from gqlnb.server.request_log import read_clocks
from gqlnb.server.streams import EVENT_PARTS, RunningOperations, build_start_message

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gqlnb.http.graphql_ws import Action
    from gqlnb.http.messages import Request
    from gqlnb.http.server_rules import ServerRules
    from gqlnb.server.streams import AsgiExchange, Streamer


async def serve_websocket(
    streams: Streamer | None, exchange: AsgiExchange, rules: ServerRules, scope: Mapping[str, Any]
) -> None:
    """Serve one WebSocket until either side closes it.

    Parameters
    ----------
    streams
        Runs the operations; None for a schema without subscriptions, which has no WebSocket.
    exchange
        The handshake and its ASGI connection.
    rules
        The rules of the server.
    scope
        The ASGI scope.
    """
    began = read_clocks()
    await exchange.receive()  # websocket.connect
    refused = check_handshake(exchange.request, rules)
    if refused is None and streams is None:
        refused = build_error_response(
            403, "This schema has no subscriptions, so there is no WebSocket."
        )
    if refused is None and streams is not None and "authorization" in exchange.request.headers:
        header = exchange.request.headers["authorization"]
        verified, refused = await authenticate(exchange.request, streams.execute, header)
        exchange = exchange._replace(request=verified)
    if refused is not None:
        exchange.request_log.add_request(began, refused)
        await _reject_handshake(exchange, refused, scope)
        return
    if SUBPROTOCOL not in scope.get("subprotocols", ()):
        exchange.request_log.add_request(began, Response(SUBPROTOCOL_UNACCEPTABLE.code))
        await exchange.send({"type": "websocket.accept"})
        await _close_socket(exchange, SUBPROTOCOL_UNACCEPTABLE)
    elif streams is not None:
        await exchange.send({"type": "websocket.accept", "subprotocol": SUBPROTOCOL})
        closed = await WebSocketSession(streams, exchange).run()
        if closed is not None:
            exchange.request_log.add_request(began, Response(closed.code))
            await _close_socket(exchange, closed)


async def _reject_handshake(
    exchange: AsgiExchange, refused: Response, scope: Mapping[str, Any]
) -> None:
    """Refuse a handshake, with a response if the host supports that, else with a plain 403."""
    if "websocket.http.response" not in (scope.get("extensions") or {}):
        await exchange.send({"type": "websocket.close", "code": 1008})
        return
    await exchange.send({**build_start_message(refused), "type": "websocket.http.response.start"})
    await exchange.send({"type": "websocket.http.response.body", "body": refused.body})


async def _close_socket(exchange: AsgiExchange, action: CloseSocket) -> None:
    message = {"type": "websocket.close", "code": action.code, "reason": action.reason}
    with suppress(OSError, RuntimeError):  # the client has disconnected
        await exchange.send(message)


class WebSocketSession:
    """One accepted WebSocket.

    Parameters
    ----------
    streams
        Runs the operations.
    exchange
        The handshake and its ASGI connection.
    """

    def __init__(self, streams: Streamer, exchange: AsgiExchange) -> None:
        self._streams, self._exchange = streams, exchange
        self._request = exchange.request  # with the identity, once it is known
        self._protocol = ServerProtocol(self._is_allowed, streams.rules.limits.body)
        self._operations = RunningOperations(exchange.slots)

    def _is_allowed(self, payload: Mapping[str, object]) -> bool:
        """Return whether a client has access, by its handshake or ``connection_init``."""
        if self._streams.rules.verify is not None:
            return self._request.identity is not None
        token = self._streams.rules.token
        headers = self._exchange.request.headers  # check_handshake refuses a wrong token in them
        if token is None or "authorization" in headers:
            return True
        return token.matches(find_authorization(payload))

    async def run(self) -> CloseSocket | None:
        """Handle messages until the client disconnects (None), or the server has to close."""
        deadline = asyncio.timeout(self._streams.rules.limits.head_seconds)
        try:
            async with deadline:
                while (message := await self._exchange.receive())["type"] == "websocket.receive":
                    text = message.get("text")
                    data = (message.get("bytes") or b"") if text is None else text
                    await self._authenticate(data)
                    action = self._protocol.receive(data)
                    if isinstance(action, CloseSocket):
                        return action
                    await self._perform_action(action, len(data))
                    # The time limit is for connection_init only; pings detect dead clients later.
                    if self._protocol.ready:
                        deadline.reschedule(None)
        except TimeoutError:
            if not deadline.expired():
                raise
            return self._protocol.close_unless_ready()
        finally:
            # Sources may hold files or connections, which must be closed before the socket is.
            if tasks := self._operations.cancel():
                await asyncio.wait(tasks)
        return None

    async def _authenticate(self, message: str | bytes) -> None:
        """Verify the token of the first message by a function, unless the handshake had it."""
        rules = self._streams.rules
        if rules.verify is None or self._request.identity is not None or self._protocol.ready:
            return
        with suppress(JSONError, UnicodeEncodeError):  # the protocol closes the socket
            members = load_json(message.encode() if isinstance(message, str) else message)
            payload = members.get("payload") if isinstance(members, dict) else None
            header = find_authorization(payload) if isinstance(payload, dict) else None
            self._request, _ = await authenticate(self._request, self._streams.execute, header)

    async def _perform_action(self, action: Action | None, size: int) -> None:
        match action:
            case SendMessage():
                await self._send_message(action)
            case StartOperation():
                await self._start_operation(action, size)
            case StopOperation():
                self._operations.stop(action.id)

    async def _send_message(self, action: SendMessage | None) -> None:
        if action is not None:
            # After a disconnect, which receive() returns next.
            with suppress(OSError, RuntimeError):
                await self._exchange.send({"type": "websocket.send", "text": action.text})

    async def _start_operation(self, action: StartOperation, size: int) -> None:
        if reason := self._exchange.slots.explain_refusal(self._streams.rules):
            await self._send_message(self._protocol.build_error(action.id, [{"message": reason}]))
            return
        request = attach_http_request(action.request, self._request, self._streams.rules)
        self._operations.start(action.id, self._run_operation(action.id, request, size))

    async def _run_operation(self, name: str, request: Request, size: int) -> None:
        answers = self._streams.run_operation(
            request,
            self._streams.start_operation(request, EVENT_PARTS),
            self._exchange.request_log,
            size=size,
            status=101,
        )
        async with aclosing(answers):
            async for body, is_error in answers:
                if self._operations.is_current(name):
                    await self._send_message(
                        self._protocol.build_error(name, load_json(body)["errors"])
                        if is_error
                        else self._protocol.build_next(name, body)
                    )
        if self._operations.is_current(name):
            await self._send_message(self._protocol.build_complete(name))
