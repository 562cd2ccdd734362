"""The errors of a document that is not executed, in the form in which GitHub answers them.

GitHub runs graphql-ruby, of which ``engine_rules.py`` has the rules. Where recorded answers of
GitHub differ from the engine, GitHub's form is taken: for syntax errors.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from graphql import (
    GraphQLEnumType,
    GraphQLError,
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLSyntaxError,
    Lexer,
    OperationDefinitionNode,
    Source,
    Token,
    TokenKind,
    get_nullable_type,
    parse,
    type_from_ast,
)

from gqlnb.document.document import suggests_near_name
from gqlnb.github.standin.engine_rules import (
    INT_RANGE,
    ErrorDict,
    dump_value,
    find_engine_errors,
    locate_node,
)

if TYPE_CHECKING:
    from graphql import GraphQLSchema

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


_LIMIT_HINT = re.compile(r"serve\(schema, limits=Limits\(\w+=")  # how our own limits end
_TOO_DEEP = "nested too deeply"  # graphql-core's recursion limit
_TOO_LARGE = "This query is too large to execute."


def is_stopped_by_limits(errors: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether our own limits ended an execution."""
    messages = (str(error.get("message")) for error in errors)
    return any(
        text.startswith("Execution stopped after") and _LIMIT_HINT.search(text) for text in messages
    )


def format_request_errors(
    errors: Sequence[Mapping[str, Any]], request: Mapping[str, Any], schema: GraphQLSchema
) -> list[ErrorDict]:
    """Return request errors in GitHub's form.

    Parameters
    ----------
    errors
        The errors of a document that was not executed, as our server writes them.
    request
        ``query``, and ``variables`` and ``operationName`` if they were sent.
    schema
        The schema of the stand-in.

    Returns
    -------
    list of dict
        The errors, their members in GitHub's order.
    """
    first, text = str(errors[0].get("message")), request["query"]
    if _LIMIT_HINT.search(first) or _TOO_DEEP in first:
        return [{"locations": [], "message": _TOO_LARGE}]
    # Refused documents are parsed and walked again, so that others pay nothing for this.
    parse_error = format_parse_error(text)
    if parse_error is not None:
        return [parse_error]
    document = parse(text)
    operations = {
        node.name.value if node.name else None: node
        for node in document.definitions
        if isinstance(node, OperationDefinitionNode)
    }
    name = request.get("operationName")
    if name is None and len(operations) == 1:
        name = next(iter(operations))
    operation = operations.get(name)
    if operations and operation is None:
        required = "An operation name is required"
        return [{"message": required if name is None else f'No operation named "{name}"'}]
    try:
        found = find_engine_errors(schema, document)
    except RecursionError:
        return [{"locations": [], "message": _TOO_LARGE}]
    if found:
        return mark_names_of_github(found, errors, text)
    if operation is not None:
        found = find_variable_errors(schema, operation, request.get("variables") or {})
    # The engine takes a few documents that the stand-in cannot execute, such as one with a variable
    # of the wrong type in a fragment before its operation.
    kept = ("locations", "message")
    return found or [{key: error[key] for key in kept if key in error} for error in errors]


def mark_names_of_github(
    found: list[ErrorDict], errors: Sequence[Mapping[str, Any]], text: str
) -> list[ErrorDict]:
    """Say of unknown fields and arguments that the stand-in has not got them.

    GitHub may have them, unless graphql-core, in `errors`, suggests a similar name.
    """
    lines, similar = re.split(r"\r\n|[\n\r]", text), set()
    for error in errors:
        near = suggests_near_name(str(error["message"]))
        for at in error.get("locations") or () if near else ():
            before = lines[at["line"] - 1][: at["column"] - 1]
            similar.add((at["line"], len(before.encode()) + 1))
    for error in found:
        extensions, (at, *_) = error["extensions"], error["locations"]
        if (at["line"], at["column"]) not in similar and (
            extensions["code"] == "undefinedField"
            or (extensions["code"], extensions.get("typeName")) == ("argumentNotAccepted", "Field")
        ):
            error["message"] += " in this stand-in"
    return found


