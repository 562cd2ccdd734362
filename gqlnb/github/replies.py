"""The bodies that GitHub answers with where it does not execute."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from gqlnb.wire.json import dump

if TYPE_CHECKING:
    from random import Random

    from gqlnb.github.metering import Meter

__all__ = [
    "BAD_CREDENTIALS",
    "NOT_FOUND",
    "NO_AGENT",
    "NO_JSON",
    "NO_QUERY",
    "NO_TOKEN",
    "Reply",
    "exhausted",
    "gateway",
    "hasty",
    "timed_out",
]

_DOCS = "https://docs.github.com/graphql"
_CALLS = f"{_DOCS}/guides/forming-calls-with-graphql#authenticating-with-graphql"
_SECONDARY = f"{_DOCS}/overview/rate-limits-and-query-limits-for-the-graphql-api"
_USER = 583231  # the number of the account in messages about its budget


class Reply(NamedTuple):
    """One answer: its status, its body, and its headers by lower-case name."""

    status: int
    body: bytes
    headers: Mapping[str, str]


def json(status: int, members: Mapping[str, Any], **headers: str) -> Reply:
    """Return a reply in JSON; an underscore in the name of a header stands for a hyphen."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status, dump(members), {"content-type": "application/json; charset=utf-8"} | named)


def html(status: int, text: str) -> Reply:
    """Return a reply in HTML."""
    return Reply(status, text.encode(), {"content-type": "text/html; charset=utf-8"})


NO_AGENT = html(
    403,
    "Request forbidden by administrative rules. Please make sure your request has a User-Agent "
    "header (https://docs.github.com/en/rest/overview/resources-in-the-rest-api"
    "#user-agent-required). Check https://developer.github.com for other possible causes.\r\n",
)
NOT_FOUND = json(
    404,
    {
        "message": "Not Found",
        "documentation_url": "https://docs.github.com/rest",
        "status": "404",
    },
)
NO_TOKEN = json(
    401,
    {
        "message": "This endpoint requires you to be authenticated.",
        "documentation_url": _CALLS,
        "status": "401",
    },
)
BAD_CREDENTIALS = json(
    401, {"message": "Bad credentials", "documentation_url": _DOCS, "status": "401"}
)
NO_JSON = json(
    400, {"message": "Problems parsing JSON", "documentation_url": _DOCS, "status": "400"}
)
NO_QUERY = json(
    200,
    {"errors": [{"message": "A query attribute must be specified and must be a string."}]},
)


def hasty(chance: Random, wait: int) -> Reply:
    """Return one of the answers to who asks too often, or too much at once.

    Mostly 403 with the seconds to wait; GitHub's documentation names 200 too, clients have seen
    429, and in the first seconds ``retry-after`` may be missing.
    """
    headers = {} if chance.random() < 0.25 else {"retry_after": str(wait)}
    return json(
        chance.choice([403, 403, 200, 429]),
        {
            "documentation_url": f"{_SECONDARY}#secondary-rate-limits",
            "message": "You have exceeded a secondary rate limit. Please wait a few minutes before "
            "you try again.",
        },
        **headers,
    )


def exhausted(chance: Random, meter: Meter) -> Reply:
    """Return one of the two answers to who has used the budget up.

    The second has kept clients waiting that look for the first, or for nothing left.
    """
    if chance.random() < 0.5:
        message = f"API rate limit exceeded for user ID {_USER}."
        return json(200, {"errors": [{"type": "RATE_LIMITED", "message": message}]})
    message = f"API rate limit already exceeded for user ID {_USER}."
    error = {"type": "RATE_LIMIT", "code": "graphql_rate_limit", "message": message}
    return json(200, {"errors": [error]}, x_ratelimit_remaining=str(meter.remaining + 1))


def gateway(chance: Random) -> Reply:
    """Return one of the pages that come where no answer came in time."""
    status, name = chance.choice([(502, "Bad Gateway"), (504, "Gateway Time-out"), (502, "")])
    if name:
        title = f"{status} {name}"
        return html(
            status,
            f"<html>\r\n<head><title>{title}</title></head>\r\n<body>\r\n<center><h1>{title}</h1>"
            "</center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n",
        )
    return html(
        status,
        "<!DOCTYPE html>\n<html>\n<head><title>Unicorn! &middot; GitHub</title></head>\n<body>"
        "<p><strong>We couldn't respond to your request in time.</strong></p>"
        "<p>Sorry about that. Please try refreshing and contact us if the problem persists.</p>"
        "</body>\n</html>\n",
    )


def timed_out(chance: Random) -> Reply:
    """Return one of the answers in JSON to what took longer than ten seconds."""
    number = ":".join(f"{chance.randrange(2**16):04X}" for _ in range(5))
    message = (
        "Something went wrong while executing your query. This may be the result of a timeout, or "
        f"it could be a GitHub bug. Please include `{number}` when reporting this issue."
    )
    nothing = chance.choice([None, "null"])  # both have been seen
    return json(chance.choice([502, 504]), {"data": nothing, "errors": [{"message": message}]})
