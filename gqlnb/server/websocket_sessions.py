"""GraphQL over WebSocket: the socket and the clock around :mod:`gqlnb.http.graphql_ws_server`."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any

from gqlnb.document.json_codec import load_json
from gqlnb.http.graphql_ws_server import (
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
from gqlnb.http.messages import Response
from gqlnb.http.preconditions import build_error_response
from gqlnb.server.request_log import read_clocks
from gqlnb.server.streams import StreamedOperation, build_start_message

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gqlnb.http.graphql_ws_server import Action
    from gqlnb.http.messages import Request
    from gqlnb.http.server_rules import ServerRules
    from gqlnb.server.streams import Exchange, Streamer

__all__ = ["serve_websocket"]


async def serve_websocket(
    streams: Streamer | None, exchange: Exchange, rules: ServerRules, scope: Mapping[str, Any]
) -> None:
    """Serve one WebSocket until either side closes it.

    Parameters
    ----------
    streams
        What answers; None where the schema has no subscriptions, and so no WebSocket.
    exchange
        The handshake, and the host it came from.
    rules
        What is let through.
    scope
        What the host says of the connection.
    """
    began = read_clocks()
    await exchange.receive()  # the offer of a connection
    refused = check_handshake(exchange.request, rules)
    if refused is None and streams is None:
        refused = build_error_response(
            403, "This schema has no subscriptions, so there is no WebSocket."
        )
    if refused is not None:
        exchange.request_log.add_request(began, refused)
        await reject_handshake(exchange, refused, scope)
    elif SUBPROTOCOL not in scope.get("subprotocols", ()):
        exchange.request_log.add_request(began, Response(SUBPROTOCOL_UNACCEPTABLE.code))
        await exchange.send({"type": "websocket.accept"})
        await close_socket(exchange, SUBPROTOCOL_UNACCEPTABLE)
    elif streams is not None:
        await exchange.send({"type": "websocket.accept", "subprotocol": SUBPROTOCOL})
        closed = await WebSocketSession(streams, exchange).run()
        if closed is not None:
            exchange.request_log.add_request(began, Response(closed.code))
            await close_socket(exchange, closed)


async def reject_handshake(exchange: Exchange, refused: Response, scope: Mapping[str, Any]) -> None:
    """Refuse a handshake, with our words where the host can send them, else with a plain 403."""
    if "websocket.http.response" not in (scope.get("extensions") or {}):
        await exchange.send({"type": "websocket.close", "code": 1008})
        return
    await exchange.send({**build_start_message(refused), "type": "websocket.http.response.start"})
    await exchange.send({"type": "websocket.http.response.body", "body": refused.body})


async def close_socket(exchange: Exchange, action: CloseSocket) -> None:
    """Close a socket; where the client has left meanwhile, nothing is to be done."""
    message = {"type": "websocket.close", "code": action.code, "reason": action.reason}
    with suppress(OSError, RuntimeError):
        await exchange.send(message)


class WebSocketSession:
    """One WebSocket that was accepted.

    Parameters
    ----------
    streams
        What answers.
    exchange
        The handshake, and the host it came from.
    """

    def __init__(self, streams: Streamer, exchange: Exchange) -> None:
        self._streams, self._exchange = streams, exchange
        self._protocol = ServerProtocol(self._is_allowed, streams.rules.limits.body)
        self._running: dict[str, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()  # those that are being cancelled, too

    def _is_allowed(self, payload: Mapping[str, Any]) -> bool:
        """Tell whether a client may ask, by the handshake or by what it introduced itself with."""
        token = self._streams.rules.token
        headers = self._exchange.request.headers  # a wrong token in them was refused already
        if token is None or "authorization" in headers:
            return True
        return token.matches(find_authorization(payload))

    async def run(self) -> CloseSocket | None:
        """Take messages until the client leaves (None), or is to be shut out."""
        deadline = asyncio.timeout(self._streams.rules.limits.head_seconds)
        try:
            async with deadline:
                while (message := await self._exchange.receive())["type"] == "websocket.receive":
                    text = message.get("text")
                    data = (message.get("bytes") or b"") if text is None else text
                    action = self._protocol.receive(data)
                    if isinstance(action, CloseSocket):
                        return action
                    await self._perform_action(action)
                    if self._protocol.ready:
                        deadline.reschedule(None)
        except TimeoutError:
            if not deadline.expired():
                raise
            return self._protocol.close_unless_ready()
        finally:
            await self._cancel_operations()
        return None

    async def _perform_action(self, action: Action | None) -> None:
        match action:
            case SendMessage():
                await self._send_message(action)
            case StartOperation():
                await self._start_operation(action)
            case StopOperation():
                if task := self._running.pop(action.id, None):
                    task.cancel()

    async def _send_message(self, action: SendMessage | None) -> None:
        if action is not None:
            # The client has left, or the host has shut it out, as receive() is about to say.
            with suppress(OSError, RuntimeError):
                await self._exchange.send({"type": "websocket.send", "text": action.text})

    async def _start_operation(self, action: StartOperation) -> None:
        if reason := self._exchange.slots.explain_refusal(self._streams.rules):
            await self._send_message(self._protocol.build_error(action.id, [{"message": reason}]))
            return
        # Counted here, since the next message may be read before the task runs.
        self._exchange.slots.acquire_slot()
        task = asyncio.create_task(self._run_operation(action.id, action.request))
        self._running[action.id] = task
        self._tasks.add(task)
        task.add_done_callback(self._release_task)

    def _release_task(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._exchange.slots.release_slot()

    async def _run_operation(self, name: str, request: Request) -> None:
        """Run one operation to its end."""
        rules, journal = self._streams.rules, self._exchange.request_log
        account = StreamedOperation(journal, rules, 101, len(request.query))
        try:
            begun = await self._streams.start_operation(request)
            async with aclosing(self._streams.stream_responses(request, begun)) as answers:
                async for done in answers:
                    await self._send_answer(name, done, account)
            account.log_end()
            await self._send_if_current(name, self._protocol.build_complete)
        finally:
            account.log_end()
            if self._is_current(name):
                del self._running[name]

    async def _send_answer(self, name: str, done: Response, account: StreamedOperation) -> None:
        """Send one answer: a result, or what is wrong with the operation."""
        body = account.encode_answer(done)
        if "data" in (done.members or {}):
            await self._send_if_current(name, self._protocol.build_next, body)
        else:
            account.log_end()
            await self._send_if_current(name, self._protocol.build_error, load_json(body)["errors"])

    async def _send_if_current(self, name: str, message: Any, *members: Any) -> None:
        """Send a message of an operation, unless its client has heard enough."""
        if self._is_current(name):
            await self._send_message(message(name, *members))

    def _is_current(self, name: str) -> bool:
        """Tell whether the operation that asks still owns its id: another may have it by now."""
        return self._running.get(name) is asyncio.current_task()

    async def _cancel_operations(self) -> None:
        """End all operations; their sources' ``finally`` blocks have run when this returns."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
