"""Parsing by the published grammar, whatever the installed graphql-core takes beyond it."""

from __future__ import annotations

import inspect
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
    from graphql import DefinitionNode, DocumentNode

__all__ = ["normalize_document", "parse_source"]

# graphql-core 3.3 takes `{ }`, as a later edition of the specification may; the published ones, and
# the endpoints there are, ask for a selection.
_STRICT_OPTIONS: dict[str, Any] = {
    name: False
    for name in ("allow_empty_selection_sets",)
    if name in inspect.signature(parse).parameters
}


def parse_source(text: str, **options: Any) -> DocumentNode:
    """Parse a text.

    Raises
    ------
    GraphQLSyntaxError
        If it has a syntax error.
    """
    return parse(text, **_STRICT_OPTIONS, **options)


LAYOUT = re.compile(r"\n\s*")


class _BlockStringInliner(Visitor):
    """Writes block strings as ordinary ones, so that line ends are layout alone."""

    def enter_string_value(self, node: StringValueNode, *_: object) -> StringValueNode | None:
        return StringValueNode(value=node.value, block=False) if node.block else None


def normalize_document(source: DocumentNode | str) -> str:
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
    visited: Any = visit(ast, _BlockStringInliner())
    printed = map(print_ast, sorted(visited.definitions, key=_get_sort_key))
    return LAYOUT.sub(" ", "\n".join(printed))


def _get_sort_key(node: DefinitionNode) -> tuple[bool, str]:
    name = getattr(node, "name", None)
    return not isinstance(node, OperationDefinitionNode), name.value if name is not None else ""
