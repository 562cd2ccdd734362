"""Syntax errors in the words of GitHub's parser."""

from __future__ import annotations

import json
import re
from typing import Any

from graphql import GraphQLError, GraphQLSyntaxError, Lexer, Source, Token, TokenKind, parse

__all__ = ["format_parse_error"]

# GitHub has graphql-ruby's parser of version 2.2 or later, as answers of 2024 to 2026 show:
# 'Expected NAME, actual: COLON (":") at [3, 64]'. Version 1.13, which Debian 12 has, said
# 'Parse error on ":" (COLON) at [3, 64]'. Both parsers and graphql-core's stop at the same token.
_KEYWORDS = re.compile(
    "on|fragment|true|false|null|query|mutation|subscription|schema|scalar|type|extend|implements|"
    "interface|union|enum|input|directive|repeatable"
)
_TOKEN_NAMES = {
    TokenKind.BANG: "BANG",
    TokenKind.DOLLAR: "VAR_SIGN",
    TokenKind.AMP: "AMP",
    TokenKind.PAREN_L: "LPAREN",
    TokenKind.PAREN_R: "RPAREN",
    TokenKind.SPREAD: "ELLIPSIS",
    TokenKind.COLON: "COLON",
    TokenKind.EQUALS: "EQUALS",
    TokenKind.AT: "DIR_SIGN",
    TokenKind.BRACKET_L: "LBRACKET",
    TokenKind.BRACKET_R: "RBRACKET",
    TokenKind.BRACE_L: "LCURLY",
    TokenKind.PIPE: "PIPE",
    TokenKind.BRACE_R: "RCURLY",
    TokenKind.INT: "INT",
    TokenKind.FLOAT: "FLOAT",
    TokenKind.STRING: "STRING",
    TokenKind.BLOCK_STRING: "STRING",
}
_OPENING = frozenset({TokenKind.PAREN_L, TokenKind.BRACKET_L, TokenKind.BRACE_L})
_CLOSING = frozenset({TokenKind.PAREN_R, TokenKind.BRACKET_R, TokenKind.BRACE_R})
_EXPECTED = re.compile(r"Syntax Error: Expected '?(?P<name>.+?)'?, found ")
_DEFINITIONS = "one of SCHEMA, SCALAR, TYPE, ENUM, INPUT, UNION, INTERFACE"


def format_parse_error(text: str) -> dict[str, Any] | None:
    """Return the error of a text that cannot be parsed.

    Parameters
    ----------
    text
        The text.

    Returns
    -------
    dict or None
        The error with ``locations`` and ``message``; None if the text can be parsed.
    """
    error = _parse(text)
    if error is None:
        return None
    place = _find_place(error)
    reason, actual, shift = error.message.removeprefix("Syntax Error: "), None, 0
    if reason.startswith("Invalid number"):
        if text[place - 1] == ".":
            place -= 1
        else:  # the parser reads 01 as two tokens
            text, shift = f"{text[:place]} {text[place:]}", 1
            error = _parse(text) or error
            place = _find_place(error)
    if text[place : place + 1] == "." and text[place : place + 3] != "...":
        message = f"Expected `...`, actual: {_quote(text[place : place + 3])}"
        return _make_error(text, place, message, placed=False)
    if reason.startswith(("Unexpected character", "Cannot parse")):
        # Such a character is a token. An ampersand is one, too, which no document has.
        actual = f"UNKNOWN_CHAR ({_quote(text[place])})"
        error = _parse(f"{text[:place]}&{text[place + 1 :]}") or error
    tokens, complete = _read_tokens(text, place)
    if not complete:
        place = tokens[-1].end + len(_get_ignored(text, tokens[-1].end))
        message = "Expected string or block string, but it was malformed"
        return _make_error(text, place, message, placed=False)
    last = tokens[-1]
    if last.kind is TokenKind.EOF:
        if len(tokens) == 2:
            return {"locations": [], "message": "Unexpected end of document"}
        place = tokens[-2].start
        actual = f"(none) ({_quote(_get_ignored(text, tokens[-2].end))})"
    return _make_error(
        text,
        place - shift,
        f"Expected {_find_expected(error, tokens)}, actual: {actual or _name_token(last)}",
    )


def _parse(text: str) -> GraphQLError | None:
    try:
        parse(text)
    except GraphQLSyntaxError as error:
        return error
    return None


def _find_place(error: GraphQLError) -> int:
    return next(iter(error.positions or ()), 0)


def _make_error(text: str, place: int, message: str, *, placed: bool = True) -> dict[str, Any]:
    before = text[:place].split("\n")
    line, column = len(before), len(before[-1]) + 1
    at = f" at [{line}, {column}]" if placed else ""
    return {"locations": [{"line": line, "column": column}], "message": message + at}


def _read_tokens(text: str, place: int) -> tuple[list[Token], bool]:
    """Return the tokens up to a place, from that of the beginning, and whether all are complete."""
    lexer = Lexer(Source(text))
    tokens = [lexer.token]
    try:
        while tokens[-1].kind is not TokenKind.EOF and tokens[-1].end <= place:
            tokens.append(lexer.advance())
    except GraphQLSyntaxError as error:
        return tokens, error.message.startswith(("Syntax Error: Unexpected", "Cannot"))
    return tokens, True


def _get_ignored(text: str, place: int) -> str:
    match = re.compile(r"(?:[\s,\ufeff]|#[^\n\r]*)*").match(text, place)
    return match[0] if match else ""


def _find_expected(error: GraphQLError, tokens: list[Token]) -> str:
    """Return the words for what the parser expects."""
    match = _EXPECTED.match(error.message)
    if match is not None:
        name = match["name"]
        if name == "{" and len(tokens) > 1 and tokens[-2].kind is TokenKind.SPREAD:
            return "NAME"
        kind = next((kind for kind in TokenKind if kind.value == name), None)
        return _TOKEN_NAMES.get(kind, name.upper()) if kind else name.upper()
    depth = sum((it.kind in _OPENING) - (it.kind in _CLOSING) for it in tokens[:-1])
    return "VALUE" if depth > 0 else _DEFINITIONS


def _name_token(token: Token) -> str:
    text = token.kind.value if token.value is None else token.value
    name = _TOKEN_NAMES.get(token.kind) or (
        text.upper() if _KEYWORDS.fullmatch(text) else "IDENTIFIER"
    )
    return f"{name} ({_quote(text)})"


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
