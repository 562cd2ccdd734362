"""The bodies that GitHub answers with where it does not execute, and its words for errors."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from graphql import FieldNode, FragmentDefinitionNode, InlineFragmentNode, OperationDefinitionNode
from graphql import parse as parsed

from gqlnb.wire.json import dump

if TYPE_CHECKING:
    from random import Random

    from gqlnb.github.metering import Meter

__all__ = [
    "BAD_CREDENTIALS",
    "NO_AGENT",
    "NO_JSON",
    "NO_QUERY",
    "NO_TOKEN",
    "Reply",
    "exhausted",
    "gateway",
    "hasty",
    "in_their_words",
    "timed_out",
]

_DOCS = "https://docs.github.com/graphql"
_CALLS = f"{_DOCS}/guides/forming-calls-with-graphql#authenticating-with-graphql"
_SECONDARY = f"{_DOCS}/overview/rate-limits-and-query-limits-for-the-graphql-api"
_USER = 583231  # the number of the account in messages about its budget
_UNDEFINED = re.compile(r"Cannot query field '(?P<field>\w+)' on type '(?P<kind>\w+)'\.")


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


def hasty(wait: int) -> Reply:
    """Return the answer to who asks too often, or too much at once: to wait so many seconds."""
    return json(
        403,
        {
            "documentation_url": f"{_SECONDARY}#secondary-rate-limits",
            "message": "You have exceeded a secondary rate limit. Please wait a few minutes before "
            "you try again.",
        },
        retry_after=str(wait),
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


def in_their_words(errors: Sequence[Mapping[str, Any]], text: str) -> list[dict[str, Any]]:
    """Return request errors as GitHub writes them.

    An unknown field is named as there, with a path that begins with the operation. The others keep
    their words and places.
    """
    return [_undefined(error, text) or _bare(error) for error in errors]


def _bare(error: Mapping[str, Any]) -> dict[str, Any]:
    return {name: error[name] for name in ("locations", "message") if name in error}


def _undefined(error: Mapping[str, Any], text: str) -> dict[str, Any] | None:
    match = _UNDEFINED.match(str(error.get("message")))
    if match is None or not error.get("locations"):
        return None
    place = error["locations"][0]
    field, kind = match["field"], match["kind"]
    return {
        "path": _path(text, (place["line"], place["column"])),
        "extensions": {"code": "undefinedField", "typeName": kind, "fieldName": field},
        "locations": error["locations"],
        "message": f"Field '{field}' doesn't exist on type '{kind}'",
    }


def _path(text: str, place: tuple[int, int]) -> list[str]:
    """Return the path of a field in a document, from its operation or fragment on."""
    for node in parsed(text).definitions:
        for path, field in _fields((_title(node),), node):
            start = field.loc.start_token if field.loc else None
            if start is not None and (start.line, start.column) == place:
                return list(path)
    return []


def _fields(path: tuple[str, ...], node: Any) -> Iterator[tuple[tuple[str, ...], FieldNode]]:
    """Yield every field below a node with its path."""
    for each in node.selection_set.selections if node.selection_set else ():
        inner = path
        if isinstance(each, FieldNode):
            inner = (*path, (each.alias or each.name).value)
            yield inner, each
        elif isinstance(each, InlineFragmentNode):
            inner = (
                *path,
                f"... on {each.type_condition.name.value}" if each.type_condition else "...",
            )
        else:
            continue
        yield from _fields(inner, each)


def _title(node: Any) -> str:
    if isinstance(node, FragmentDefinitionNode):
        return f"fragment {node.name.value}"
    if isinstance(node, OperationDefinitionNode):
        kind = node.operation.value
        return f"{kind} {node.name.value}" if node.name else kind
    return ""
