"""GraphQL over HTTP as rules: a request in, a response out, no socket and no clock.

The way of a request, each step a function that answers or lets it pass::

    known_path 404 > known_method 405 > own_host 400, 403 > own_origin 403 > known_token 401
    > page 200 > json_body 415 > announced_size 400 | size 400 > members 400 > execute 200, 400, 500

What stands before the bar needs the head alone (:func:`screen`), so that a server refuses before
it reads a body. The published audits are the measure (npm ``graphql-http``, 61 of them): where
they differ from the newest draft, a client of plain JSON gets 200 with `errors` and no `data`.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any, NamedTuple, Protocol

from graphql import GraphQLError

from gqlnb.errors import plain
from gqlnb.wire.http import HttpRequest, host_name, is_json, negotiate, same_origin, wants_page
from gqlnb.wire.json import JSONError, dump
from gqlnb.wire.request import BadRequestError, Request, decode
from gqlnb.wire.response import GRAPHQL_JSON, JSON, Response

__all__ = [
    "ENDPOINT",
    "LOOPBACK",
    "Documentation",
    "Execute",
    "Rules",
    "Trace",
    "answer",
    "refusal",
    "respond",
    "screen",
]

ENDPOINT = "/graphql"
# The names a browser on this machine uses for it. Any other name that leads here was rebound by
# someone's DNS, and the page that did so must not read an answer.
LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
BODY_LIMIT = 2**20  # bytes; nginx's default of 1 MiB, where the peers accept 8 MiB and more
VALUES_NAMED = 10  # of those without a JSON form; the others are counted
_SAME = frozenset({None, "same-origin", "none"})  # none: the person typed the address
_NULL = "Cannot return null for non-nullable field "
_LOG = logging.getLogger("gqlnb")
_LOG.addHandler(logging.NullHandler())  # who wants to read it says so; a cell's output is not a log

Execute = Callable[[Request], Awaitable[Response]]


class Verifier(Protocol):
    """Anything that knows the right ``Authorization`` header: a Token."""

    def matches(self, header: str | None) -> bool:
        """Tell whether the header carries the secret."""


class Documentation(NamedTuple):
    """Where a 401 sends its reader; by default where GitHub sends its own.

    Attributes
    ----------
    missing
        For who sends no token.
    wrong
        For who sends one that does not fit.
    """

    missing: str = (
        "https://docs.github.com/graphql/guides/forming-calls-with-graphql"
        "#authenticating-with-graphql"
    )
    wrong: str = "https://docs.github.com/graphql"


@dataclass(slots=True)
class Trace:
    """What one request leaves behind beside its answer: nothing that it said.

    Attributes
    ----------
    operation
        The name of the operation, None where it has none.
    faults
        The exceptions whose words were kept from the client, each with the id it got instead.
    """

    operation: str | None = None
    faults: list[tuple[str, BaseException]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Rules:
    """What one server lets through.

    Attributes
    ----------
    token
        What the ``Authorization`` header must match; None asks for none.
    hosts
        Lower-case names, without port, that the ``Host`` header may hold; None allows any, for a
        server that a token protects.
    body_limit
        Longest body, in bytes.
    pages
        Ready-made answers to GET by path: the page a browser gets, and its assets. None of them
        is given where there is a token.
    documentation
        Where the 401 sends its reader.
    """

    token: Verifier | None = None
    hosts: frozenset[str] | None = LOOPBACK
    body_limit: int = BODY_LIMIT
    pages: Mapping[str, Response] = field(default_factory=dict)
    documentation: Documentation = field(default_factory=Documentation)


async def answer(request: HttpRequest, execute: Execute, *, rules: Rules | None = None) -> Response:
    """Answer one HTTP request.

    Parameters
    ----------
    request
        The whole request.
    execute
        Runs one GraphQL request: ``Response.members``, and ``Response.causes`` in the order of
        its errors. A request error is an answer without `data`.
    rules
        What is let through; by default, loopback without a token.

    Returns
    -------
    Response
        Status, headers and bytes. Whatever the request holds, nothing is raised; a fault of
        `execute` is 500, named by an id under which the log has it.
    """
    rules = rules or Rules()
    return screen(request, rules) or await respond(request, execute, rules)


def screen(request: HttpRequest, rules: Rules) -> Response | None:
    """Judge the head alone: the response that ends it here, or None to read the body."""
    for step in STEPS:
        refused = step(request, rules)
        if refused is not None:
            return refused
    return None


async def respond(
    request: HttpRequest, execute: Execute, rules: Rules, trace: Trace | None = None
) -> Response:
    """Answer a request whose head has passed :func:`screen`, noting in `trace` what it was."""
    trace = trace or Trace()
    if len(request.body) > rules.body_limit:
        return too_large(rules)
    try:
        wanted = decode(request.body)
    except BadRequestError as error:
        return refusal(400, str(error))
    try:
        trace.operation = wanted.operation_name
        return packed(await execute(wanted), negotiate(request.headers.get("accept")), trace)
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        # exit() in a resolver ends no server.
        return refusal(500, masked(error, "the request", trace))


def refusal(status: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return an answer that carries one error and executed nothing."""
    return Response(status, HEADERS | dict(headers or {}), dump({"errors": [{"message": message}]}))


