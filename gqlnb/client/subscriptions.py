"""Results in a stream: subscriptions, begun again when they break, and answers in parts."""

from __future__ import annotations

import asyncio
import logging
import random
import sys
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gqlnb.client.attempts import watched
from gqlnb.client.events import IN_PARTS
from gqlnb.client.secrets import Secrets, checked_value, sendable
from gqlnb.client.streaming import Ways, responses
from gqlnb.client.transports import InProcess
from gqlnb.engine.adopting import deferred
from gqlnb.engine.streaming import Stream
from gqlnb.errors import (
    AnswerError,
    AuthError,
    GqlnbError,
    OptionError,
    QueryError,
    RateLimited,
    TransportError,
    plain,
)
from gqlnb.sealing import bare, unseen
from gqlnb.token import Token
from gqlnb.wire.answers import Asked, read
from gqlnb.wire.incremental import Growing, NoPartError, grown
from gqlnb.wire.retry import PASSING, failure

if TYPE_CHECKING:
    from gqlnb.client.streaming import Way
    from gqlnb.client.transports import Transport
    from gqlnb.model.document import Document
    from gqlnb.model.result import Result
    from gqlnb.wire.request import Request
    from gqlnb.wire.response import Response

__all__ = ["AGAIN", "Init", "Subscription", "check_kind", "checked_ways", "in_parts"]

AGAIN = 5  # attempts in a row to subscribe again, as graphql-ws makes
FIRST = 0.5  # seconds before the first of them; doubled for each further one
LONGEST = 30.0  # seconds
NEITHER = (
    "It offers neither a WebSocket of graphql-transport-ws or graphql-ws nor server-sent events."
)
ONCE = "the subscription was answered once, with JSON, and not with a stream of events."
Init = Mapping[str, Any] | bool | None
_LOG = logging.getLogger("gqlnb")


class Subscription(Stream):
    """The Results of a subscription at an endpoint, one for each event, as they come.

    Of a query or mutation whose answer comes in parts (``@defer``, ``@stream``) each Result is the
    answer as far as it has come; the last one is all of it.

    It is iterated with ``for`` or ``async for``, and ends when the loop is left, by ``break``, an
    error or an interrupt, at the end of a ``with`` or ``async with`` block, and by :meth:`close` or
    :meth:`aclose`. The endpoint is asked at the first step. Up to 64 events are read ahead; whoever
    takes them more slowly slows the endpoint.

    Attributes
    ----------
    document : Document
        The document that was subscribed to.
    source : str
        Where the events are from.
    reconnects : int
        How often the connection broke and the endpoint let us in again. It has grown when the first
        Result after such a gap is there: events in between are missing.
    """

    def __init__(
        self, transport: Transport, request: Request, asked: Asked, ways: Ways, again: int
    ) -> None:
        self.source = asked.source
        self._following = Following(transport, request, asked, ways, again)
        super().__init__(self._following.all, asked.document)

    @property
    def reconnects(self) -> int:
        """How often the endpoint let us in again."""
        return self._following.reconnects

    def __repr__(self) -> str:
        return f"Subscription({self.source!r})"


