"""GitHub's HTTP around the stand-in: what a client meets there before and after GraphQL.

The way of a request, each step a function that answers or lets it pass::

    no User-Agent 403 > another path 404 > no token, wrong token 401
    > pace, concurrency 403, 200, 429 > gateway, timeouts 502, 504 > too long 200 > no JSON 400
    > no query 200 > budget used up 200 > the application below 200

A GET without a query is answered with the schema, as GitHub's documentation has it, and a browser
that asks for a page gets the application's; other methods are the application's, once the token
was right. Without a simulation nothing is remembered between two requests. What a header or a body
is like is from recorded exchanges and from GitHub's documentation; ``tests/github/test_edge.py``
has one test for each.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from graphql import get_introspection_query

from gqlnb.github.ledger import Ledger, Visit
from gqlnb.github.metering import METER, Meter
from gqlnb.github.options import refuse
from gqlnb.github.replies import (
    BAD_CREDENTIALS,
    NO_AGENT,
    NO_JSON,
    NO_QUERY,
    NO_TOKEN,
    NOT_FOUND,
    Reply,
    exhausted,
    gateway,
    hasty,
    timed_out,
)
from gqlnb.github.standin import StandIn, service
from gqlnb.github.wording import in_their_words, stopped
from gqlnb.model.limits import Limits
from gqlnb.server.app import App, head_of
from gqlnb.server.journal import Journal, clocks
from gqlnb.token import Token
from gqlnb.wire.json import JSONError, dump, load
from gqlnb.wire.response import Response
from gqlnb.wire.rules import ENDPOINT
from gqlnb.wire.screening import shows_page

if TYPE_CHECKING:
    from gqlnb.github.simulation import Simulation
    from gqlnb.wire.http import HttpRequest

__all__ = ["LIMITS", "Edge", "app"]

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

LIMITS = Limits(
    text=None,
    tokens=20_000,
    depth=200,
    aliases=None,
    name=None,
    directives=None,
    selections=100_000,
    seconds=10.0,
    errors=None,
    message=None,
)
"""What is let through: GitHub's ten seconds, and none of the limits that GitHub does not have.

The few others keep a stranger from occupying the process; what they refuse is told in GitHub's
words.
"""
_MEDIA = "github.v4; format=json"
_FORCED = {b"accept": b"application/json", b"content-type": b"application/json"}


class Edge(App):
    """The stand-in as an ASGI application that behaves as GitHub's does; :func:`app` makes one.

    Parameters
    ----------
    standin
        What executes.
    token
        What a request must send; None takes any, or none.
    limits
        How much is let through; by default :data:`LIMITS`.
    **options
        As for :class:`~gqlnb.server.app.App`: `hosts`.

    Attributes
    ----------
    front : Front or None
        What stands before the application; None once another application took its place.
    """

    def __init__(
        self,
        standin: StandIn,
        *,
        token: Token | None = None,
        limits: Limits | None = None,
        **options: Any,
    ) -> None:
        super().__init__(standin, token=token, limits=limits or LIMITS, **options)
        self.front: Front | None = Front(token, standin.simulation, self.limits)

    def become(self, other: App) -> None:
        """Serve what another application serves, with GitHub's HTTP only if that has it."""
        super().become(other)
        self.front = other.front if isinstance(other, Edge) else None

    def remember(self, head: bytes, scope: Mapping[str, Any], length: int) -> None:
        """Remember no head: what stands before the application looks at every request."""
        if self.front is None:
            super().remember(head, scope, length)

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer one connection of the host."""
        front = self.front
        if front is None or scope["type"] != "http":
            await super().__call__(scope, receive, send)
            return
        request = head_of(scope)
        if request.method == "GET" and shows_page(request, self._serving.rules):
            await super().__call__(scope, receive, send)
            return
        exchange = _Exchange(super().__call__, scope, receive, send, self.journal)
        await front.answer(request, exchange)


class _Exchange:
    """One request and its answer.

    Parameters
    ----------
    below
        The application that executes.
    scope, receive, send
        As the host gives them.
    journal
        Where what is answered before the application is noted.
    """

    def __init__(
        self,
        below: Any,
        scope: MutableMapping[str, Any],
        receive: Receive,
        send: Send,
        journal: Journal,
    ) -> None:
        self.below = below
        self.scope = scope
        self.receive = receive
        self.send = send
        self._journal = journal
        self._began = clocks()

    def note(self, reply: Reply) -> Reply:
        """Enter an answer that is not the application's in the log, and return it."""
        answer = Response(reply.status, reply.headers, reply.body)
        self._journal.add(self._began, answer)
        return reply