HEADERS = {"content-type": JSON, "x-content-type-options": "nosniff"}


# ---------------------------------------------------------------- the head, step by step


def known_path(request: HttpRequest, rules: Rules) -> Response | None:
    """Refuse what is neither the endpoint nor an asset of its page."""
    if request.path == ENDPOINT or request.path in rules.pages:
        return None
    return refusal(404, f"Nothing is at {plain(request.path, 80)}. The endpoint is {ENDPOINT}.")


def known_method(request: HttpRequest, rules: Rules) -> Response | None:
    """Refuse all but POST; a browser may GET the page, where there is one."""
    asset = request.path != ENDPOINT
    if request.method == "GET" and request.path in rules.pages:
        if asset or wants_page(request.headers.get("accept")):
            return None
    elif request.method == "POST" and not asset:
        return None
    return no_such_method(request, "GET" if asset else "POST")


def no_such_method(request: HttpRequest, allowed: str) -> Response:
    """Return the 405 that names the method to use."""
    message = f"{plain(request.method, 20)} is not answered here. Use {allowed}."
    if allowed == "POST":
        message = f"{message} Queries and mutations alike are sent as JSON."
    return refusal(405, message, {"allow": allowed})


def own_host(request: HttpRequest, rules: Rules) -> Response | None:
    """Refuse a ``Host`` that is not ours: a foreign page whose DNS name now leads here."""
    name = host_name(request.headers.get("host"))
    if name is None:
        return refusal(400, "The Host header is missing or malformed.")
    if rules.hosts is None or name in rules.hosts:
        return None
    return refusal(403, f"Host {plain(name, 80)} is not served here. Ask localhost instead.")


def own_origin(request: HttpRequest, rules: Rules) -> Response | None:  # noqa: ARG001 - a step
    """Refuse what a page of another origin sends, even where it could not read the answer."""
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
    if origin is not None and not same_origin(origin, request.headers["host"]):
        return refusal(403, f"Origin {plain(origin, 80)} may not ask this server.")
    if request.method == "POST" and site not in _SAME:
        return refusal(403, "A page of another site may not ask this server.")
    return None


def known_token(request: HttpRequest, rules: Rules) -> Response | None:
    """Ask for the token, where there is one; the words are GitHub's."""
    header = request.headers.get("authorization")
    if rules.token is None or rules.token.matches(header):
        return None
    message, url = "This endpoint requires you to be authenticated.", rules.documentation.missing
    if header:
        message, url = "Bad credentials", rules.documentation.wrong
    members = {"message": message, "documentation_url": url, "errors": [{"message": message}]}
    return Response(401, HEADERS | {"www-authenticate": "Bearer"}, dump(members))


def page(request: HttpRequest, rules: Rules) -> Response | None:
    """Give a browser the page or an asset of it; with a token there is none."""
    if request.method != "GET":
        return None
    if rules.token is not None:
        return no_such_method(request, "POST")
    return rules.pages[request.path]


def json_body(request: HttpRequest, rules: Rules) -> Response | None:  # noqa: ARG001 - a step
    """Refuse what a form of a foreign page could send: only JSON is read."""
    headers = request.headers
    coding = headers.get("content-encoding", "identity").strip().lower()
    if is_json(headers.get("content-type")) and coding in {"identity", ""}:
        return None
    return refusal(415, "Send JSON in UTF-8, with the header Content-Type: application/json.")


def announced_size(request: HttpRequest, rules: Rules) -> Response | None:
    """Refuse a body that says itself that it is too large."""
    length = request.headers.get("content-length", "0").strip()
    if not (length.isascii() and length.isdecimal()):
        return refusal(400, "The Content-Length header is no number.")
    # A length of more digits than any limit has is too large, whatever int() makes of it.
    return too_large(rules) if len(length) > 18 or int(length) > rules.body_limit else None


