"""A GraphQL request as a plain value, and its JSON form."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from gqlnb.errors import plain
from gqlnb.wire.json import JSONError, dump, load

if TYPE_CHECKING:
    from gqlnb.model.document import Document

__all__ = ["BadRequestError", "Request", "asked", "decode", "from_members"]

PARAMETERS = 100  # of a query string; four are known
_HEX = re.compile(rb"%(?![0-9A-Fa-f]{2})")


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
    until
        The moment, of :func:`time.monotonic`, by which the response must be there; None for what
        the transport grants by itself. It is not sent.
    """

    query: str
    variables: Mapping[str, Any] | None = None
    operation_name: str | None = None
    document: Document | None = None
    safe: bool = False
    raw: bytes = field(default=b"", repr=False, compare=False)
    until: float | None = None

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
        return dump(members)


def decode(body: bytes) -> Request:
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
        members = load(body)
    except JSONError as error:
        msg = f"The body is not JSON: {error}"
        raise BadRequestError(msg) from None
    return from_members(members, raw=body)


def asked(query_string: bytes) -> Request:
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
    given = parameters(query_string)
    members: dict[str, Any] = {"query": given.get("query")}
    members["operationName"] = given.get("operationName") or None
    for name in ("variables", "extensions"):
        text = given.get(name)
        if text is not None:
            try:
                members[name] = load(text.encode())
            except JSONError as error:
                msg = f"The parameter {name!r} is not JSON: {error}"
                raise BadRequestError(msg) from None
    return from_members(members, "parameter", safe=True)


def parameters(query_string: bytes) -> dict[str, str]:
    """Return the parameters of a query string by name.

    Raises
    ------
    BadRequestError
        If it is not percent-encoded UTF-8, or names one of ours twice.
    """
    msg = "The query string is not UTF-8, percent-encoded."
    if _HEX.search(query_string) or not query_string.isascii():
        raise BadRequestError(msg)
    try:
        pairs = parse_qsl(
            query_string.decode(),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=PARAMETERS,
        )
    except UnicodeDecodeError:
        raise BadRequestError(msg) from None
    except ValueError:
        msg = f"The query string has more than {PARAMETERS} parameters."
        raise BadRequestError(msg) from None
    given: dict[str, str] = {}
    for name, value in pairs:
        if name in given:
            msg = f"The parameter {plain(repr(name), 80)} is given more than once."
            raise BadRequestError(msg)
        given[name] = value
    return given


def from_members(
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
    for name, kind, kind_word in MEMBERS:
        if not isinstance(members.get(name), (kind, type(None))):
            msg = f"The {word} {name!r} must be {kind_word} or null."
            raise BadRequestError(msg, is_json=True)
    variables, operation = members.get("variables"), members.get("operationName")
    return Request(query, variables, operation, safe=safe, raw=raw)


MEMBERS: tuple[tuple[str, type, str], ...] = (
    ("variables", Mapping, "an object"),
    ("operationName", str, "a string"),
    ("extensions", Mapping, "an object"),
)
