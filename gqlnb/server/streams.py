"""Operations whose answers are streamed: what a subscription runs on, and server-sent events."""

from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing, contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from graphql import GraphQLError

from gqlnb.errors import QueryError
from gqlnb.model.variables import bind
from gqlnb.server import workers
from gqlnb.server.execution import Work, cancelled, response
from gqlnb.server.journal import clocks
from gqlnb.wire import sse
from gqlnb.wire.http import HttpRequest
from gqlnb.wire.json import dump
from gqlnb.wire.masking import masked
from gqlnb.wire.request import BadRequestError, Request, asked, decode
from gqlnb.wire.response import Response
from gqlnb.wire.screening import refusal, shared
from gqlnb.wire.writing import written

if TYPE_CHECKING:
    from collections.abc import (
        AsyncGenerator,
        AsyncIterator,
        Awaitable,
        Callable,
        Coroutine,
        Iterator,
        MutableMapping,
    )

    from gqlnb.server.execution import Executable, Executor
    from gqlnb.server.journal import Journal
    from gqlnb.wire.masking import Faults
    from gqlnb.wire.rules import Rules

    Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
    Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

__all__ = ["Account", "Exchange", "Slots", "Streamer", "start_of", "streamed", "streamer"]

# Seconds of silence: proxies close what is silent for a minute. graphql-sse pings as often.
KEEP_ALIVE = 12.0
RETRY = "5"  # seconds after which there may be room again
_LOG = logging.getLogger("gqlnb")


class Events(Protocol):
    """The stream of a subscription."""

    def __aiter__(self) -> AsyncIterator[Any]:
        """Yield results."""

    async def aclose(self) -> None:
        """End it."""


class Streamer:
    """Answers operations one by one, and subscriptions event by event.

    Parameters
    ----------
    schema
        A schema with a subscription type.
    execute
        Runs queries and mutations.
    rules
        What is let through.
    """

    def __init__(self, schema: Executable, execute: Executor, rules: Rules) -> None:
        self.rules = rules
        self.execute = execute
        self._work = Work(schema, rules.limits, rules.access)

    async def begin(self, request: Request) -> Events | Response | None:
        """Return the stream of a subscription, what is wrong with the request, or None."""
        try:
            return await workers.run(lambda: self._begin(request))
        except (Exception, SystemExit, KeyboardInterrupt) as error:
            return broken(error, request)

    def _begin(self, request: Request) -> Events | Response | None:
        schema: Any = self._work.schema
        limits, introspection = self.rules.limits, self.rules.access.introspection
        name = request.operation_name
        try:
            document = schema.document(
                request.query, name, limits=limits, introspection=introspection
            )
            if document.kind != "subscription":
                refused = request.safe and document.kind == "mutation"
                return Response(405) if refused else None
            variables = bind(document, request.variables)
            return schema.stream(document, variables, limits=limits, place=workers.run)  # type: ignore[no-any-return]
        except QueryError as error:
            return self._work.refused(request, error)

    async def answers(
        self, request: Request, begun: Events | Response | None
    ) -> AsyncGenerator[Response, None]:
        """Yield what the engine answers to a request that was begun.

        Nothing is raised: a source that breaks ends the stream with an answer without data.
        """
        try:
            if begun is None:
                yield await self.execute(request)
            elif isinstance(begun, Response):
                yield begun
            else:
                async for result in begun:
                    yield response(result)
        except QueryError as error:
            yield self._work.refused(request, error)
        except (Exception, SystemExit, KeyboardInterrupt) as error:
            yield broken(error, request)
        except asyncio.CancelledError as error:
            if cancelled():
                raise
            yield broken(error, request)  # what the source awaited was cancelled, and not we
        finally:
            if begun is not None and not isinstance(begun, Response):
                await closed(begun)


async def closed(stream: Events) -> None:
    """End a stream; nobody is left to hear what its source raises then."""
    try:
        await stream.aclose()
    except Exception as error:
        _LOG.error("The source of a subscription failed to close", exc_info=error)


def streamer(schema: Executable, execute: Executor, rules: Rules) -> Streamer | None:
    """Return what streams answers; None for a schema without subscriptions."""
    core = getattr(schema, "graphql", None)
    streams = core is not None and core.subscription_type is not None and hasattr(schema, "stream")
    return Streamer(schema, execute, rules) if streams else None


def broken(error: BaseException, request: Request) -> Response:
    """Return the answer that ends a stream whose source has raised an exception."""
    shown = error.formatted if isinstance(error, GraphQLError) else {"message": str(error)}
    name = request.operation_name
    return Response(500, members={"errors": [dict(shown)]}, causes=(error,), operation=name)


class Slots:
    """How many operations an application streams at the moment."""

    def __init__(self) -> None:
        self.taken = 0

    def full(self, rules: Rules) -> str | None:
        """Return why there is no room for one more; None if there is."""
        most = rules.limits.subscriptions
        if most is None or self.taken < most:
            return None
        return f"At most {most:,} operations are streamed at once. Try again when one has ended."

    def take(self) -> None:
        """Count one more operation."""
        self.taken += 1

    def free(self) -> None:
        """Count one less."""
        self.taken -= 1

    @contextmanager
    def one(self) -> Iterator[None]:
        """Take a place for as long as an operation is streamed."""
        self.take()
        try:
            yield
        finally:
            self.free()


