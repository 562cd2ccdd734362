"""The stand-in over HTTP: GitHub's statuses, bodies and headers, and simulated faults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from graphql import get_introspection_query

from gqlnb.document.json_codec import JSONError, dump_json, load_json
from gqlnb.errors import QueryError
from gqlnb.github.standin.github_errors import (
    find_variable_errors,
    format_request_errors,
    is_stopped_by_limits,
)
from gqlnb.github.standin.github_schema import AUTHENTICATION_URL, DOCS_URL, StandIn, service
from gqlnb.github.standin.simulation import CURRENT_METER, TokenBudgets
from gqlnb.http.handler import handle_request
from gqlnb.http.messages import Response
from gqlnb.http.preconditions import is_page_request
from gqlnb.http.server_rules import ENDPOINT
from gqlnb.limits import Limits
from gqlnb.option_checks import explain_keywords, raise_option_error
from gqlnb.server.app import App, parse_scope, read_body
from gqlnb.server.background_server import Server, find_allowed_hosts, start_server
from gqlnb.server.deployment import read_certificate
from gqlnb.server.listener import resolve_address
from gqlnb.server.request_log import read_clocks
from gqlnb.server.streams import send_response
from gqlnb.tokens import Token

if TYPE_CHECKING:
    import os
    from collections.abc import MutableMapping
    from random import Random

    from graphql import GraphQLSchema

    from gqlnb.github.standin.simulation import CountedRequest, RequestMeter
    from gqlnb.http.messages import HttpRequest
    from gqlnb.server.streams import Receive, Send

_RATE_LIMITS_URL = f"{DOCS_URL}/overview/rate-limits-and-query-limits-for-the-graphql-api"
_USER_ID = 583231  # the number of the account in messages about its budget


def make_json_reply(status: int, members: Mapping[str, Any], **headers: str) -> Response:
    """Return a JSON reply; an underscore in the name of a header stands for a hyphen."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(
        status, {"content-type": "application/json; charset=utf-8"} | named, dump_json(members)
    )


def make_error_reply(status: int, message: str, url: str = DOCS_URL) -> Response:
    """Return the JSON of an error of GitHub's REST API."""
    members = {"message": message, "documentation_url": url, "status": str(status)}
    return make_json_reply(status, members)


def make_html_reply(status: int, text: str) -> Response:
    """Return an HTML reply."""
    return Response(status, {"content-type": "text/html; charset=utf-8"}, text.encode())


USER_AGENT_MISSING = make_html_reply(
    403,
    "Request forbidden by administrative rules. Please make sure your request has a User-Agent "
    "header (https://docs.github.com/en/rest/overview/resources-in-the-rest-api"
    "#user-agent-required). Check https://developer.github.com for other possible causes.\r\n",
)
NOT_FOUND = make_error_reply(404, "Not Found", "https://docs.github.com/rest")
TOKEN_MISSING = make_error_reply(
    401, "This endpoint requires you to be authenticated.", AUTHENTICATION_URL
)
BAD_CREDENTIALS = make_error_reply(401, "Bad credentials")
INVALID_JSON = make_error_reply(400, "Problems parsing JSON")
QUERY_MISSING = make_json_reply(
    200,
    {"errors": [{"message": "A query attribute must be specified and must be a string."}]},
)


def make_secondary_limit_reply(chance: Random, wait: int) -> Response:
    """Return one of GitHub's answers to too many requests in a minute, or at the same time.

    Parameters
    ----------
    chance
        Decides on the status and on ``retry-after``.
    wait
        Seconds to wait, for ``retry-after``.

    Returns
    -------
    Response
        A JSON response with status 403, 200 or 429.
    """
    # Mostly 403 with the seconds to wait; GitHub's documentation names 200 too, clients have seen
    # 429, and in the first seconds `retry-after` may be missing.
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


def make_budget_reply(chance: Random, meter: RequestMeter) -> Response:
    """Return one of GitHub's two answers to a used-up budget.

    Parameters
    ----------
    chance
        Decides between the two.
    meter
        The points of the token.

    Returns
    -------
    Response
        A JSON response with status 200 and one error.
    """
    # The second has misled clients that look for the first type only, or for `remaining: 0`.
    if chance.random() < 0.5:
        message = f"API rate limit exceeded for user ID {_USER_ID}."
        return make_json_reply(200, {"errors": [{"type": "RATE_LIMITED", "message": message}]})
    message = f"API rate limit already exceeded for user ID {_USER_ID}."
    error = {"type": "RATE_LIMIT", "code": "graphql_rate_limit", "message": message}
    return make_json_reply(200, {"errors": [error]}, x_ratelimit_remaining=str(meter.remaining + 1))


