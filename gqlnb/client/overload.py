"""What endpoints say when too much was asked of them at a time, in their several spellings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["HEAVY", "too_much"]

HEAVY = frozenset({502, 504})  # what gateways say where an answer takes too long
TOO_MUCH = frozenset(
    {"RESOURCE_LIMITS_EXCEEDED", "MAX_NODE_LIMIT_EXCEEDED", "EXCESSIVE_PAGINATION"}
)


def too_much(error: Mapping[str, Any]) -> bool:
    """Tell whether an error of an answer says that less should be asked for at a time."""
    extensions = error.get("extensions")
    code = extensions.get("code") if isinstance(extensions, dict) else None
    return not TOO_MUCH.isdisjoint({str(error.get("type")).upper(), str(code).upper()})
