"""Strict parsing by the published grammar, and a normal form of documents."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any, TypeVar

from graphql import (
    DocumentNode,
    GraphQLError,
    GraphQLSyntaxError,
    Node,
    OperationDefinitionNode,
    StringValueNode,
    Visitor,
    get_location,
    parse,
    print_ast,
    visit,
)
from graphql.language.parser import Parser

if TYPE_CHECKING:
    from graphql import DefinitionNode, Location, SourceLocation, Token

__all__ = ["find_nodes", "find_position", "normalize_document", "parse_source"]

NodeType = TypeVar("NodeType", bound=Node)
LINE_BREAK = re.compile(r"\n\s*")
# graphql-core 3.3 accepts `{ }`, as a later edition of the specification may; the published
# editions, and servers, require a selection.
_STRICT_OPTIONS: dict[str, Any] = {
    name: False
    for name in ("allow_empty_selection_sets",)
    if name in inspect.signature(parse).parameters
}


# A fifth of a document's objects are tokens, which nothing reads once it is parsed: errors are
# located by offsets. Linked in both directions, they also stay in memory until the garbage
# collector runs. It stops all threads for a time that grows with the number of objects.
class _Parser(Parser):
    """graphql-core's parser of one text, without tokens in the locations."""

    def loc(self, start_token: Token) -> Location | None:
        """Return the location from a token to the last one."""
        found = super().loc(start_token)
        if found is not None:
            found.start_token = found.end_token = None  # type: ignore[assignment]
        return found

    def unlink_tokens(self) -> None:
        """Remove the links between the tokens of the text."""
        last: Token | None = self._lexer.token
        while last is not None:
            last.next, last.prev, last = None, None, last.prev

    def build_depth_error(self) -> GraphQLSyntaxError:
        """Return the error for a text that is nested too deeply, at the token it has reached."""
        reached = self._lexer.token.start
        message = "The document is nested too deeply to parse."
        return GraphQLSyntaxError(self._lexer.source, reached, message)


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
        If the text has a syntax error, or is nested too deeply.
    """
    parser = _Parser(text, **_STRICT_OPTIONS, **options)
    try:
        return parser.parse_document()
    except RecursionError:
        pass
    finally:
        parser.unlink_tokens()
    raise parser.build_depth_error()


def find_nodes(ast: Node, kind: type[NodeType]) -> list[NodeType]:
    """Return the nodes of a kind in a document or a part of one, in the order of the text."""
    found: list[NodeType] = []

    class Collector(Visitor):
        def enter(self, node: Node, *_: object) -> None:
            if isinstance(node, kind):
                found.append(node)

    visit(ast, Collector())
    return found


def find_position(node: Node) -> SourceLocation | None:
    """Return the line and column of a node; None if it was not parsed from a text."""
    return None if node.loc is None else get_location(node.loc.source, node.loc.start)


class _BlockStringInliner(Visitor):
    """Converts block strings to ordinary ones, so that a line break is never part of a value."""

    def enter_string_value(self, node: StringValueNode, *_: object) -> StringValueNode | None:
        return StringValueNode(value=node.value, block=False) if node.block else None


def normalize_document(source: DocumentNode | str) -> str:
    """Return a document on one line: operations, then fragments, each sorted by name.

    Parameters
    ----------
    source
        The document; a text with a syntax error is returned as it is.

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
        return str(source)
    inlined: DocumentNode = visit(ast, _BlockStringInliner())
    printed = map(print_ast, sorted(inlined.definitions, key=get_sort_key))
    return LINE_BREAK.sub(" ", "\n".join(printed))