def make_gateway_reply(chance: Random) -> Response:
    """Return one of the HTML pages of GitHub's gateways."""
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


def make_timeout_reply(chance: Random) -> Response:
    """Return one of GitHub's JSON answers after ten seconds of execution."""
    number = ":".join(f"{chance.randrange(2**16):04X}" for _ in range(5))
    message = (
        "Something went wrong while executing your query. This may be the result of a timeout, or "
        f"it could be a GitHub bug. Please include `{number}` when reporting this issue."
    )
    data = chance.choice([None, "null"])  # both have been seen
    return make_json_reply(
        chance.choice([502, 504]), {"data": data, "errors": [{"message": message}]}
    )


#: GitHub's ten seconds, and none of the limits that GitHub does not have.
#: The few others keep a stranger from occupying the process.
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


# GitHub's behaviour beside GraphQL (User-Agent, rate limits, gateway errors) wraps the
# application of the stand-in only. The rules of GraphQL over HTTP stay those of the server
# package.
class StandInApp(App):
    """The stand-in as an ASGI application with GitHub's HTTP; :func:`app` makes one.

    Parameters
    ----------
    standin
        The stand-in that executes.
    token
        The token that a request must send; None for none.
    limits
        The limits of requests; by default ``STANDIN_LIMITS``.
    **options
        As for :class:`~gqlnb.server.app.App`: `hosts`.

    Attributes
    ----------
    simulation
        The faults to show.
    budgets
        The budgets of tokens.
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
        self.simulation = standin.simulation
        self.budgets = TokenBudgets(standin.simulation)

    def switch_to(self, other: App) -> None:
        """Serve the schema of another application, by its rules, from the next request on."""
        super().switch_to(other)
        if isinstance(other, StandInApp):
            self.simulation, self.budgets = other.simulation, other.budgets

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer one connection of the host."""
        request = parse_scope(scope) if scope["type"] == "http" else None
        rules = self._served.rules
        if request is None or (request.method == "GET" and is_page_request(request, rules)):
            await super().__call__(scope, receive, send)
            return
        # In GitHub's order: User-Agent, path, token; then limits and faults; then the body.
        began, body = read_clocks(), b""
        refusal = self._check_request(request)
        if refusal is not None:
            self.request_log.add_request(began, refusal)
            await send_response(send, add_github_headers(refusal, None), None, ())
            return
        if request.method == "GET" and not request.query_string:  # GitHub answers its schema
            body = dump_json({"query": get_introspection_query()})
        elif request.method != "POST":
            await super().__call__(scope, receive, send)
            return
        with self.budgets.track_request(request.headers.get("authorization", "")) as counted:
            reply = self._draw_fault(counted)
            if reply is None:
                if request.method == "POST":
                    body = await receive_body(receive, rules.limits)
                reply = await self._answer_body(request, body, counted)
            self.request_log.add_request(began, reply, len(body))
            await send_response(send, add_github_headers(reply, counted.meter), None, ())

    def _check_request(self, request: HttpRequest) -> Response | None:
        """Return GitHub's refusal of the head of a request, or None."""
        if not request.headers.get("user-agent", "").strip():
            return USER_AGENT_MISSING
        if request.path != ENDPOINT:
            return NOT_FOUND
        header, token = request.headers.get("authorization", ""), self._served.rules.token
        if token is None or token.matches(header):
            return None
        return BAD_CREDENTIALS if header else TOKEN_MISSING

    def _draw_fault(self, counted: CountedRequest) -> Response | None:
        """Return the simulated fault of a request, or None."""
        simulation, number = self.simulation, counted.number
        if counted.retry_after is not None:
            chance = simulation.make_random("which haste", number)
            return make_secondary_limit_reply(chance, counted.retry_after)
        if simulation.is_triggered(simulation.gateway, "gateway", number):
            return make_gateway_reply(simulation.make_random("which gateway", number))
        if simulation.is_triggered(simulation.timeouts, "timeout", number):
            return self._charge_timeout(counted)
        return None

    def _charge_timeout(self, counted: CountedRequest) -> Response:
        counted.meter.charge_penalty(self.simulation.penalty)  # each time-out costs extra points
        return make_timeout_reply(self.simulation.make_random("which timeout", counted.number))

    def _check_floats(self, members: Mapping[str, Any]) -> Response | None:
        """Return GitHub's refusal of a variable such as 1.0 for an Int, or None."""
        # By the specification, and so in our server, a float without a fraction may be an Int.
        variables = members.get("variables")
        if not isinstance(variables, Mapping) or not contains_float(variables):
            return None
        try:
            document = self.schema.parse_document(
                members["query"], members.get("operationName"), limits=self.rules.limits
            )
        except QueryError:
            return None  # which is reported where the document is executed
        errors = find_variable_errors(self.schema.graphql, document.operation, variables)
        return make_json_reply(200, {"errors": errors}) if errors else None

    async def _answer_body(
        self, request: HttpRequest, body: bytes, counted: CountedRequest
    ) -> Response:
        """Execute the operation of a body and return the answer in GitHub's form."""
        rules, meter = self._served.rules, counted.meter
        members = parse_members(body, rules.limits.body)
        if isinstance(members, Response):
            return members
        chance = self.simulation.make_random("spelling", counted.number)
        # An empty budget refuses free queries too; the execution checks the cost of the others.
        if meter.remaining < 1:
            return make_budget_reply(chance, meter)
        refusal = self._check_floats(members)
        if refusal is not None:
            return refusal
        # GitHub reads JSON and answers JSON, whatever the headers say.
        headers = {
            **request.headers,
            "accept": "application/json",
            "content-type": "application/json",
            "content-length": str(len(body)),
        }
        headers.pop("content-encoding", None)
        inner = replace(request, method="POST", headers=headers, body=body)
        token = CURRENT_METER.set(meter)
        self.running_requests += 1
        try:
            reply = await handle_request(inner, self._served.execute, rules=rules)
        finally:
            self.running_requests -= 1
            CURRENT_METER.reset(token)
        if meter.is_over_budget:
            return make_budget_reply(chance, meter)
        schema = self.schema.graphql
        return format_answer(reply, members, meter, schema) or self._charge_timeout(counted)