# -- values of variables


def find_variable_errors(
    schema: GraphQLSchema, operation: OperationDefinitionNode, values: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return the errors of values that the engine does not take for their variables.

    Parameters
    ----------
    schema
        The schema.
    operation
        The operation, which is valid.
    values
        The values by name.

    Returns
    -------
    list of dict
        An error for each variable, with a problem for each value in it.
    """
    errors = []
    for node in operation.variable_definitions or ():
        name, kind = node.variable.name.value, type_from_ast(schema, node.type)
        if kind is None or (name not in values and node.default_value is not None):
            continue
        value = values.get(name)
        problems = [
            {"path": path, "explanation": explanation}
            for path, explanation in _find_problems(value, kind)
        ]
        if not problems:
            continue
        places = ", ".join(
            f"{'.'.join(map(str, problem['path']))} ({problem['explanation']})"
            for problem in problems
            if problem["path"]
        )
        message = f"Variable ${name} of type {kind} was provided invalid value"
        errors.append(
            {
                "extensions": {"value": value, "problems": problems},
                "locations": [locate_node(node)],
                "message": f"{message} for {places}" if places else message,
            }
        )
    return errors


def _find_problems(value: Any, kind: Any) -> Iterator[tuple[list[Any], str]]:
    """Yield the path and the explanation of each problem of a value."""
    if value is None:
        if isinstance(kind, GraphQLNonNull):
            yield [], "Expected value to not be null"
        return
    kind = get_nullable_type(kind)
    if isinstance(kind, GraphQLList):
        for index, item in enumerate(value if isinstance(value, list) else [value]):
            for path, explanation in _find_problems(item, kind.of_type):
                yield [index, *path], explanation
    elif isinstance(kind, GraphQLInputObjectType):
        yield from _find_object_problems(value, kind)
    elif isinstance(kind, GraphQLEnumType):
        names = list(kind.values)
        if value not in names:
            yield [], f"Expected {print_json(value)} to be one of: {', '.join(names)}"
    elif not _is_taken(value, kind.name):
        yield [], f"Could not coerce value {print_json(value)} to {kind}"


def _find_object_problems(
    value: Any, kind: GraphQLInputObjectType
) -> Iterator[tuple[list[Any], str]]:
    if not isinstance(value, dict):
        expected = "a key-value object responding to `to_h` or `to_unsafe_h`."
        yield [], f"Expected {dump_value(value)} to be {expected}"
        return
    missing = [
        name
        for name, field in kind.fields.items()
        if isinstance(field.type, GraphQLNonNull) and name not in value
    ]
    for name, item in [*value.items(), *((name, None) for name in missing)]:
        if name not in kind.fields:
            yield [name], f"Field is not defined on {kind}"
            continue
        for path, explanation in _find_problems(item, kind.fields[name].type):
            yield [name, *path], explanation


def _is_taken(value: Any, scalar: str) -> bool:
    """Return whether the engine takes a value for a scalar; those of the schema take any."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    match scalar:
        case "Int":  # 1.0 is not an Int, as in GitHub's Ruby
            return whole and value in INT_RANGE
        case "Float":
            return whole or isinstance(value, float)
        case "String":
            return isinstance(value, str)
        case "Boolean":
            return isinstance(value, bool)
        case "ID":
            return whole or isinstance(value, str)
    return True


def print_json(value: object) -> str:
    """Return a JSON value; graphql-ruby leaves out the quotes of names."""
    if isinstance(value, dict):
        return f"{{{','.join(f'{name}:{print_json(item)}' for name, item in value.items())}}}"
    if isinstance(value, list):
        return f"[{','.join(map(print_json, value))}]"
    return dump_value(value)
