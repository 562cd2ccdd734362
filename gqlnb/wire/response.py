"""A response as a plain value: what came over a wire, or what an engine handed back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["GRAPHQL_JSON", "GRAPHQL_TYPE", "JSON", "JSON_TYPE", "Response"]

# The two media types of answers, by themselves and as a Content-Type.
JSON_TYPE, GRAPHQL_TYPE = "application/json", "application/graphql-response+json"
JSON, GRAPHQL_JSON = f"{JSON_TYPE}; charset=utf-8", f"{GRAPHQL_TYPE}; charset=utf-8"


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
    faults
        The exceptions whose words were kept from a client, each with the id it got instead.
    sound
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
    faults: tuple[tuple[str, BaseException], ...] = ()
    sound: bool = False
    replayed: bool = False