class Following:
    """Follows a subscription through its connections.

    The stream knows it and it does not know the stream, which ends when nobody holds it any more.
    """

    def __init__(
        self, transport: Transport, request: Request, asked: Asked, ways: Ways, again: int
    ) -> None:
        self.reconnects = 0
        self._transport, self._request, self._asked = transport, request, asked
        self._ways, self._again = ways, again
        self._inside = self._begun = False
        self._tried = 0
        self._growing = None if asked.document.kind == "subscription" else Growing()
        self._last: Result | None = None

    async def all(self) -> AsyncGenerator[Result, None]:
        """Yield results, subscribing again as often as that may help."""
        while True:
            try:
                async with aclosing(self._once()) as results:
                    async for result in results:
                        yield result
            except GqlnbError as error:
                ended = bare(error)
                if self._growing is not None and ended.result is None:
                    ended.result = self._last
            else:
                return
            if self._tried >= self._again or not self._may_pass(ended):
                raise self._told(ended)
            self._tried += 1
            self._tell(ended)
            await asyncio.sleep(backoff(self._tried))

    async def _once(self) -> AsyncGenerator[Result, None]:
        """Yield the results of one connection."""
        self._inside = False
        async with aclosing(responses(self._transport, self._request, self._ways)) as came:
            async for response in came:
                if response is None:  # the endpoint has let us in
                    self.reconnects += self._begun
                    self._inside = self._begun = True
                    continue
                result = self._result(response)
                if not self._inside and self._growing is None:
                    msg = f"{self._asked.source}: {ONCE}"
                    raise AnswerError(msg, result=result)
                self._tried = 0
                yield result
                if self._growing is not None and not self._growing.more:
                    return
        if self._growing is not None:
            msg = (
                f"{self._asked.source}: the stream ended before the last part of the answer. "
                "What had come is in error.result."
            )
            raise AnswerError(msg)  # with what had come, see `all`

    def _result(self, response: Response) -> Result:
        """Return the result of a response; of a part, the answer as far as it has come.

        Raises
        ------
        AnswerError
            If it is no part of the answer. What had come is its ``.result``.
        """
        growing = self._growing
        fault = None
        if growing is not None and response.status == 200:
            try:
                response = grown(response, growing)
            except NoPartError as error:
                fault = (
                    f"{self._asked.source}: part {growing.parts} of the answer does not go with "
                    f"those before it: {error}. What had come is in error.result."
                )
        if fault is not None:
            raise AnswerError(fault)  # with what had come, see `all`
        self._last = read(response, replace(self._asked, now=time.time(), streaming=True))
        return self._last

    def _may_pass(self, error: GqlnbError) -> bool:
        """Tell whether to subscribe again may help.

        Where the endpoint had let us in before, nobody there may mean that it is starting anew.
        """
        if not isinstance(error, TransportError) or isinstance(error, (AuthError, RateLimited)):
            return False
        anew = self._begun and not self._inside and error.status in {None, *PASSING}
        return anew or failure(error) is not None

    def _tell(self, error: GqlnbError) -> None:
        """Say in the log, and once to a person who waits, that events may be missing."""
        missing = "; events in between are missing" if self._begun else ""
        said = (
            f"{plain(error, 300)} Subscribing again (attempt {self._tried} of {self._again})"
            f"{missing}."
        )
        _LOG.warning("%s", said)
        if not self.reconnects and self._tried == 1 and watched():
            sys.stderr.write(f"{said} Interrupt to stop.\n")

    def _told(self, error: GqlnbError) -> GqlnbError:
        """Return the error that ends it, with what is known beside it."""
        said = ""
        if self._tried:
            times = "once" if self._tried == 1 else f"{self._tried} times in a row"
            said = f" Tried {times} to subscribe again."
        elif isinstance(error, (TransportError, AnswerError)) and self._no_way(error):
            said = f" {NEITHER}"
        if said:
            error.args = (f"{error.args[0]}{said}",)
        return error

    def _no_way(self, error: GqlnbError) -> bool:
        """Tell whether there was an answer, but no stream, in either way."""
        about = isinstance(error, AnswerError) or getattr(error, "status", None) is not None
        known = self._ways.way or getattr(self._transport, "way", None)
        return about and known is None and not isinstance(error, (AuthError, RateLimited))


def backoff(tried: int, fraction: Callable[[], float] = random.random) -> float:
    """Return the seconds to wait before an attempt: between half and all of each step."""
    return min(LONGEST, FIRST * 2.0 ** (tried - 1)) * (0.5 + fraction() / 2)


@unseen
def checked_ways(
    way: Way | None, init: Init, again: int, timeout: float, transport: Transport
) -> tuple[Ways, list[Token]]:
    """Return how to subscribe, and the secrets of `init` that are to be hidden.

    Raises
    ------
    OptionError
        If an option has no such value.
    TargetError, AuthError
        If a value of `init` can be none, can't be found, or may not travel there.
    """
    if way not in ("ws", "sse", None):
        msg = f"transport= takes 'ws', 'sse' or None, not {plain(repr(way), 40)}."
        raise OptionError(msg)
    if type(again) is not int or again < 0:
        msg = f"reconnect= takes a number of attempts, 0 for none, not {plain(repr(again), 40)}."
        raise OptionError(msg)
    if init is not None and not isinstance(init, (bool, Mapping)):
        msg = f"init= takes True or a mapping, not {type(init).__name__}."
        raise OptionError(msg)
    secrets: list[Token] = []
    payload = checked_init(init, secrets) if isinstance(init, Mapping) else init
    url = getattr(transport, "url", None)
    if secrets and isinstance(url, str):
        named = {f"init-{number}": secret for number, secret in enumerate(secrets)}
        sendable(url, Secrets(None, named))
    return Ways(way, payload, timeout), secrets


def checked_init(given: Mapping[str, Any], secrets: list[Token]) -> dict[str, Any]:
    """Return a payload of ``connection_init`` whose secrets are Tokens, and add those to a list."""
    payload: dict[str, Any] = {}
    for name, value in given.items():
        if isinstance(value, Mapping):
            payload[name] = checked_init(value, secrets)
        elif isinstance(value, (str, Token)) or hasattr(value, "token"):
            payload[name] = checked_value(str(name), value)
        else:
            payload[name] = value
        if isinstance(payload[name], Token):
            secrets.append(payload[name])
    return payload


def check_kind(asked: Asked) -> None:
    """Refuse what is answered once.

    Raises
    ------
    QueryError
        Before anything is sent.
    """
    document = asked.document
    if document.kind != "subscription" and not document.incremental:
        message = f"A {document.kind} gives one result. Use execute() for it."
        raise QueryError(message, text=document.text)


def in_parts(ways: Ways, road: Transport, document: Document) -> Ways:
    """Return how to ask for an answer in parts: over HTTP, as the servers that give one do.

    Raises
    ------
    QueryError
        If a schema of this process is asked, which answers in one piece.
    """
    if isinstance(road, InProcess):
        raise QueryError(text=document.text, problems=deferred(document))
    return ways._replace(way=ways.way or "sse", accept=IN_PARTS)
