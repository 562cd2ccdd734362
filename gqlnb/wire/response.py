"""A response as a plain value: what came over a wire, or what an engine handed back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["GRAPHQL_JSON", "JSON", "Response"]

JSON = "application/json; charset=utf-8"
GRAPHQL_JSON = "application/graphql-response+json; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Response:
    """One response, of a server or of an engine in this process.

    Attributes
    ----------
    status
        HTTP status; 200 for an engine in this process.
    headers
        Header values by lower-case name.
    body
        The bytes, empty where `members` are set.
    members
        The GraphQL response as a mapping (`data`, `errors`, `extensions`) where no bytes were
        made: an engine in this process.
    causes
        The exception behind each of the errors, in their order, where they arose in this process.
    """

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    members: Mapping[str, Any] | None = None
    causes: tuple[BaseException | None, ...] = ()
