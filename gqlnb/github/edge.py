"""GitHub's HTTP around the stand-in: what a client meets there before and after GraphQL.

The way of a request, each step a function that answers or lets it pass::

    no User-Agent 403 > no token, wrong token 401 > pace, concurrency 403
    > gateway, timeouts 502, 504 > no JSON 400 > no query 200 > budget used up 200
    > the application below 200

Without a simulation nothing is remembered between two requests. What a header or a body is like is
from recorded exchanges and from GitHub's documentation; ``tests/github/test_edge.py`` has one test
for each.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from gqlnb.github.ledger import Ledger
from gqlnb.github.metering import METER, Meter
from gqlnb.github.replies import (
    BAD_CREDENTIALS,
    NO_AGENT,
    NO_JSON,
    NO_QUERY,
    NO_TOKEN,
    Reply,
    exhausted,
    gateway,
    hasty,
    in_their_words,
    timed_out,
)
from gqlnb.github.standin import StandIn, service
from gqlnb.server.app import App
from gqlnb.token import Token
from gqlnb.wire.json import JSONError, dump, load

if TYPE_CHECKING:
    from gqlnb.github.simulation import Simulation

__all__ = ["Edge", "app"]

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

_BODY = 2**20  # bytes; what is longer is cut off, as GitHub's middleware cuts it
_PATIENCE = 10.0  # seconds for a body
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
    **options
        As for :class:`~gqlnb.server.app.App`: `hosts`.

    Attributes
    ----------
    front : Front or None
        What stands before the application; None once another application took its place.
    """

    def __init__(self, standin: StandIn, *, token: Token | None = None, **options: Any) -> None:
        super().__init__(standin, token=token, **options)
        self.front: Front | None = Front(token, standin.simulation)

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
        if front is None or scope["type"] != "http" or scope["method"] != "POST":
            await super().__call__(scope, receive, send)
            return
        await front.answer(super().__call__, scope, receive, send)


class Front:
    """What stands before the application: the token, and what a simulation remembers."""

    def __init__(self, token: Token | None, simulation: Simulation) -> None:
        self._token = token
        self._simulation = simulation
        self._ledger = Ledger(simulation)

    async def answer(
        self, below: Any, scope: MutableMapping[str, Any], receive: Receive, send: Send
    ) -> None:
        """Answer one POST."""
        headers = {name.decode("latin-1").lower(): value for name, value in scope["headers"]}
        caller = headers.get("authorization", b"").decode("latin-1")
        refused = self._credentials(headers.get("user-agent"), caller)
        if refused is not None:
            await give(send, refused, None)
            return
        with self._ledger.entered(caller) as account:
            number, meter = account.number, account.meter
            reply = self._fault(number, account.hasty) or await self._asked(
                below, scope, receive, meter, number
            )
            account.charge(meter.charged)
            await give(send, reply, meter)

    def _credentials(self, agent: bytes | None, header: str) -> Reply | None:
        """Refuse who does not say what it is, or has not the token."""
        if not (agent or b"").strip():
            return NO_AGENT
        if self._token is None or self._token.matches(header):
            return None
        return BAD_CREDENTIALS if header else NO_TOKEN

    def _fault(self, number: int, wait: int | None) -> Reply | None:
        """Return what a request gets instead of an answer, if chance or haste want it."""
        simulation = self._simulation
        if wait is not None:
            return hasty(wait)
        if simulation.happens(simulation.gateway, "gateway", number):
            return gateway(simulation.random("which gateway", number))
        if simulation.happens(simulation.timeouts, "timeout", number):
            return timed_out(simulation.random("which timeout", number))
        return None

    async def _asked(
        self,
        below: Any,
        scope: MutableMapping[str, Any],
        receive: Receive,
        meter: Meter,
        number: int,
    ) -> Reply:
        """Return the answer to a body."""
        body = await read(receive)
        try:
            asked = load(body)
        except JSONError:
            return NO_JSON
        text = asked.get("query") if isinstance(asked, Mapping) else None
        if len(body) > _BODY or not isinstance(text, str) or not text.strip():
            return NO_QUERY
        if meter.remaining < 1:
            return exhausted(self._simulation.random("spelling", number), meter)
        return await executed(below, scope, body, text, meter)


async def executed(
    below: Any, scope: MutableMapping[str, Any], body: bytes, text: str, meter: Meter
) -> Reply:
    """Return what the application answers, a request error in GitHub's words."""
    kept = [(n, v) for n, v in scope["headers"] if n.lower() not in {*_FORCED, b"content-length"}]
    length = (b"content-length", str(len(body)).encode())
    inner = {**scope, "headers": [*kept, *_FORCED.items(), length]}
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
        await below(inner, receive, send)
    finally:
        METER.reset(token)
    reply = Reply(
        started["status"],
        b"".join(parts),
        {k.decode("latin-1"): v.decode("latin-1") for k, v in started["headers"]},
    )
    if reply.status != 200:
        return reply
    members = load(reply.body)
    if "data" in members:
        return reply
    errors = [meter.refusal] if meter.refusal else in_their_words(members["errors"], text)
    return reply._replace(body=dump({"errors": errors}))


async def read(receive: Receive) -> bytes:
    """Return a body, cut off behind the longest that is read; what is late counts as nothing."""
    body = bytearray()
    try:
        async with asyncio.timeout(_PATIENCE):
            more = True
            while more and len(body) <= _BODY:
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
            "x-ratelimit-used": str(meter.used + meter.charged),
            "x-ratelimit-reset": str(int(meter.reset)),
            "x-ratelimit-resource": "graphql",
        }
    headers = {**about, **reply.headers} | {"content-length": str(len(reply.body))}
    pairs = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": reply.status, "headers": pairs})
    await send({"type": "http.response.body", "body": reply.body, "more_body": False})


def app(standin: StandIn | None = None, *, token: Token | str | None = None) -> Edge:
    """Return the stand-in as an ASGI application that answers as GitHub does over HTTP.

    Statuses, bodies and headers are GitHub's: 401 without the token, 403 without a User-Agent,
    ``x-ratelimit-*`` on every answer, errors in its words; and the faults of the stand-in's
    simulation. Give it to a client (``gqlnb.connect(app)``), to a server of your own, or use
    :func:`serve`.

    Parameters
    ----------
    standin
        Of :func:`service`; by default over the embedded snapshot.
    token
        What a request must send as ``Authorization: Bearer ...`` (``bearer`` and ``token`` will
        do): ``"env:NAME"``, ``"keyring:NAME"``, ``"prompt"`` or a Token. None asks for none.

    Returns
    -------
    Edge
        An ASGI 3 application, for ``/graphql``.

    Examples
    --------
    >>> from gqlnb import connect
    >>> client = connect(app(), headers={"User-Agent": "me"})
    >>> client.execute("{ viewer { login } }").data
    {'viewer': {'login': 'demo'}}
    """
    return Edge(service() if standin is None else standin, token=Token.of(token))