def contains_float(value: object) -> bool:
    """Return whether a JSON value is or has a number with a decimal point or an exponent."""
    if isinstance(value, (dict, list)):
        return any(map(contains_float, value.values() if isinstance(value, dict) else value))
    return isinstance(value, float)


def parse_members(body: bytes, most: int | None) -> Mapping[str, Any] | Response:
    """Return the members of a body that has a query, or GitHub's refusal of another one."""
    if most is not None and len(body) > most:
        return QUERY_MISSING  # GitHub's answer to a body that is too large, too
    try:
        members = load_json(body)
    except JSONError:
        return INVALID_JSON
    text = members.get("query") if isinstance(members, Mapping) else None
    return members if isinstance(text, str) and text.strip() else QUERY_MISSING


def format_answer(
    reply: Response, members: Mapping[str, Any], meter: RequestMeter, schema: GraphQLSchema
) -> Response | None:
    """Return an answer with its errors in GitHub's form; None if the execution took too long."""
    # The body is searched first: reading a page again would take as long as writing it.
    answer = load_json(reply.body) if b'"errors"' in reply.body and reply.status == 200 else {}
    errors = answer.get("errors")
    if not errors:
        return reply
    if is_stopped_by_limits(errors):
        return None
    # GitHub writes the data before the errors, we write the errors first.
    if "data" in answer:
        return replace(reply, body=dump_json({"data": answer["data"]} | answer))
    errors = [meter.refusal] if meter.refusal else format_request_errors(errors, members, schema)
    return replace(reply, body=dump_json({"errors": errors}))


async def receive_body(receive: Receive, limits: Limits) -> bytes:
    """Return the body of a request; empty if it is late or the client has left."""
    try:
        return (await read_body(receive, limits))[0] or b""
    except TimeoutError:
        return b""


def add_github_headers(reply: Response, meter: RequestMeter | None) -> Response:
    """Return a reply with the headers that GitHub adds, and the state of the budget."""
    headers = {
        "x-content-type-options": "nosniff",
        "x-github-media-type": "github.v4; format=json",
        "x-github-request-id": ":".join(token_hex(2).upper() for _ in range(5)),
    }
    if meter is not None:
        headers |= {
            "x-ratelimit-limit": str(meter.limit),
            "x-ratelimit-remaining": str(meter.remaining),
            "x-ratelimit-used": str(meter.spent),
            "x-ratelimit-reset": str(int(meter.reset)),
            "x-ratelimit-resource": "graphql",
        }
    return replace(reply, headers={**headers, **reply.headers})


