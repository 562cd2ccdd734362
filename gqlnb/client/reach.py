"""What a client does beside asking once: subscriptions, and many documents at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, overload

from gqlnb import runtime
from gqlnb.client.batches import Item, Outcome, abatch, batch, whole
from gqlnb.client.gql_transport import transport_of
from gqlnb.client.part import Part
from gqlnb.client.streaming import checked_carrier
from gqlnb.client.subscriptions import AGAIN, Subscription, check_kind, checked_ways, in_parts
from gqlnb.client.transports import InProcess
from gqlnb.sealing import unseen

if TYPE_CHECKING:
    from collections.abc import Callable

    from gqlnb.client.streaming import Way
    from gqlnb.client.subscriptions import Init
    from gqlnb.model.result import Result
    from gqlnb.token import Token

__all__ = ["Reaching"]


class Reaching(Part):
    """Subscriptions and batches; it is a part of :class:`gqlnb.Client`."""

    @unseen
    def subscribe(
        self,
        text: str,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        transport: Way | None = None,
        reconnect: int = AGAIN,
        init: Init = None,
    ) -> Subscription:
        """Subscribe, and return the stream of Results, one for each event.

        Parameters
        ----------
        text, variables, operation
            As for :meth:`Client.execute`. A query or mutation that says ``@defer`` or ``@stream``
            is taken too: each Result is its answer as far as it has come. It is asked over HTTP,
            once, unless `transport` is ``"ws"``.
        transport
            ``"ws"``, a WebSocket that speaks graphql-transport-ws or the older graphql-ws, as the
            endpoint chooses; ``"sse"``, server-sent events, a connection for each subscription;
            None for the first of both that the endpoint offers.
        reconnect
            Attempts in a row to subscribe again after a connection that broke, after 0.5 s, 1 s and
            so on up to 30 s; 0 for none. What happens meanwhile is missing: the log says so, and
            :attr:`Subscription.reconnects` counts.
        init
            The payload of ``connection_init``, for services that look for a token there: True for
            the client's token and headers; a mapping, with Tokens or ``"env:NAME"`` in it, for
            other words. Token and headers are in the handshake anyway.

        Returns
        -------
        Subscription
            For ``for`` and ``async for``. The endpoint is asked at the first step; `timeout` of the
            client bounds only how long it may take to let us in, `limits.answer` each event, and
            the parts of one answer together.

        Raises
        ------
        QueryError
            If text or variables are wrong, or it is answered once; while iterating, if the
            endpoint says so, or ends the stream with errors. Errors of fields are in the Results.
        OptionError, AuthError, TargetError
            If an option has no such value, a token in `init` can't be found or may not travel
            there, or what the client asks carries no subscriptions.
        ReplayError
            Within a recording, which holds none.
        TransportError, AnswerError
            While iterating: if the endpoint can't be reached or refuses, the connection broke once
            too often, or what came is no message of the protocol.

        Examples
        --------
        >>> def countdown(root, args, context):
        ...     yield from range(args["start"], 0, -1)
        >>> from gqlnb import Client, Schema
        >>> schema = Schema(
        ...     "type Query { hello: String } type Subscription { countdown(start: Int!): Int }",
        ...     {"Subscription": {"countdown": countdown}},
        ... )
        >>> events = Client(schema).subscribe("subscription { countdown(start: 3) }")
        >>> [event["countdown"] for event in events]
        [3, 2, 1]
        """
        request, asked = self._ask(text, variables, operation)
        check_kind(asked)
        road = checked_carrier(self._road)
        ways, secrets = checked_ways(transport, init, reconnect, float(self._timeout), road)
        if asked.document.kind != "subscription":
            ways, reconnect = in_parts(ways, road, asked.document), 0
        asked = replace(asked, hide=hiding(self._secrets.hide, secrets))
        return Subscription(road, request, asked, ways, reconnect)

    @unseen
    def asubscribe(
        self,
        text: str,
        variables: Mapping[str, Any] | None = None,
        *,
        operation: str | None = None,
        transport: Way | None = None,
        reconnect: int = AGAIN,
        init: Init = None,
    ) -> Subscription:
        """Do as :meth:`subscribe`, for ``async for`` on the running loop.

        The stream is the same; ``async with`` ends it where the loop is left before its end.
        """
        return self.subscribe(
            text,
            variables,
            operation=operation,
            transport=transport,
            reconnect=reconnect,
            init=init,
        )

    @overload
    def execute_many(
        self,
        documents: Iterable[Item],
        *,
        concurrency: int = 4,
        return_errors: Literal[False] = False,
    ) -> list[Result]: ...

    @overload
    def execute_many(
        self, documents: Iterable[Item], *, concurrency: int = 4, return_errors: bool
    ) -> list[Outcome]: ...

    def execute_many(
        self, documents: Iterable[Item], *, concurrency: int = 4, return_errors: bool = False
    ) -> list[Result] | list[Outcome]:
        """Execute documents, several at a time, and return their results in order.

        Parameters
        ----------
        documents
            Texts, or pairs of a text and its variables. They are taken from their iterable as
            others end, so that a generator may make them meanwhile.
        concurrency
            How many are under way at most, 1 to 32. An endpoint is asked six at once at most, and
            fewer where it limits who asks: each request waits for its turn as pages do, so that a
            budget is not overdrawn, and GitHub is asked one after the other.
        return_errors
            Whether an error stands in the place of its document's result.

        Returns
        -------
        list of Result
            With `return_errors` of Results and errors.

        Raises
        ------
        BatchError
            If a document failed, without `return_errors`: when all were executed. Its ``.outcomes``
            are what would have been returned with it.
        OptionError
            If `documents` or `concurrency` is none.

        Notes
        -----
        An interrupt, and whatever else is raised before the end, cancels the requests under way and
        carries as ``.outcomes`` the results there are, None where there is none.
        """
        outcomes = batch(documents, self._apart, concurrency)
        return outcomes if return_errors else whole(outcomes)

    @overload
    async def aexecute_many(
        self,
        documents: Iterable[Item],
        *,
        concurrency: int = 4,
        return_errors: Literal[False] = False,
    ) -> list[Result]: ...

    @overload
    async def aexecute_many(
        self, documents: Iterable[Item], *, concurrency: int = 4, return_errors: bool
    ) -> list[Outcome]: ...

    async def aexecute_many(
        self, documents: Iterable[Item], *, concurrency: int = 4, return_errors: bool = False
    ) -> list[Result] | list[Outcome]:
        """Do as :meth:`execute_many`, without blocking the running loop."""
        outcomes = await abatch(documents, self._aexecute_in_turn, concurrency)
        return outcomes if return_errors else whole(outcomes)

    def as_gql(self, *, asynchronous: bool = False) -> Any:
        """Return this client as a transport of the library gql: ``gql.Client(transport=...)``.

        What is written for gql then asks with this client's token, pace, limits and recording; the
        token stays here. Errors are gql's own, each caused by ours: ``TransportQueryError`` for
        what was refused or failed in part, ``TransportServerError`` with its status,
        ``TransportProtocolError``, ``TransportConnectionFailed``.

        Parameters
        ----------
        asynchronous
            Whether it is for ``await`` and for subscriptions. gql's ``execute`` can't be used with
            such a one where a loop is running, as in a notebook: there it takes the other one.

        Returns
        -------
        gql.transport.Transport or gql.transport.AsyncTransport
            Closing it leaves this client open.

        Raises
        ------
        MissingExtraError
            If gql is not installed.

        Notes
        -----
        The way back is to pass a ``gql.Client`` as the target of a :class:`gqlnb.Client`.
        """
        return transport_of(self, asynchronous=asynchronous)

    async def _apart(self, text: str, variables: Mapping[str, Any] | None) -> Result:
        """Execute a document on the background loop; beside it where functions might block it."""
        if isinstance(self._transport, InProcess):
            return await runtime.aside(partial(self.execute, text, variables))
        return await self._aexecute_in_turn(text, variables)

    async def _aexecute_in_turn(self, text: str, variables: Mapping[str, Any] | None) -> Result:
        """Execute a document when the endpoint may be asked; what is in process always may."""
        if isinstance(self._transport, InProcess):
            return await self.aexecute(text, variables)
        return await self._aexecute(text, variables, None, self._pace.turn)


def hiding(hide: Callable[[str], str], secrets: list[Token]) -> Callable[[str], str]:
    """Return a function that hides some more secrets."""

    def hidden(text: str) -> str:
        for secret in secrets:
            text = secret.hide(text)
        return hide(text)

    return hidden if secrets else hide
