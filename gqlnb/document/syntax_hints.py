"""Hints at syntax errors: brackets that are missing, and texts of another language."""

from __future__ import annotations

import re

from graphql import GraphQLError, Lexer, Source, TokenKind, parse

from gqlnb.document.json_codec import JSONError, load_json
from gqlnb.errors import find_similar

__all__ = ["find_syntax_hint", "has_tokens"]

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
