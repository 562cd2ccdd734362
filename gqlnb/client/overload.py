"""What endpoints say when too much was asked of them at a time, in their several spellings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gqlnb.errors import TransportError, plain
from gqlnb.model.result import Result

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["HEAVY", "spelled_out", "too_much"]

HEAVY = frozenset({502, 504})  # what gateways say where an answer takes too long
TOO_MUCH = frozenset(
    {"RESOURCE_LIMITS_EXCEEDED", "MAX_NODE_LIMIT_EXCEEDED", "EXCESSIVE_PAGINATION"}
)
TIMED_OUT = "Something went wrong while executing your query"  # GitHub's words, with null data


def too_much(error: Mapping[str, Any]) -> bool:
    """Tell whether an error of an answer says that less should be asked for at a time."""
    extensions = error.get("extensions")
    code = extensions.get("code") if isinstance(extensions, dict) else None
    return not TOO_MUCH.isdisjoint({str(error.get("type")).upper(), str(code).upper()})


def spelled_out(outcome: Result | TransportError, source: str) -> Result | TransportError:
    """Return what came, and a time-out that came with status 200 and no data as the 504 it is."""
    if isinstance(outcome, TransportError) or outcome.data is not None:
        return outcome
    said = (str(error.get("message", "")) for error in outcome.errors)
    words = next((each for each in said if each.startswith(TIMED_OUT)), None)
    return outcome if words is None else TransportError(f"{source}: {plain(words)}", status=504)
