"""Parsing by the published grammar, whatever the installed graphql-core takes beyond it."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from graphql import parse

if TYPE_CHECKING:
    from graphql import DocumentNode

__all__ = ["read"]

# graphql-core 3.3 takes `{ }`, as a later edition of the specification may; the published ones, and
# the endpoints there are, ask for a selection.
_STRICT: dict[str, Any] = {
    name: False
    for name in ("allow_empty_selection_sets",)
    if name in inspect.signature(parse).parameters
}


def read(text: str, **options: Any) -> DocumentNode:
    """Parse a text.

    Raises
    ------
    GraphQLSyntaxError
        If it has a syntax error.
    """
    return parse(text, **_STRICT, **options)
