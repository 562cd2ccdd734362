"""A GraphQL request as a plain value, and its JSON form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gqlnb.wire.json import JSONError, dump, load

if TYPE_CHECKING:
    from gqlnb.model.document import Document

__all__ = ["BadRequestError", "Request", "decode", "from_members"]


class BadRequestError(Exception):
    """A body that is no GraphQL request; its text goes to whoever sent it."""


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
    until
        The moment, of :func:`time.monotonic`, by which the response must be there; None for what
        the transport grants by itself. It is not sent.
    """

    query: str
    variables: Mapping[str, Any] | None = None
    operation_name: str | None = None
    document: Document | None = None
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
    return from_members(members)


def from_members(members: object) -> Request:
    """Check the members of a request.

    Raises
    ------
    BadRequestError
        If it is no mapping with a string `query` and members of the right types.
    """
    if isinstance(members, list):
        msg = "A batch of requests is not accepted. Send one request at a time."
        raise BadRequestError(msg)
    if not isinstance(members, Mapping):
        msg = "The body must be a JSON object with a string member 'query'."
        raise BadRequestError(msg)
    query = members.get("query")
    if not isinstance(query, str):
        msg = "The member 'query' must be there and be a string."
        raise BadRequestError(msg)
    for name, kind, word in MEMBERS:
        if not isinstance(members.get(name), (kind, type(None))):
            msg = f"The member {name!r} must be {word} or null."
            raise BadRequestError(msg)
    return Request(query, members.get("variables"), members.get("operationName"))


MEMBERS: tuple[tuple[str, type, str], ...] = (
    ("variables", Mapping, "an object"),
    ("operationName", str, "a string"),
    ("extensions", Mapping, "an object"),
)