class Account:
    """One operation that is streamed: writes its answers, and notes it when it has ended.

    Parameters
    ----------
    journal
        Where it is noted; an exception at once, since the client has its id.
    rules
        What a client is told of errors.
    status
        The status it is noted with.
    size
        Bytes that asked for it.
    """

    def __init__(self, journal: Journal, rules: Rules, status: int, size: int) -> None:
        self._journal, self._limits = journal, rules.limits
        self._began, self._size, self._sent = clocks(), size, 0
        self._noted = Response(status)
        self._open = True

    def write(self, done: Response) -> bytes:
        """Return an answer as JSON; whatever it holds, there is something to send."""
        faults: Faults = []
        try:
            body = written(done, self._limits, faults)
        except (Exception, SystemExit, KeyboardInterrupt) as error:
            body = dump({"errors": [{"message": masked(error, "the request", faults)}]})
        if faults:
            self._journal.keep(faults)
        self._sent += len(body)
        # Of a stream that fails and fails again, the first exception.
        first = self._noted.faults or tuple(faults[:1])
        name = done.operation or self._noted.operation
        self._noted = replace(self._noted, operation=name, faults=first)
        return body

    def end(self) -> None:
        """Note the operation, once: before the client hears that it has ended."""
        if not self._open:
            return
        self._open = False
        self._journal.add(self._began, self._noted, self._size, self._sent)


# ---------------------------------------------------------------- server-sent events


class Exchange(NamedTuple):
    """One request and the ASGI host it came from.

    Attributes
    ----------
    request
        The whole request, whose head was screened.
    journal
        Where it is noted.
    slots
        Room for streams.
    receive, send
        The two ends of the host.
    """

    request: HttpRequest
    journal: Journal
    slots: Slots
    receive: Receive
    send: Send


async def streamed(streams: Streamer, exchange: Exchange) -> bool:
    """Answer a request as server-sent events; False, and nothing is sent, if it wants JSON."""
    request, rules = exchange.request, streams.rules
    operation = read(request, rules)
    if operation is None:
        return False
    if reason := exchange.slots.full(rules):
        refused = shared(refusal(503, reason, {"retry-after": RETRY}), request, rules)
        exchange.journal.add(clocks(), refused, len(request.body))
        await exchange.send(start_of(refused))
        await exchange.send({"type": "http.response.body", "body": refused.body})
        return True
    with exchange.slots.one():
        begun = await streams.begin(operation)
        if not wanted(request, begun):
            return False
        account = Account(exchange.journal, rules, 200, len(request.body))
        try:
            await send_events(streams.answers(operation, begun), account, exchange, rules)
        finally:
            account.end()
    return True


def start_of(response: Response) -> dict[str, Any]:
    """Return the message with the head of a response."""
    headers = [(name.encode(), text.encode("latin-1")) for name, text in response.headers.items()]
    return {"type": "http.response.start", "status": response.status, "headers": headers}


def read(request: HttpRequest, rules: Rules) -> Request | None:
    """Return the operation of a request that may have to be streamed; None for any other.

    What is wrong with the request itself is no event: it is answered as always.
    """
    most = rules.limits.body
    if sse.welcome(request.headers.get("accept")) == "never":
        return None
    if most is not None and len(request.body) > most:
        return None
    try:
        return asked(request.query_string) if request.method == "GET" else decode(request.body)
    except BadRequestError:
        return None


def wanted(request: HttpRequest, begun: Events | Response | None) -> bool:
    """Tell whether a request that was begun is answered as events."""
    if isinstance(begun, Response) and begun.status == 405:
        return False
    if begun is None or isinstance(begun, Response):
        return sse.welcome(request.headers.get("accept")) == "always"
    return True


async def send_events(
    answers: AsyncGenerator[Response, None], account: Account, exchange: Exchange, rules: Rules
) -> None:
    """Send answers as events until they end or the client leaves."""
    turn = asyncio.Lock()  # events and comments are sent one at a time

    async def give(part: bytes, *, more: bool = True) -> None:
        async with turn:
            message = {"type": "http.response.body", "body": part, "more_body": more}
            await exchange.send(message)

    async def events() -> None:
        head = shared(Response(200, sse.HEADERS), exchange.request, rules)
        await exchange.send(start_of(head))
        await give(sse.KEEP_ALIVE)  # the head leaves now, not with the first event
        async with aclosing(answers):
            async for done in answers:
                await give(sse.event(account.write(done)))
        account.end()
        await give(sse.COMPLETE, more=False)

    async def left() -> None:
        while True:
            try:
                async with asyncio.timeout(KEEP_ALIVE):
                    message = await exchange.receive()
            except TimeoutError:
                await give(sse.KEEP_ALIVE)
                continue
            if message["type"] == "http.disconnect":
                return

    with suppress(OSError):  # so a host says that the client has left (ASGI, "Disconnected client")
        await while_there(events(), left())


async def while_there(work: Coroutine[Any, Any, None], left: Coroutine[Any, Any, None]) -> None:
    """Run `work` to its end, or cancel it when `left` ends.

    It has ended when this returns: its ``finally`` blocks, too.
    """
    tasks = [asyncio.ensure_future(work), asyncio.ensure_future(left)]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    for task in tasks:
        if not task.cancelled():
            task.result()
