"""Strict parsing by the published grammar, and a normal form of documents."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any, TypeVar

from graphql import (
    DocumentNode,
    GraphQLError,
    Node,
    OperationDefinitionNode,
    StringValueNode,
    Visitor,
    parse,
    print_ast,
    visit,
)

if TYPE_CHECKING:
    from graphql import DefinitionNode

__all__ = ["find_nodes", "normalize_document", "parse_source"]

NodeType = TypeVar("NodeType", bound=Node)
LINE_BREAK = re.compile(r"\n\s*")
# graphql-core 3.3 accepts `{ }`, as a later edition of the specification may; the published
# editions, and servers, require a selection.
_STRICT_OPTIONS: dict[str, Any] = {
    name: False
    for name in ("allow_empty_selection_sets",)
    if name in inspect.signature(parse).parameters
}


def parse_source(text: str, **options: Any) -> DocumentNode:  # noqa: ANN401 - of graphql-core
    """Parse a text strictly.

    Parameters
    ----------
    text
        The GraphQL text.
    options
        Options of graphql-core's ``parse``.

    Raises
    ------
    GraphQLSyntaxError
        If the text has a syntax error.
    """
    return parse(text, **_STRICT_OPTIONS, **options)


def find_nodes(ast: Node, kind: type[NodeType]) -> list[NodeType]:
    """Return the nodes of a kind in a document or a part of one, in the order of the text."""
    found: list[NodeType] = []

    class Collector(Visitor):
        def enter(self, node: Node, *_: object) -> None:
            if isinstance(node, kind):
                found.append(node)

    visit(ast, Collector())
    return found


class _BlockStringInliner(Visitor):
    """Converts block strings to ordinary ones, so that a line break is never part of a value."""

    def enter_string_value(self, node: StringValueNode, *_: object) -> StringValueNode | None:
        return StringValueNode(value=node.value, block=False) if node.block else None


def normalize_document(source: DocumentNode | str) -> str:
    """Return a document on one line: operations, then fragments, each sorted by name.

    Parameters
    ----------
    source
        The document; for a text with a syntax error the result is "".

    Examples
    --------
    >>> normalize_document("fragment F on User { login }  query { me { ...F } }  # comment")
    '{ me { ...F } } fragment F on User { login }'
    """

    def get_sort_key(node: DefinitionNode) -> tuple[bool, str]:
        name = getattr(node, "name", None)
        return not isinstance(node, OperationDefinitionNode), name.value if name else ""

    try:
        ast = parse(source, no_location=True) if isinstance(source, str) else source
    except (GraphQLError, RecursionError):
        return ""
    inlined: DocumentNode = visit(ast, _BlockStringInliner())
    printed = map(print_ast, sorted(inlined.definitions, key=get_sort_key))
    return LINE_BREAK.sub(" ", "\n".join(printed))
