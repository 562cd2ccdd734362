"""Errors of endpoints that were asked for too much at a time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from gqlnb.wire.transient import is_transient_message

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["HEAVY", "find_size_limit", "names_size", "says_too_much", "says_transient"]

HEAVY = frozenset({502, 504})  # gateways answer so where the service takes too long
TOO_MUCH = frozenset(
    {"RESOURCE_LIMITS_EXCEEDED", "MAX_NODE_LIMIT_EXCEEDED", "EXCESSIVE_PAGINATION"}
)
# GitHub: "exceeds the `first` limit of 100 records"; Saleor: "Requesting 101 records ... exceeds";
# Shopify: "query cost ... exceeds the single query max cost limit"; graphql-armor, Hot Chocolate.
ABOUT_SIZE = re.compile(
    r"\b(?:first|last|limit|take|page ?size|per ?page|pagination|records|rows|items)\b"
    r"|exceed|complex|cost|maxim|too (?:many|much|large|big|high|long)|at most|less than|greater",
    re.IGNORECASE,
)
NUMBER = re.compile(r"(?<![\w.])(\d{1,3}(?:[,_']\d{3})+|\d{1,7})(?![\w.]*\d)")


def says_too_much(error: Mapping[str, Any]) -> bool:
    """Return whether an error of an answer says that less should be asked for at a time."""
    extensions = error.get("extensions")
    code = extensions.get("code") if isinstance(extensions, dict) else None
    return not TOO_MUCH.isdisjoint({str(error.get("type")).upper(), str(code).upper()})


def says_transient(error: Mapping[str, Any]) -> bool:
    """Return whether an error of an answer may not come again."""
    return error.get("type") == "INTERNAL" or is_transient_message(error.get("message"))


def names_size(message: str) -> bool:
    """Return whether the message of an error may be about the size of a page."""
    return ABOUT_SIZE.search(message) is not None


def find_size_limit(messages: Iterable[str], below: int, above: int = 0) -> int | None:
    """Return the largest number between two sizes, both excluded, that the messages name.

    Examples
    --------
    >>> find_size_limit(["first: 500 exceeds the limit of 250 records"], 500, 100)
    250
    """
    found = [int(re.sub(r"\D", "", n)) for text in messages for n in NUMBER.findall(text)]
    return max((number for number in found if above < number < below), default=None)