class Front:
    """What stands before the application: the token, and what a simulation remembers."""

    def __init__(self, token: Token | None, simulation: Simulation, limits: Limits) -> None:
        self._token = token
        self._simulation = simulation
        self._limits = limits
        self._ledger = Ledger(simulation)

    async def answer(self, request: HttpRequest, exchange: _Exchange) -> None:
        """Answer one request."""
        refused = self._refused(request)
        if refused is not None:
            await give(exchange.send, exchange.note(refused), None)
            return
        schema = request.method == "GET" and not request.query_string
        if request.method != "POST" and not schema:
            await exchange.below(exchange.scope, exchange.receive, exchange.send)
            return
        with self._ledger.entered(request.headers.get("authorization", "")) as visit:
            reply = self._fault(visit)
            reply = exchange.note(reply) if reply else await self._asked(exchange, visit, schema)
            await give(exchange.send, reply, visit.meter)

    def _refused(self, request: HttpRequest) -> Reply | None:
        """Refuse a request without a User-Agent, to another path, or without the token."""
        if not request.headers.get("user-agent", "").strip():
            return NO_AGENT
        if request.path != ENDPOINT:
            return NOT_FOUND
        header = request.headers.get("authorization", "")
        if self._token is None or self._token.matches(header):
            return None
        return BAD_CREDENTIALS if header else NO_TOKEN

    def _fault(self, visit: Visit) -> Reply | None:
        """Return what a request gets instead of an answer: it came too soon, or chance wants it."""
        simulation, number = self._simulation, visit.number
        if visit.hasty is not None:
            return hasty(simulation.random("which haste", number), visit.hasty)
        if simulation.happens(simulation.gateway, "gateway", number):
            return gateway(simulation.random("which gateway", number))
        if simulation.happens(simulation.timeouts, "timeout", number):
            return self._timed_out(visit)
        return None

    def _timed_out(self, visit: Visit) -> Reply:
        """Return the answer to what took too long, which costs points of its own."""
        visit.meter.fine(self._simulation.penalty)
        return timed_out(self._simulation.random("which timeout", visit.number))

    async def _asked(self, exchange: _Exchange, visit: Visit, schema: bool) -> Reply:
        """Return the answer to a body, or to a GET that asks for the schema."""
        if schema:
            body = dump({"query": get_introspection_query()})
        else:
            body = await read(exchange.receive, self._limits)
        if self._limits.body is not None and len(body) > self._limits.body:
            return exchange.note(NO_QUERY)  # clients tell by it that they sent too much
        try:
            asked = load(body)
        except JSONError:
            return exchange.note(NO_JSON)
        text = asked.get("query") if isinstance(asked, Mapping) else None
        if not isinstance(text, str) or not text.strip():
            return exchange.note(NO_QUERY)
        chance = self._simulation.random("spelling", visit.number)
        if visit.meter.remaining < 1:
            return exchange.note(exhausted(chance, visit.meter))
        reply = await executed(exchange, body, asked, visit.meter)
        if visit.meter.broke:
            return exhausted(chance, visit.meter)
        return self._timed_out(visit) if reply is None else reply


