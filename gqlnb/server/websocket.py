"""GraphQL over WebSocket: the socket and the clock around :mod:`gqlnb.wire.graphql_ws`."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any

from gqlnb.server.journal import clocks
from gqlnb.server.streams import Account, start_of
from gqlnb.wire.graphql_ws import (
    SUBPROTOCOL,
    UNACCEPTABLE,
    Close,
    Connection,
    Send,
    Start,
    Stop,
    authorization,
    handshake,
)
from gqlnb.wire.json import load
from gqlnb.wire.response import Response
from gqlnb.wire.screening import refusal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gqlnb.server.streams import Exchange, Streamer
    from gqlnb.wire.graphql_ws import Action
    from gqlnb.wire.request import Request
    from gqlnb.wire.rules import Rules

__all__ = ["serve_socket"]


async def serve_socket(
    streams: Streamer | None, exchange: Exchange, rules: Rules, scope: Mapping[str, Any]
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
    began = clocks()
    await exchange.receive()  # the offer of a connection
    refused = handshake(exchange.request, rules)
    if refused is None and streams is None:
        refused = refusal(403, "This schema has no subscriptions, so there is no WebSocket.")
    if refused is not None:
        exchange.journal.add(began, refused)
        await deny(exchange, refused, scope)
    elif SUBPROTOCOL not in scope.get("subprotocols", ()):
        exchange.journal.add(began, Response(UNACCEPTABLE.code))
        await exchange.send({"type": "websocket.accept"})
        await close(exchange, UNACCEPTABLE)
    elif streams is not None:
        await exchange.send({"type": "websocket.accept", "subprotocol": SUBPROTOCOL})
        closed = await Socket(streams, exchange).run()
        if closed is not None:
            exchange.journal.add(began, Response(closed.code))
            await close(exchange, closed)


async def deny(exchange: Exchange, refused: Response, scope: Mapping[str, Any]) -> None:
    """Refuse a handshake, with our words where the host can send them, else with a plain 403."""
    if "websocket.http.response" not in (scope.get("extensions") or {}):
        await exchange.send({"type": "websocket.close", "code": 1008})
        return
    await exchange.send({**start_of(refused), "type": "websocket.http.response.start"})
    await exchange.send({"type": "websocket.http.response.body", "body": refused.body})


async def close(exchange: Exchange, action: Close) -> None:
    """Close a socket; where the client has left meanwhile, nothing is to be done."""
    message = {"type": "websocket.close", "code": action.code, "reason": action.reason}
    with suppress(OSError, RuntimeError):
        await exchange.send(message)


class Socket:
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
        self._connection = Connection(self._allowed, streams.rules.limits.body)
        self._running: dict[str, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()  # those that are being cancelled, too

    def _allowed(self, payload: Mapping[str, Any]) -> bool:
        """Tell whether a client may ask, by the handshake or by what it introduced itself with."""
        token = self._streams.rules.token
        headers = self._exchange.request.headers  # a wrong token in them was refused already
        if token is None or "authorization" in headers:
            return True
        return token.matches(authorization(payload))

    async def run(self) -> Close | None:
        """Take messages until the client leaves (None), or is to be shut out."""
        deadline = asyncio.timeout(self._streams.rules.limits.head_seconds)
        try:
            async with deadline:
                while (message := await self._exchange.receive())["type"] == "websocket.receive":
                    text = message.get("text")
                    data = (message.get("bytes") or b"") if text is None else text
                    action = self._connection.receive(data)
                    if isinstance(action, Close):
                        return action
                    await self._act(action)
                    if self._connection.ready:
                        deadline.reschedule(None)
        except TimeoutError:
            if not deadline.expired():
                raise
            return self._connection.late()
        finally:
            await self._end()
        return None

    async def _act(self, action: Action | None) -> None:
        match action:
            case Send():
                await self._send(action)
            case Start():
                await self._start(action)
            case Stop():
                if task := self._running.pop(action.id, None):
                    task.cancel()

    async def _send(self, action: Send | None) -> None:
        if action is not None:
            # The client has left, or the host has shut it out, as receive() is about to say.
            with suppress(OSError, RuntimeError):
                await self._exchange.send({"type": "websocket.send", "text": action.text})

    async def _start(self, action: Start) -> None:
        if reason := self._exchange.slots.full(self._streams.rules):
            await self._send(self._connection.error(action.id, [{"message": reason}]))
            return
        # Counted here, since the next message may be read before the task runs.
        self._exchange.slots.take()
        task = asyncio.create_task(self._operate(action.id, action.request))
        self._running[action.id] = task
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._exchange.slots.free()

    async def _operate(self, name: str, request: Request) -> None:
        """Run one operation to its end."""
        rules, journal = self._streams.rules, self._exchange.journal
        account = Account(journal, rules, 101, len(request.query))
        try:
            begun = await self._streams.begin(request)
            async with aclosing(self._streams.answers(request, begun)) as answers:
                async for done in answers:
                    await self._tell(name, done, account)
            account.end()
            await self._say(name, self._connection.complete)
        finally:
            account.end()
            if self._is(name):
                del self._running[name]

    async def _tell(self, name: str, done: Response, account: Account) -> None:
        """Send one answer: a result, or what is wrong with the operation."""
        body = account.write(done)
        if "data" in (done.members or {}):
            await self._say(name, self._connection.next, body)
        else:
            account.end()
            await self._say(name, self._connection.error, load(body)["errors"])

    async def _say(self, name: str, message: Any, *members: Any) -> None:
        """Send a message of an operation, unless its client has heard enough."""
        if self._is(name):
            await self._send(message(name, *members))

    def _is(self, name: str) -> bool:
        """Tell whether the operation that asks still owns its id: another may have it by now."""
        return self._running.get(name) is asyncio.current_task()

    async def _end(self) -> None:
        """End all operations; their sources' ``finally`` blocks have run when this returns."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
