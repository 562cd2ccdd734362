"""The bodies that GitHub answers with where it does not execute."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from secrets import token_hex
from typing import TYPE_CHECKING, Any, NamedTuple

from graphql import get_introspection_query

from gqlnb import background
from gqlnb.auth import Token
from gqlnb.document.json_codec import JSONError, dump_json, load_json
from gqlnb.document.limits import Limits
from gqlnb.github.option_checks import raise_option_error
from gqlnb.github.standin.github_errors import format_request_errors, is_stopped_by_limits
from gqlnb.github.standin.github_schema import StandIn, service
from gqlnb.github.standin.rate_limits import (
    CURRENT_METER,
    CountedRequest,
    RequestMeter,
    TokenBudgets,
)
from gqlnb.http.messages import Response
from gqlnb.http.preconditions import is_page_request
from gqlnb.http.server_rules import ENDPOINT
from gqlnb.server.app import App, parse_scope
from gqlnb.server.background_server import Server, find_allowed_hosts
from gqlnb.server.listener import Listener, bind_socket, resolve_address
from gqlnb.server.request_log import RequestLog, read_clocks

if TYPE_CHECKING:
    from random import Random

    from gqlnb.document.limits import Limits
    from gqlnb.github.standin.github_schema import StandIn
    from gqlnb.github.standin.rate_limits import RequestMeter
    from gqlnb.github.standin.simulation import Simulation
    from gqlnb.http.headers import HttpRequest

__all__ = [
    "BAD_CREDENTIALS",
    "DEFAULT_PORT",
    "INVALID_JSON",
    "NOT_FOUND",
    "QUERY_MISSING",
    "STANDIN_LIMITS",
    "TOKEN_MISSING",
    "USER_AGENT_MISSING",
    "GitHubReply",
    "StandInApp",
    "app",
    "make_budget_reply",
    "make_gateway_reply",
    "make_secondary_limit_reply",
    "make_timeout_reply",
    "serve",
]

_DOCS_URL = "https://docs.github.com/graphql"
_AUTHENTICATION_URL = f"{_DOCS_URL}/guides/forming-calls-with-graphql#authenticating-with-graphql"
_RATE_LIMITS_URL = f"{_DOCS_URL}/overview/rate-limits-and-query-limits-for-the-graphql-api"
_USER_ID = 583231  # the number of the account in messages about its budget


class GitHubReply(NamedTuple):
    """One answer: its status, its body, and its headers by lower-case name."""

    status: int
    body: bytes
    headers: Mapping[str, str]


def make_json_reply(status: int, members: Mapping[str, Any], **headers: str) -> GitHubReply:
    """Return a reply in JSON; an underscore in the name of a header stands for a hyphen."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return GitHubReply(
        status, dump_json(members), {"content-type": "application/json; charset=utf-8"} | named
    )


def make_html_reply(status: int, text: str) -> GitHubReply:
    """Return a reply in HTML."""
    return GitHubReply(status, text.encode(), {"content-type": "text/html; charset=utf-8"})


USER_AGENT_MISSING = make_html_reply(
    403,
    "Request forbidden by administrative rules. Please make sure your request has a User-Agent "
    "header (https://docs.github.com/en/rest/overview/resources-in-the-rest-api"
    "#user-agent-required). Check https://developer.github.com for other possible causes.\r\n",
)
NOT_FOUND = make_json_reply(
    404,
    {
        "message": "Not Found",
        "documentation_url": "https://docs.github.com/rest",
        "status": "404",
    },
)
TOKEN_MISSING = make_json_reply(
    401,
    {
        "message": "This endpoint requires you to be authenticated.",
        "documentation_url": _AUTHENTICATION_URL,
        "status": "401",
    },
)
BAD_CREDENTIALS = make_json_reply(
    401, {"message": "Bad credentials", "documentation_url": _DOCS_URL, "status": "401"}
)
INVALID_JSON = make_json_reply(
    400, {"message": "Problems parsing JSON", "documentation_url": _DOCS_URL, "status": "400"}
)
QUERY_MISSING = make_json_reply(
    200,
    {"errors": [{"message": "A query attribute must be specified and must be a string."}]},
)


