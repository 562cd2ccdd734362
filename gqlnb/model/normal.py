"""One form for documents that ask the same: whatever their layout, comments and order."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from graphql import (
    DocumentNode,
    GraphQLError,
    OperationDefinitionNode,
    StringValueNode,
    Visitor,
    parse,
    print_ast,
    visit,
)

if TYPE_CHECKING:
    from graphql import DefinitionNode

__all__ = ["normal"]

LAYOUT = re.compile(r"\n\s*")


class _Inline(Visitor):
    """Writes block strings as ordinary ones, so that line ends are layout alone."""

    def enter_string_value(self, node: StringValueNode, *_: object) -> StringValueNode | None:
        return StringValueNode(value=node.value, block=False) if node.block else None


def normal(source: DocumentNode | str) -> str:
    """Return a document on one line: operations first, then fragments, each by name.

    Parameters
    ----------
    source
        The document; a text that does not parse gives an empty one.

    Examples
    --------
    >>> normal("fragment F on User { login }  query { me { ...F } }  # who")
    '{ me { ...F } } fragment F on User { login }'
    """
    try:
        ast = parse(source, no_location=True) if isinstance(source, str) else source
    except (GraphQLError, RecursionError):
        return ""
    visited: Any = visit(ast, _Inline())
    printed = map(print_ast, sorted(visited.definitions, key=_place))
    return LAYOUT.sub(" ", "\n".join(printed))


def _place(node: DefinitionNode) -> tuple[bool, str]:
    name = getattr(node, "name", None)
    return not isinstance(node, OperationDefinitionNode), name.value if name is not None else ""