@explain_keywords
def app(
    standin: StandIn | None = None,
    *,
    token: Token | str | None = None,
    limits: Limits | None = None,
) -> StandInApp:
    """Return the stand-in as an ASGI application that answers as GitHub does over HTTP.

    Statuses, bodies and headers are GitHub's: 403 without a User-Agent, 401 without the token,
    GitHub's error messages, ``x-ratelimit-*`` headers, and the faults of the stand-in's simulation.
    Give it to a client (``gqlnb.connect(app)``), to another ASGI server, or use :func:`serve`.

    Parameters
    ----------
    standin
        A stand-in of :func:`service`; by default one of the embedded snapshot.
    token
        The token that a request must send as ``Authorization: Bearer ...``: ``"env:NAME"``,
        ``"keyring:NAME"``, ``"file:PATH"``, ``"prompt"`` or a Token. None requires none.
    limits
        The limits of requests; by default ``STANDIN_LIMITS`` of this module. Requests over a limit
        are answered with GitHub's messages.

    Returns
    -------
    StandInApp
        An ASGI 3 application, for ``/graphql``.

    Raises
    ------
    OptionError
        If `standin` or `limits` is of another type.
    AuthError
        If `token` is not a source of a token, or the source does not have it.

    Examples
    --------
    >>> from gqlnb import connect
    >>> client = connect(app(), headers={"User-Agent": "me"})
    >>> client.execute("{ viewer { login } }").data
    {'viewer': {'login': 'demo'}}
    """
    return StandInApp(check_standin(standin), token=Token.from_source(token), limits=limits)


def check_standin(standin: StandIn | None) -> StandIn:
    """Return the stand-in to serve, by default one of the embedded snapshot."""
    if standin is not None and not isinstance(standin, StandIn):
        raise_option_error("standin", standin, "a stand-in that github.service(...) made")
    return service() if standin is None else standin


#: One more than that of :func:`gqlnb.serve`, so that both can be open.
DEFAULT_PORT = 4001


@explain_keywords
def serve(
    standin: StandIn | None = None,
    port: int = DEFAULT_PORT,
    *,
    host: str = "127.0.0.1",
    token: Token | str | None = None,
    limits: Limits | None = None,
    certfile: str | os.PathLike[str] | None = None,
    keyfile: str | os.PathLike[str] | None = None,
) -> Server:
    """Serve the stand-in at ``/graphql`` from a background thread, with GitHub's HTTP.

    Like :func:`gqlnb.serve`, with the statuses, bodies and headers of :func:`app`, and the faults
    of the stand-in's simulation. Served again on the same port, as a re-run cell does, the new
    stand-in replaces the old one.

    Parameters
    ----------
    standin
        A stand-in of :func:`service`; by default one of the embedded snapshot.
    port
        The port, or 0 for any free one.
    host
        The address to listen on; one that other machines can reach needs a token.
    token, limits
        As for :func:`app`.
    certfile, keyfile
        Files in PEM format with a certificate and its private key, for HTTPS, as for
        :func:`gqlnb.serve`.

    Returns
    -------
    Server
        With ``url``, ``port``, ``log`` and ``close()``; closed at the end of a ``with`` block.

    Raises
    ------
    OptionError
        If `standin` or `limits` is of another type, or there is a key without a certificate.
    AuthError
        If `token` is not a source of a token, or the source does not have it.
    PortInUseError
        If another program listens on the port.
    ServerError
        If the port is not valid or `host` unknown, the system does not allow listening, other
        machines can reach it without a token, or the certificate is not valid.

    Examples
    --------
    >>> from gqlnb import connect
    >>> with serve(port=0) as server:
    ...     connect(server).execute("{ viewer { login } }").data
    {'viewer': {'login': 'demo'}}
    """
    address, secret = resolve_address(host, port), Token.from_source(token)
    hosts = find_allowed_hosts(host, address, secret)
    if hosts is not None:
        # With GH_HOST=github.localhost, gh sends this name. No page can have it: RFC 6761 keeps
        # the names under localhost for this machine.
        hosts |= {"api.github.localhost"}
    certificate = read_certificate(certfile, keyfile)
    application = StandInApp(check_standin(standin), token=secret, limits=limits, hosts=hosts)
    return start_server(
        application, address, host, port=port, token=secret, certificate=certificate
    )