def make_secondary_limit_reply(chance: Random, wait: int) -> GitHubReply:
    """Return one of the answers to who asks too often, or too much at once.

    Mostly 403 with the seconds to wait; GitHub's documentation names 200 too, clients have seen
    429, and in the first seconds ``retry-after`` may be missing.
    """
    headers = {} if chance.random() < 0.25 else {"retry_after": str(wait)}
    return make_json_reply(
        chance.choice([403, 403, 200, 429]),
        {
            "documentation_url": f"{_RATE_LIMITS_URL}#secondary-rate-limits",
            "message": "You have exceeded a secondary rate limit. Please wait a few minutes before "
            "you try again.",
        },
        **headers,
    )


def make_budget_reply(chance: Random, meter: RequestMeter) -> GitHubReply:
    """Return one of the two answers to who has used the budget up.

    The second has kept clients waiting that look for the first, or for nothing left.
    """
    if chance.random() < 0.5:
        message = f"API rate limit exceeded for user ID {_USER_ID}."
        return make_json_reply(200, {"errors": [{"type": "RATE_LIMITED", "message": message}]})
    message = f"API rate limit already exceeded for user ID {_USER_ID}."
    error = {"type": "RATE_LIMIT", "code": "graphql_rate_limit", "message": message}
    return make_json_reply(200, {"errors": [error]}, x_ratelimit_remaining=str(meter.remaining + 1))


def make_gateway_reply(chance: Random) -> GitHubReply:
    """Return one of the pages that come where no answer came in time."""
    status, name = chance.choice([(502, "Bad Gateway"), (504, "Gateway Time-out"), (502, "")])
    if name:
        title = f"{status} {name}"
        return make_html_reply(
            status,
            f"<html>\r\n<head><title>{title}</title></head>\r\n<body>\r\n<center><h1>{title}</h1>"
            "</center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n",
        )
    return make_html_reply(
        status,
        "<!DOCTYPE html>\n<html>\n<head><title>Unicorn! &middot; GitHub</title></head>\n<body>"
        "<p><strong>We couldn't respond to your request in time.</strong></p>"
        "<p>Sorry about that. Please try refreshing and contact us if the problem persists.</p>"
        "</body>\n</html>\n",
    )


def make_timeout_reply(chance: Random) -> GitHubReply:
    """Return one of the answers in JSON to what took longer than ten seconds."""
    number = ":".join(f"{chance.randrange(2**16):04X}" for _ in range(5))
    message = (
        "Something went wrong while executing your query. This may be the result of a timeout, or "
        f"it could be a GitHub bug. Please include `{number}` when reporting this issue."
    )
    nothing = chance.choice([None, "null"])  # both have been seen
    return make_json_reply(
        chance.choice([502, 504]), {"data": nothing, "errors": [{"message": message}]}
    )


Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

