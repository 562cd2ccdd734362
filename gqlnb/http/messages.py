"""A GraphQL request as a plain value, and its JSON form."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from gqlnb.document.json_codec import JSONError, dump_json, load_json
from gqlnb.errors import sanitize_text

if TYPE_CHECKING:
    from gqlnb.document.document import Document

__all__ = [
    "GRAPHQL_CONTENT_TYPE",
    "GRAPHQL_MEDIA_TYPE",
    "JSON_CONTENT_TYPE",
    "JSON_MEDIA_TYPE",
    "BadRequestError",
    "Request",
    "Response",
    "build_request",
    "parse_query_string",
    "parse_request_body",
]

MAX_PARAMETERS = 100  # of a query string; four are known
_BAD_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")


class BadRequestError(Exception):
    """What is no GraphQL request; its text goes to whoever sent it.

    Parameters
    ----------
    message
        What is wrong, and what would be right.
    is_json
        Whether it could be read as JSON, and says something else.
    """

    def __init__(self, message: str, *, is_json: bool = False) -> None:
        super().__init__(message)
        self.is_json = is_json


@dataclass(frozen=True, slots=True)
class Request:
    """One operation to execute, as every transport takes it.

    Attributes
    ----------
    query
        The document text.
    variables
        JSON-like values by variable name, without the ``$``.
    operation_name
        Which operation of the document to run; None where there is only one.
    document
        The same text parsed, where the sender has it: spares an in-process engine the parse, and
        says whether it may be sent twice.
    safe
        Whether it came by a method that changes nothing, so that only a query may be run.
    raw
        The JSON it was read from; empty where there is none.
    deadline
        The moment, of :func:`time.monotonic`, by which the response must be there; None for what
        the transport grants by itself. It is not sent.
    """

    query: str
    variables: Mapping[str, Any] | None = None
    operation_name: str | None = None
    document: Document | None = None
    safe: bool = False
    raw: bytes = field(default=b"", repr=False, compare=False)
    deadline: float | None = None

    def encode(self) -> bytes:
        """Return the JSON body of a POST; members that are None are left out.

        Raises
        ------
        JSONError
            If a variable is no JSON value; the message names its path.
        """
        members: dict[str, Any] = {"query": self.query}
        if self.variables:
            members["variables"] = dict(self.variables)
        if self.operation_name is not None:
            members["operationName"] = self.operation_name
        return dump_json(members)


def parse_request_body(body: bytes) -> Request:
    """Read the JSON body of a POST.

    Raises
    ------
    BadRequestError
        If it is no JSON object with a string `query` and members of the right types.

    Notes
    -----
    Members we do not know are ignored, null optional members count as absent (GraphQL over HTTP,
    "Request Parameters").
    """
    if not body:
        msg = 'The body is empty. Send JSON such as {"query": "{ hello }"}.'
        raise BadRequestError(msg)
    try:
        members = load_json(body)
    except JSONError as error:
        msg = f"The body is not JSON: {error}"
        raise BadRequestError(msg) from None
    return build_request(members, raw=body)


def parse_query_string(query_string: bytes) -> Request:
    """Read the parameters of a GET, as strictly as a body.

    Raises
    ------
    BadRequestError
        If there is no `query`, a parameter is given twice, or one has not the form it should have.

    Notes
    -----
    `variables` and `extensions` are JSON, an empty `operationName` is none, and what we do not know
    is ignored (GraphQL over HTTP, "GET").
    """
    given = parse_parameters(query_string)
    members: dict[str, Any] = {"query": given.get("query")}
    members["operationName"] = given.get("operationName") or None
    for name in ("variables", "extensions"):
        text = given.get(name)
        if text is not None:
            try:
                members[name] = load_json(text.encode())
            except JSONError as error:
                msg = f"The parameter {name!r} is not JSON: {error}"
                raise BadRequestError(msg) from None
    return build_request(members, "parameter", safe=True)


def parse_parameters(query_string: bytes) -> dict[str, str]:
    """Return the parameters of a query string by name.

    Raises
    ------
    BadRequestError
        If it is not percent-encoded UTF-8, or names one of ours twice.
    """
    msg = "The query string is not UTF-8, percent-encoded."
    if _BAD_ESCAPE.search(query_string) or not query_string.isascii():
        raise BadRequestError(msg)
    try:
        pairs = parse_qsl(
            query_string.decode(),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=MAX_PARAMETERS,
        )
    except UnicodeDecodeError:
        raise BadRequestError(msg) from None
    except ValueError:
        msg = f"The query string has more than {MAX_PARAMETERS} parameters."
        raise BadRequestError(msg) from None
    given: dict[str, str] = {}
    for name, value in pairs:
        if name in given:
            msg = f"The parameter {sanitize_text(repr(name), 80)} is given more than once."
            raise BadRequestError(msg)
        given[name] = value
    return given


def build_request(
    members: object, word: str = "member", *, safe: bool = False, raw: bytes = b""
) -> Request:
    """Check the members of a request.

    Parameters
    ----------
    members
        What was sent.
    word
        What a member is called where it came from.
    safe
        Whether only a query may be run.
    raw
        What they were read from.

    Raises
    ------
    BadRequestError
        If it is no mapping with a string `query` and members of the right types.
    """
    if isinstance(members, list):
        msg = "A batch of requests is not accepted. Send one request at a time."
        raise BadRequestError(msg, is_json=True)
    if not isinstance(members, Mapping):
        msg = "The body must be a JSON object with a string member 'query'."
        raise BadRequestError(msg, is_json=True)
    query = members.get("query")
    if not isinstance(query, str):
        msg = f"The {word} 'query' must be there and be a string."
        raise BadRequestError(msg, is_json=True)
    for name, kind, kind_word in OPTIONAL_MEMBERS:
        if not isinstance(members.get(name), (kind, type(None))):
            msg = f"The {word} {name!r} must be {kind_word} or null."
            raise BadRequestError(msg, is_json=True)
    variables, operation = members.get("variables"), members.get("operationName")
    return Request(query, variables, operation, safe=safe, raw=raw)


OPTIONAL_MEMBERS: tuple[tuple[str, type, str], ...] = (
    ("variables", Mapping, "an object"),
    ("operationName", str, "a string"),
    ("extensions", Mapping, "an object"),
)

# The two media types of answers, by themselves and as a Content-Type.
JSON_MEDIA_TYPE, GRAPHQL_MEDIA_TYPE = "application/json", "application/graphql-response+json"
JSON_CONTENT_TYPE, GRAPHQL_CONTENT_TYPE = (
    f"{JSON_MEDIA_TYPE}; charset=utf-8",
    f"{GRAPHQL_MEDIA_TYPE}; charset=utf-8",
)


@dataclass(frozen=True, slots=True)
class Response:
    """One response, of a server or of an engine in this process.

    Attributes
    ----------
    status
        HTTP status. Of an engine in this process 200, or where it refused a request what was
        wrong with it: 400, its syntax, or 422, anything else.
    headers
        Header values by lower-case name.
    body
        The bytes, empty where `members` are set.
    members
        The GraphQL response as a mapping (`data`, `errors`, `extensions`) where no bytes were
        made: an engine in this process.
    causes
        The exception behind each of the errors, in their order, where they arose in this process.
    operation
        The name of the operation that was executed, None where it has none.
    masked_errors
        The exceptions whose words were kept from a client, each with the id it got instead.
    is_json_safe
        Whether the types of its leaves let it hold only what JSON can, so that nobody need look.
    replayed
        Whether it comes from a recording: what it says of budgets and waits is past.
    """

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = field(default=b"", repr=False)  # it may repeat a token, which data may hold
    members: Mapping[str, Any] | None = None
    causes: tuple[BaseException | None, ...] = ()
    operation: str | None = None
    masked_errors: tuple[tuple[str, BaseException], ...] = ()
    is_json_safe: bool = False
    replayed: bool = False