async def executed(
    exchange: _Exchange, body: bytes, asked: Mapping[str, Any], meter: Meter
) -> Reply | None:
    """Return what the application answers, in GitHub's form; None if it took too long."""
    scope = exchange.scope
    kept = [(n, v) for n, v in scope["headers"] if n.lower() not in {*_FORCED, b"content-length"}]
    length = (b"content-length", str(len(body)).encode())
    inner = {**scope, "method": "POST", "headers": [*kept, *_FORCED.items(), length]}
    incoming = [{"type": "http.request", "body": body, "more_body": False}]
    started: dict[str, Any] = {}
    parts: list[bytes] = []

    async def receive() -> MutableMapping[str, Any]:
        if incoming:
            return incoming.pop()
        await asyncio.Event().wait()  # the client stays
        return {"type": "http.disconnect"}

    async def send(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            started.update(message)
        else:
            parts.append(message.get("body", b""))

    token = METER.set(meter)
    try:
        await exchange.below(inner, receive, send)
    finally:
        METER.reset(token)
    reply = Reply(
        started["status"],
        b"".join(parts),
        {k.decode("latin-1"): v.decode("latin-1") for k, v in started["headers"]},
    )
    return in_their_form(reply, asked, meter) if reply.status == 200 else reply


def in_their_form(reply: Reply, asked: Mapping[str, Any], meter: Meter) -> Reply | None:
    """Return an answer with errors in GitHub's words, behind the data; None if it took too long."""
    if b'"errors"' not in reply.body:  # to read a page takes as long as to write it
        return reply
    members = load(reply.body)
    errors = members.get("errors")
    if not errors:
        return reply
    if stopped(errors):
        return None
    if "data" in members:
        return reply._replace(body=dump({"data": members["data"]} | members))
    made = (
        [meter.refusal]
        if meter.refusal
        else in_their_words(errors, asked["query"], asked.get("variables") or {})
    )
    return reply._replace(body=dump({"errors": made}))


async def read(receive: Receive, limits: Limits) -> bytes:
    """Return a body, empty if it is late; of one beyond the limit only so much that it shows."""
    body = bytearray()
    try:
        async with asyncio.timeout(limits.body_seconds):
            more = True
            while more and (limits.body is None or len(body) <= limits.body):
                message = await receive()
                body += message.get("body", b"")
                more = message.get("more_body", False)
    except TimeoutError:
        return b""
    return bytes(body)


async def give(send: Send, reply: Reply, meter: Meter | None) -> None:
    """Send a reply with the headers that GitHub puts on it."""
    about = {
        "x-content-type-options": "nosniff",
        "x-github-media-type": _MEDIA,
        "x-github-request-id": ":".join(token_hex(2).upper() for _ in range(5)),
    }
    if meter is not None:
        about |= {
            "x-ratelimit-limit": str(meter.limit),
            "x-ratelimit-remaining": str(meter.remaining),
            "x-ratelimit-used": str(meter.spent),
            "x-ratelimit-reset": str(int(meter.reset)),
            "x-ratelimit-resource": "graphql",
        }
    headers = {**about, **reply.headers} | {"content-length": str(len(reply.body))}
    pairs = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": reply.status, "headers": pairs})
    await send({"type": "http.response.body", "body": reply.body, "more_body": False})


def app(
    standin: StandIn | None = None,
    *,
    token: Token | str | None = None,
    limits: Limits | None = None,
) -> Edge:
    """Return the stand-in as an ASGI application that answers as GitHub does over HTTP.

    Statuses, bodies and headers are GitHub's: 403 without a User-Agent, 401 without the token,
    errors in its words; ``x-ratelimit-*`` on what comes behind the token; and the faults of the
    stand-in's simulation. Give it to a client (``gqlnb.connect(app)``), to a server of your own, or
    use :func:`serve`.

    Parameters
    ----------
    standin
        Of :func:`service`; by default over the embedded snapshot.
    token
        What a request must send as ``Authorization: Bearer ...`` (``bearer`` and ``token`` will
        do): ``"env:NAME"``, ``"keyring:NAME"``, ``"file:PATH"``, ``"prompt"`` or a Token. None asks
        for none.
    limits
        How much is let through; by default :data:`gqlnb.github.edge.LIMITS`. What is refused is
        refused in GitHub's words.

    Returns
    -------
    Edge
        An ASGI 3 application, for ``/graphql``.

    Raises
    ------
    OptionError
        If `standin` or `limits` is something else.

    Examples
    --------
    >>> from gqlnb import connect
    >>> client = connect(app(), headers={"User-Agent": "me"})
    >>> client.execute("{ viewer { login } }").data
    {'viewer': {'login': 'demo'}}
    """
    return Edge(chosen(standin), token=Token.of(token), limits=limits)


def chosen(standin: StandIn | None) -> StandIn:
    """Return the stand-in to serve, by default one of the embedded snapshot.

    Raises
    ------
    OptionError
        If it is something else; what serves any schema is :func:`gqlnb.serve`.
    """
    if standin is not None and not isinstance(standin, StandIn):
        refuse("standin", standin, "a stand-in that github.service(...) made")
    return service() if standin is None else standin