STANDIN_LIMITS = Limits(
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
_MEDIA_TYPE = "github.v4; format=json"
_FORCED_HEADERS = {b"accept": b"application/json", b"content-type": b"application/json"}


class StandInApp(App):
    """The stand-in as an ASGI application that behaves as GitHub's does; :func:`app` makes one.

    Parameters
    ----------
    standin
        What executes.
    token
        What a request must send; None takes any, or none.
    limits
        How much is let through; by default :data:`STANDIN_LIMITS`.
    **options
        As for :class:`~gqlnb.server.app.App`: `hosts`.

    Attributes
    ----------
    front_end : Front or None
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
        super().__init__(standin, token=token, limits=limits or STANDIN_LIMITS, **options)
        self.front_end: FrontEnd | None = FrontEnd(token, standin.simulation, self.limits)

    def switch_to(self, other: App) -> None:
        """Serve what another application serves, with GitHub's HTTP only if that has it."""
        super().switch_to(other)
        self.front_end = other.front_end if isinstance(other, StandInApp) else None

    def remember_head(self, head: bytes, scope: Mapping[str, Any], length: int) -> None:
        """Remember no head: what stands before the application looks at every request."""
        if self.front_end is None:
            super().remember_head(head, scope, length)

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer one connection of the host."""
        front = self.front_end
        if front is None or scope["type"] != "http":
            await super().__call__(scope, receive, send)
            return
        request = parse_scope(scope)
        if request.method == "GET" and is_page_request(request, self._served.rules):
            await super().__call__(scope, receive, send)
            return
        exchange = _Exchange(super().__call__, scope, receive, send, self.request_log)
        await front.answer_request(request, exchange)


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
        journal: RequestLog,
    ) -> None:
        self.below = below
        self.scope = scope
        self.receive = receive
        self.send = send
        self._journal = journal
        self._started_at = read_clocks()

    def log_reply(self, reply: GitHubReply) -> GitHubReply:
        """Enter an answer that is not the application's in the log, and return it."""
        answer = Response(reply.status, reply.headers, reply.body)
        self._journal.add_request(self._started_at, answer)
        return reply


class FrontEnd:
    """What stands before the application: the token, and what a simulation remembers."""

    def __init__(self, token: Token | None, simulation: Simulation, limits: Limits) -> None:
        self._token = token
        self._simulation = simulation
        self._limits = limits
        self._budgets = TokenBudgets(simulation)

    async def answer_request(self, request: HttpRequest, exchange: _Exchange) -> None:
        """Answer one request."""
        refused = self._refuse_request(request)
        if refused is not None:
            await send_reply(exchange.send, exchange.log_reply(refused), None)
            return
        schema = request.method == "GET" and not request.query_string
        if request.method != "POST" and not schema:
            await exchange.below(exchange.scope, exchange.receive, exchange.send)
            return
        with self._budgets.track_request(request.headers.get("authorization", "")) as visit:
            reply = self._draw_fault(visit)
            reply = (
                exchange.log_reply(reply)
                if reply
                else await self._answer_body(exchange, visit, schema)
            )
            await send_reply(exchange.send, reply, visit.meter)

    def _refuse_request(self, request: HttpRequest) -> GitHubReply | None:
        """Refuse a request without a User-Agent, to another path, or without the token."""
        if not request.headers.get("user-agent", "").strip():
            return USER_AGENT_MISSING
        if request.path != ENDPOINT:
            return NOT_FOUND
        header = request.headers.get("authorization", "")
        if self._token is None or self._token.matches(header):
            return None
        return BAD_CREDENTIALS if header else TOKEN_MISSING

    def _draw_fault(self, visit: CountedRequest) -> GitHubReply | None:
        """Return what a request gets instead of an answer: it came too soon, or chance wants it."""
        simulation, number = self._simulation, visit.number
        if visit.retry_after is not None:
            return make_secondary_limit_reply(
                simulation.make_random("which haste", number), visit.retry_after
            )
        if simulation.is_triggered(simulation.gateway, "gateway", number):
            return make_gateway_reply(simulation.make_random("which gateway", number))
        if simulation.is_triggered(simulation.timeouts, "timeout", number):
            return self._charge_timeout(visit)
        return None

    def _charge_timeout(self, visit: CountedRequest) -> GitHubReply:
        """Return the answer to what took too long, which costs points of its own."""
        visit.meter.charge_penalty(self._simulation.penalty)
        return make_timeout_reply(self._simulation.make_random("which timeout", visit.number))

    async def _answer_body(
        self, exchange: _Exchange, visit: CountedRequest, schema: bool
    ) -> GitHubReply:
        """Return the answer to a body, or to a GET that asks for the schema."""
        if schema:
            body = dump_json({"query": get_introspection_query()})
        else:
            body = await read_body(exchange.receive, self._limits)
        if self._limits.body is not None and len(body) > self._limits.body:
            return exchange.log_reply(QUERY_MISSING)  # clients tell by it that they sent too much
        try:
            asked = load_json(body)
        except JSONError:
            return exchange.log_reply(INVALID_JSON)
        text = asked.get("query") if isinstance(asked, Mapping) else None
        if not isinstance(text, str) or not text.strip():
            return exchange.log_reply(QUERY_MISSING)
        chance = self._simulation.make_random("spelling", visit.number)
        if visit.meter.remaining < 1:
            return exchange.log_reply(make_budget_reply(chance, visit.meter))
        reply = await execute_exchange(exchange, body, asked, visit.meter)
        if visit.meter.is_over_budget:
            return make_budget_reply(chance, visit.meter)
        return self._charge_timeout(visit) if reply is None else reply


async def execute_exchange(
    exchange: _Exchange, body: bytes, asked: Mapping[str, Any], meter: RequestMeter
) -> GitHubReply | None:
    """Return what the application answers, in GitHub's form; None if it took too long."""
    scope = exchange.scope
    kept = [
        (n, v)
        for n, v in scope["headers"]
        if n.lower() not in {*_FORCED_HEADERS, b"content-length"}
    ]
    length = (b"content-length", str(len(body)).encode())
    inner = {**scope, "method": "POST", "headers": [*kept, *_FORCED_HEADERS.items(), length]}
    incoming = [{"type": "http.request", "body": body, "more_body": False}]
    started: dict[str, Any] = {}
    parts: list[bytes] = []

    async def receive_body() -> MutableMapping[str, Any]:
        if incoming:
            return incoming.pop()
        await asyncio.Event().wait()  # the client stays
        return {"type": "http.disconnect"}

    async def collect_message(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            started.update(message)
        else:
            parts.append(message.get("body", b""))

    token = CURRENT_METER.set(meter)
    try:
        await exchange.below(inner, receive_body, collect_message)
    finally:
        CURRENT_METER.reset(token)
    reply = GitHubReply(
        started["status"],
        b"".join(parts),
        {k.decode("latin-1"): v.decode("latin-1") for k, v in started["headers"]},
    )
    return format_reply(reply, asked, meter) if reply.status == 200 else reply


def format_reply(
    reply: GitHubReply, asked: Mapping[str, Any], meter: RequestMeter
) -> GitHubReply | None:
    """Return an answer with errors in GitHub's words, behind the data; None if it took too long."""
    if b'"errors"' not in reply.body:  # to read a page takes as long as to write it
        return reply
    members = load_json(reply.body)
    errors = members.get("errors")
    if not errors:
        return reply
    if is_stopped_by_limits(errors):
        return None
    if "data" in members:
        return reply._replace(body=dump_json({"data": members["data"]} | members))
    made = (
        [meter.refusal]
        if meter.refusal
        else format_request_errors(errors, asked["query"], asked.get("variables") or {})
    )
    return reply._replace(body=dump_json({"errors": made}))


async def read_body(receive: Receive, limits: Limits) -> bytes:
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


async def send_reply(send: Send, reply: GitHubReply, meter: RequestMeter | None) -> None:
    """Send a reply with the headers that GitHub puts on it."""
    about = {
        "x-content-type-options": "nosniff",
        "x-github-media-type": _MEDIA_TYPE,
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
) -> StandInApp:
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
        How much is let through; by default :data:`gqlnb.github.standin.http_app.STANDIN_LIMITS`. What is refused is
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
    return StandInApp(check_standin(standin), token=Token.from_source(token), limits=limits)


def check_standin(standin: StandIn | None) -> StandIn:
    """Return the stand-in to serve, by default one of the embedded snapshot.

    Raises
    ------
    OptionError
        If it is something else; what serves any schema is :func:`gqlnb.serve`.
    """
    if standin is not None and not isinstance(standin, StandIn):
        raise_option_error("standin", standin, "a stand-in that github.service(...) made")
    return service() if standin is None else standin


DEFAULT_PORT = 4001
"""One more than that of :func:`gqlnb.serve`, so that both can be open."""

_servers_lock = threading.Lock()
_open_servers: dict[int, Server] = {}


def serve(
    standin: StandIn | None = None,
    port: int = DEFAULT_PORT,
    *,
    host: str = "127.0.0.1",
    token: Token | str | None = None,
    limits: Limits | None = None,
) -> Server:
    """Serve the stand-in at ``/graphql`` from a background thread, with GitHub's HTTP.

    Like :func:`gqlnb.serve`, with statuses, bodies and headers as :func:`app` has them, and with
    the faults of the stand-in's simulation. Served again on the same port, as a re-run cell does,
    the new one takes the place of the old one.

    Parameters
    ----------
    standin
        Of :func:`service`; by default over the embedded snapshot.
    port
        The port, or 0 for any free one.
    host
        The address to listen on; for any that others can reach a token must be given.
    token
        What a request must send, as for :func:`app`.
    limits
        How much is let through, as for :func:`app`.

    Returns
    -------
    Server
        With ``url``, ``port``, ``log`` and ``close()``; closed at the end of a ``with`` block.

    Raises
    ------
    OptionError
        If `standin` or `limits` is something else.
    PortInUseError
        If another program listens on the port.
    ServerError
        If the system does not let us listen, or others could ask and no token is asked of them.

    Examples
    --------
    >>> from gqlnb import connect
    >>> with serve(port=0) as server:
    ...     connect(server).execute("{ viewer { login } }").data
    {'viewer': {'login': 'demo'}}
    """
    address, secret = resolve_address(host, port), Token.from_source(token)
    made = StandInApp(
        check_standin(standin),
        token=secret,
        limits=limits,
        hosts=find_allowed_hosts(host, address, secret),
    )
    with _servers_lock:
        before = _open_servers.pop(port, None)
        if before is not None:
            before.close()
        listener = Listener(bind_socket(address), made)
        listener.start()
        server = listener.owner = Server(listener, host, chosen=port == 0, token=secret)
        background.servers.add(server)
        if port:
            _open_servers[port] = server
    return server