def too_large(rules: Rules) -> Response:
    """Return the refusal of a body over the limit."""
    return refusal(400, f"The body is too large: at most {rules.body_limit:,} bytes are read.")


STEPS: tuple[Callable[[HttpRequest, Rules], Response | None], ...] = (
    known_path,
    known_method,
    own_host,
    own_origin,
    known_token,
    page,
    json_body,
    announced_size,
)


# ---------------------------------------------------------------- the answer of the engine


def packed(done: Response, media: str, trace: Trace) -> Response:
    """Return what an engine answered as status, headers and bytes.

    Raises
    ------
    JSONError
        If it holds what JSON cannot hold, and not even its repair can be written.
    """
    members = dict(done.members or {})
    if members.get("errors"):
        members["errors"] = unrevealing(members["errors"], done.causes, trace)
    refused = "data" not in members and media == GRAPHQL_JSON
    try:
        body = dump(members)
    except (JSONError, TypeError, ValueError):  # also what msgspec and UTF-8 raise
        body = dump(mended(members))
    return Response(400 if refused else 200, HEADERS | {"content-type": media}, body)


def mended(members: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members with null, and an error, in the place of all that has no JSON form.

    A value of a scalar that somebody wrote may be anything. It costs its own place, and no more.
    """
    faults: list[dict[str, Any]] = []
    whole = {name: writable(value, (), faults) for name, value in members.items() if name != "data"}
    faults = [{"message": fault["message"]} for fault in faults]  # their paths lead not into data
    if "data" in members:
        whole["data"] = writable(members["data"], (), faults)
    place = dotted(faults[0].get("path")) if faults else "the request"
    _LOG.error("%d values without a JSON form became null, the first in %s", len(faults), place)
    more = len(faults) - VALUES_NAMED
    said = [{"message": f"{more:,} more values have no JSON form."}] if more > 0 else []
    errors = [*(whole.pop("errors", None) or ()), *faults[:VALUES_NAMED], *said]
    return {"errors": errors} | whole


def writable(value: Any, path: tuple[str | int, ...], faults: list[dict[str, Any]]) -> Any:
    """Return a value with null for what JSON cannot hold, and an error in `faults` for each."""
    kind = type(value)
    try:
        if kind is dict:
            dump(dict.fromkeys(value))
            return {key: writable(item, (*path, key), faults) for key, item in value.items()}
        if kind in {list, tuple}:
            return [writable(item, (*path, index), faults) for index, item in enumerate(value)]
        dump(value)
    except (JSONError, TypeError, ValueError) as error:
        known = isinstance(error, JSONError)
        reason = str(error) if known else f"A {kind.__name__} has no JSON form."
        faults.append({"message": reason, "path": list(path)})
        return None
    return value


def unrevealing(
    errors: list[dict[str, Any]], causes: tuple[BaseException | None, ...], trace: Trace
) -> list[dict[str, Any]]:
    """Return errors without the words of exceptions that nobody wrote for a client.

    A GraphQLError was raised to be shown and keeps its message and extensions. Any other
    exception may hold a path, a query or a secret: it becomes an id, place and path stay.
    """
    padded = (*causes, *(None for _ in errors[len(causes) :]))
    return [
        error
        if cause is None or meant_to_be_shown(cause)
        else {"message": masked(cause, dotted(error.get("path")), trace)}
        | {name: error[name] for name in ("locations", "path") if name in error}
        for error, cause in zip(errors, padded, strict=False)
    ]


def meant_to_be_shown(cause: BaseException) -> bool:
    """Tell a GraphQLError, or the engine's own sentence about a null, from an accident."""
    if isinstance(cause, GraphQLError):
        hidden = cause.original_error
        return hidden is None or meant_to_be_shown(hidden)
    return type(cause) is TypeError and str(cause).startswith(_NULL)


def masked(cause: BaseException, place: str, trace: Trace) -> str:
    """Keep an exception under a new id and return the message that names the id."""
    number = token_hex(4)
    trace.faults.append((number, cause))
    _LOG.error("Internal error %s in %s", number, place, exc_info=cause)
    return (
        f"Internal error {number}. Whoever serves finds the exception with "
        f"server.error('{number}'), or under this id in the log 'gqlnb'."
    )


def dotted(path: object) -> str:
    """Return a response path as one word, for the log."""
    return ".".join(str(step) for step in path) if isinstance(path, list) else "the request"
