"""Strict parsing by the published grammar, a normal form of documents, and hints at errors."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any, TypeVar

from graphql import (
    DocumentNode,
    GraphQLError,
    GraphQLSyntaxError,
    Lexer,
    Node,
    OperationDefinitionNode,
    Source,
    StringValueNode,
    TokenKind,
    Visitor,
    get_location,
    parse,
    print_ast,
    visit,
)
from graphql.language.parser import Parser

from gqlnb.document.json_codec import JSONError, load_json
from gqlnb.errors import find_similar

if TYPE_CHECKING:
    from graphql import DefinitionNode, Location, SourceLocation, Token

EXAMPLE = "{ __typename }"
CLOSING = {
    TokenKind.BRACE_L: TokenKind.BRACE_R,
    TokenKind.BRACKET_L: TokenKind.BRACKET_R,
    TokenKind.PAREN_L: TokenKind.PAREN_R,
}
KEYWORDS = ("query", "mutation", "subscription", "fragment")
START = f"An operation begins with a brace, or with query, mutation or subscription: {EXAMPLE}."
# Texts that people write in the place of a query: what their beginning looks like, and the hint.
# A text is bounded where a pattern may look far ahead, as servers receive any text.
LOOKAHEAD = 500
OTHER_LANGUAGES = (
    (
        r"(?:https?|wss?)://",
        "This is an address. Give it as the target of a client, or behind %%graphql, and write an "
        f"operation here, such as {EXAMPLE}.",
    ),
    (
        r"[%!]",
        "This is a line of IPython. GraphQL cannot be mixed with it: give it a cell of its own.",
    ),
    (r"<", f"This is HTML or XML. Write an operation, such as {EXAMPLE}."),
    (
        rf"(?is:select\s[^{{]{{0,{LOOKAHEAD}}}(?:\sfrom\s|$)|select\s*$|with\s+\w+\s+as\s*\("
        r"|insert\s+into\s|update\s+\w+\s+set\s|delete\s+from\s"
        r"|(?:create|drop|alter)\s+(?:table|view)\s)",
        "This is SQL. GraphQL names the fields in braces, and filters by arguments: "
        "{ rows(first: 10) { name } }.",
    ),
    (r"curl\s", f"This is a command of a shell. Write its query alone, such as {EXAMPLE}."),
    (
        r"(?:import|from|def|class|for|while|if|with|return|await|del|lambda)\s+[^\s{(:]"
        r"|(?:try|else)\s*:|@\w+\s*$|[\w.\[\]'\"]+\s*[-+*/]?=[^=]|\w+\.\w+|\w+\((?!\s*\$|\s*\w+\s*:)",
        f"This is Python. Write it into a cell of its own, and here an operation: {EXAMPLE}.",
    ),
)
COMPILED = [(re.compile(pattern, re.MULTILINE), hint) for pattern, hint in OTHER_LANGUAGES]
BLANK = re.compile(r"(?:[\s,\ufeff]++|#[^\n\r]*+)*+\Z")
JSON_START = re.compile(r"""\{\s*["']|\[|["'\d-]|(?:true|false|null)\s*$""")


def has_tokens(text: str) -> bool:
    """Return whether a text has more than white space, commas and comments."""
    return BLANK.match(text) is None


def find_syntax_hint(text: str, failure: GraphQLError) -> dict[int, str]:
    """Return a hint at a syntax error, by its offset in the text; empty for none."""
    if not failure.positions:
        return {}
    at = next(iter(failure.positions))
    if failure.message.endswith("found <EOF>.") and (closing := list_unclosed(text)):
        return {at: f"Add at the end: {closing}"}
    before, hint = text[:at], ""
    if not has_tokens(before):
        hint = describe_start(text[at:])
    elif before.strip() == "{" and text[at : at + 1] in "\"'":
        hint = describe_json(text)
    elif failure.message.endswith("Unexpected <EOF>."):
        hint = START
    elif failure.message.endswith("Expected '{', found <EOF>.") or (
        text[at : at + 1] == "}" and before.rstrip(" \t\r\n,").endswith("{")
    ):
        hint = f"Write the fields in braces, at least one: {EXAMPLE}"
    elif failure.message.endswith("Unexpected '}'.") and not list_unclosed(before):
        hint = "There is one } more than {."
    return {at: hint} if hint else {}


def describe_start(text: str) -> str:
    """Return a hint at a text that does not begin as an operation."""
    for pattern, hint in COMPILED:
        if pattern.match(text):
            return hint
    if JSON_START.match(text):
        return describe_json(text)
    word = re.match(r"\w*", text)[0]  # type: ignore[index]
    keyword = find_similar(word.lower(), KEYWORDS, 0.7) if word else None
    if keyword is not None and re.match(r"\w+\s*(\w+\s*)?[({]", text):
        return f"Did you mean {keyword}?"
    wrapped = f"{{ {text.strip()} }}"
    try:
        parse(wrapped[: LOOKAHEAD * 4], no_location=True)
    except (GraphQLError, RecursionError):
        return START
    shown = wrapped if len(wrapped) <= 60 and "\n" not in wrapped else f"{{ {word} ... }}"
    return f"Braces around the fields are missing: {shown}"


def describe_json(text: str) -> str:
    """Return a hint at a text that is JSON, or a Python dict."""
    try:
        value = load_json(text.encode())
    except (JSONError, UnicodeEncodeError):
        value = None
    if isinstance(value, dict) and "query" in value:
        return (
            "This is the JSON of a request. Write the text of its member query alone, and give the "
            "variables apart."
        )
    return (
        "This is JSON or a value of Python. The braces of GraphQL hold names of fields, without "
        f"quotes and colons: {EXAMPLE}."
    )


def list_unclosed(text: str) -> str:
    """Return the brackets that the end of a text leaves open."""
    lexer, missing = Lexer(Source(text)), []
    while (token := lexer.advance()).kind is not TokenKind.EOF:
        token.prev = None  # linked in both directions, tokens would wait for the garbage collector
        if token.kind in CLOSING:
            missing.append(CLOSING[token.kind])
        elif missing and token.kind is missing[-1]:
            missing.pop()
    return " ".join(kind.value for kind in reversed(missing))


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
