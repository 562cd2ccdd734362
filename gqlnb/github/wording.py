"""GitHub's words for what is wrong with a document, in the place of graphql-core's.

GitHub runs graphql-ruby: its errors of syntax name the token that was expected and the one that
came, and its errors of validation have a path that begins with the operation, and a code. The
shapes are those of recorded answers, and ``tests/github/test_wording.py`` shows each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    InlineFragmentNode,
    Lexer,
    OperationDefinitionNode,
    Source,
    TokenKind,
    VariableDefinitionNode,
    print_ast,
)
from graphql.error import GraphQLSyntaxError

from gqlnb.github.values import Misplaced, location, position
from gqlnb.model.syntax import read
from gqlnb.wire.json import dump

__all__ = ["in_their_words", "stopped"]

_SYNTAX = "Syntax Error: "
_LIMITED = re.compile(r"serve\(schema, limits=Limits\(\w+=")  # how our own limits end
_TOO_DEEP = "nested too deeply"  # more than is parsed
_TOO_LARGE = "This query is too large to execute."
_UNIONS = frozenset({"SearchResultItem"})

Error = dict[str, Any]


def stopped(errors: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether our own limits ended an execution."""
    said = (str(error.get("message")) for error in errors)
    return any(
        text.startswith("Execution stopped after") and _LIMITED.search(text) for text in said
    )


def in_their_words(
    errors: Sequence[Mapping[str, Any]], text: str, variables: Mapping[str, Any]
) -> list[Error]:
    """Return request errors as GitHub writes them.

    Parameters
    ----------
    errors
        Those of a document that was not executed, as our server writes them.
    text
        The document.
    variables
        The values that came with it.

    Returns
    -------
    list of dict
        Members in GitHub's order. What has no form that is known keeps its words and place.
    """
    first = str(errors[0].get("message"))
    if _LIMITED.search(first) or _TOO_DEEP in first:
        return [{"locations": [], "message": _TOO_LARGE}]
    if first.startswith(_SYNTAX):
        return [_syntax(errors[0], text)]
    spots = {spot.place: spot for spot in _spots(text)}
    values = Misplaced(text, _paths(spots.values()))
    found: list[Error] = []
    for error in errors:
        places = map(_pair, error.get("locations") or ())
        spot = next((spots[place] for place in places if place in spots), None)
        found.append(
            _validation(error, spot, variables)
            or values.told(error)
            or _operation(error)
            or _bare(error)
        )
    return _joined(found)


def _paths(spots: Iterable[_Spot]) -> dict[int, tuple[str, ...]]:
    """Return the paths of the fields, by the place where each begins in the text."""
    fields = (spot for spot in spots if isinstance(spot.node, FieldNode))
    return {each.node.loc.start: each.path for each in fields if each.place == position(each.node)}


def _bare(error: Mapping[str, Any]) -> Error:
    return {name: error[name] for name in ("locations", "message") if name in error}


def _operation(error: Mapping[str, Any]) -> Error | None:
    """Return the error of a request that names no operation, or none that there is."""
    message = str(error.get("message"))
    unknown = re.match(r"Unknown operation named '(?P<name>.*?)'", message)
    if unknown is not None:
        return {"message": f'No operation named "{unknown["name"]}"'}
    if message.startswith("Must provide operation name"):
        return {"message": "An operation name is required"}
    return None


def _pair(place: Mapping[str, int]) -> tuple[int, int]:
    return place["line"], place["column"]


# ---------------------------------------------------------------- syntax

_EXPECTED = re.compile(r"Expected (?P<what>.+?), found ")
_PUNCTUATION = {
    "!": "BANG",
    "$": "VAR_SIGN",
    "&": "AMP",
    "(": "LPAREN",
    ")": "RPAREN",
    "...": "ELLIPSIS",
    ":": "COLON",
    "=": "EQUALS",
    "@": "DIR_SIGN",
    "[": "LBRACKET",
    "]": "RBRACKET",
    "{": "LCURLY",
    "|": "PIPE",
    "}": "RCURLY",
}
_KEYWORDS = frozenset(
    (
        *("on", "fragment", "true", "false", "null", "query", "mutation", "subscription"),
        *("schema", "scalar", "type", "extend", "implements", "interface", "union", "enum"),
        *("input", "directive", "repeatable"),
    )
)
_NAMED = {
    TokenKind.INT: "INT",
    TokenKind.FLOAT: "FLOAT",
    TokenKind.STRING: "STRING",
    TokenKind.BLOCK_STRING: "STRING",
}
_DEFINITIONS = "one of SCHEMA, SCALAR, TYPE, ENUM, INPUT, UNION, INTERFACE"


class _Came(NamedTuple):
    """What stands where a parser stopped.

    Attributes
    ----------
    name, text
        The token that came, as graphql-ruby calls it, and as it is written.
    wanted
        What stands there otherwise, as far as the tokens before tell.
    """

    name: str
    text: str
    wanted: str


def _syntax(error: Mapping[str, Any], text: str) -> Error:
    """Return an error of syntax."""
    line, column = _pair((error.get("locations") or [{"line": 1, "column": 1}])[0])
    came = _came(text, (line, column))
    if came is None:
        return {"locations": [], "message": "Unexpected end of document"}
    if not came.text:  # there is no place after the end
        rows = text.split("\n")
        line = len(rows)
        column = len(next((row for row in reversed(rows) if row), ""))
    match = _EXPECTED.search(str(error["message"]))
    wanted = _token_name(match["what"].strip("'\"")) if match else came.wanted
    shown = dump(came.text).decode()
    message = f"Expected {wanted}, actual: {came.name} ({shown}) at [{line}, {column}]"
    return {"locations": [location((line, column))], "message": message}


def _token_name(word: str) -> str:
    return _PUNCTUATION.get(word) or word.upper()


def _came(text: str, place: tuple[int, int]) -> _Came | None:
    """Return what stands at a place; None if there is nothing but comments."""
    lexer, depth, before = Lexer(Source(text)), 0, ""
    try:
        token = lexer.advance()
        while token.kind is not TokenKind.EOF and (token.line, token.column) < place:
            depth += (token.kind in {TokenKind.BRACE_L, TokenKind.PAREN_L}) - (
                token.kind in {TokenKind.BRACE_R, TokenKind.PAREN_R}
            )
            before, token = token.kind.value, lexer.advance()
    except GraphQLSyntaxError as error:
        unread = text[min(error.positions or (len(text),)) :]
        if unread:
            return _Came("UNKNOWN_CHAR", unread[0], _wanted(depth, before))
        return _Came("(none)", "", _wanted(depth, before))
    if token.kind is TokenKind.EOF:
        return _Came("(none)", "", _wanted(depth, before)) if before else None
    written = text[token.start : token.end]
    name = _PUNCTUATION.get(written) or _NAMED.get(token.kind)
    if name is None:
        name = written.upper() if written in _KEYWORDS else "IDENTIFIER"
    return _Came(name, written, _wanted(depth, before))


def _wanted(depth: int, before: str) -> str:
    """Return what stands behind a token, at some depth of brackets."""
    if before in {":", "=", "["}:
        return "VALUE"
    return "NAME" if depth > 0 else _DEFINITIONS


# ---------------------------------------------------------------- validation


class _Spot(NamedTuple):
    """A place of a document.

    Attributes
    ----------
    place
        Line and column.
    path
        From the operation or fragment to it.
    node
        What it belongs to: a field, a fragment, or the operation.
    variable
        The variable of the operation that is defined there.
    """

    place: tuple[int, int]
    path: tuple[str, ...]
    node: Any
    variable: VariableDefinitionNode | None = None

    @property
    def called(self) -> str:
        """How the operation is called in a sentence."""
        kind, _, name = self.path[0].partition(" ")
        return name or f"anonymous {kind}"


def _spots(text: str) -> Iterator[_Spot]:
    """Yield the places that errors point to."""
    for node in read(text).definitions:
        title = (_title(node),)
        yield _Spot(position(node), title, node)
        for variable in getattr(node, "variable_definitions", None) or ():
            yield _Spot(position(variable), title, node, variable)
        yield from _below(title, node)


def _below(path: tuple[str, ...], node: Any) -> Iterator[_Spot]:
    for each in node.selection_set.selections if node.selection_set else ():
        if isinstance(each, FieldNode):
            inner = (*path, (each.alias or each.name).value)
            yield from _around(inner, each)
        elif isinstance(each, InlineFragmentNode):
            kind = each.type_condition
            inner = (*path, f"... on {kind.name.value}" if kind else "...")
        else:
            spread = (*path, f"... {each.name.value}")
            yield _Spot(position(each.name), spread, each)
            continue
        yield from _below(inner, each)


def _around(path: tuple[str, ...], field: FieldNode) -> Iterator[_Spot]:
    """Yield the places of a field: its own, and those of its arguments and its selection."""
    yield _Spot(position(field), path, field)
    for argument in field.arguments or ():
        inner = (*path, argument.name.value)
        yield _Spot(position(argument), inner, field)
        yield _Spot(position(argument.value), inner, field)
    if field.selection_set:
        yield _Spot(position(field.selection_set), path, field)


def _title(node: Any) -> str:
    if isinstance(node, FragmentDefinitionNode):
        return f"fragment {node.name.value}"
    if isinstance(node, OperationDefinitionNode):
        kind = node.operation.value
        return f"{kind} {node.name.value}" if node.name else kind
    return ""


_AT_ITSELF = frozenset({"argumentNotAccepted", "variableNotDefined"})


def _validation(
    error: Mapping[str, Any], spot: _Spot | None, variables: Mapping[str, Any]
) -> Error | None:
    """Return an error of validation; None where its form is not known."""
    message = str(error.get("message"))
    if spot is None:
        return None
    if spot.variable is not None and _VALUE.match(message):
        return _unfit(spot.variable, variables) | {"locations": [location(spot.place)]}
    for pattern, make in _FORMS:
        match = pattern.match(message)
        if match is not None:
            said, extensions = make(match, spot)
            place = spot.place if extensions["code"] in _AT_ITSELF else position(spot.node)
            return {
                "path": list(spot.path),
                "extensions": extensions,
                "locations": [location(place)],
                "message": said,
            }
    return None


def _unfit(node: VariableDefinitionNode, variables: Mapping[str, Any]) -> Error:
    """Return the error of a variable whose value does not fit its type."""
    name, kind = node.variable.name.value, print_ast(node.type)
    value = variables.get(name)
    bare = kind.strip("[]!")
    why = f"Could not coerce value {dump(value).decode()} to {bare}"
    if value is None:
        why = "Expected value to not be null"
    problems = [{"path": [], "explanation": why}]
    return {
        "extensions": {"value": value, "problems": problems},
        "locations": [],
        "message": f"Variable ${name} of type {kind} was provided invalid value",
    }


_VALUE = re.compile(
    r"Variable '\$\w+' (?:got|has) invalid value|Variable .* (?:was not provided|must not be null)"
)
Made = tuple[str, dict[str, Any]]


def _undefined(match: re.Match[str], _spot: _Spot) -> Made:
    field, kind = match["field"], match["kind"]
    if kind in _UNIONS:
        said = f"Selections can't be made directly on unions (see selections on {kind})"
        return said, {"code": "selectionMismatch", "nodeName": kind}
    extensions = {"code": "undefinedField", "typeName": kind, "fieldName": field}
    return f"Field '{field}' doesn't exist on type '{kind}'", extensions


def _bare_object(match: re.Match[str], _spot: _Spot) -> Made:
    field, kind = match["field"], match["kind"].strip("[]!")
    said = (
        f"Field must have selections (field '{field}' returns {kind} but has no selections. Did "
        f"you mean '{field} {{ ... }}'?)"
    )
    return said, {"code": "selectionMismatch", "nodeName": f"field '{field}'", "typeName": kind}


def _full_scalar(match: re.Match[str], spot: _Spot) -> Made:
    field, kind = match["field"], match["kind"].strip("[]!")
    asked = [n.name.value for n in spot.node.selection_set.selections if isinstance(n, FieldNode)]
    shown = ", ".join(f'"{name}"' for name in asked)
    said = (
        f"Selections can't be made on scalars (field '{field}' returns {kind} but has selections "
        f"[{shown}])"
    )
    return said, {"code": "selectionMismatch", "nodeName": f"field '{field}'", "typeName": kind}


def _not_accepted(match: re.Match[str], spot: _Spot) -> Made:
    field, argument = spot.node.name.value, match["argument"]
    extensions = {
        "code": "argumentNotAccepted",
        "name": field,
        "typeName": "Field",
        "argumentName": argument,
    }
    return f"Field '{field}' doesn't accept argument '{argument}'", extensions


def _missing(match: re.Match[str], _spot: _Spot) -> Made:
    field, argument = match["field"], match["argument"]
    extensions = {
        "code": "missingRequiredArguments",
        "className": "Field",
        "name": field,
        "arguments": argument,
    }
    return f"Field '{field}' is missing required arguments: {argument}", extensions


def _about(kind: str, code: str, words: str) -> Callable[[re.Match[str], _Spot], Made]:
    """Return what makes an error about one variable or fragment; `words` take it, and the place."""

    def make(match: re.Match[str], spot: _Spot) -> Made:
        name = match["name"]
        return words.format(name, spot.called), {"code": code, f"{kind}Name": name}

    return make


_UNUSED = _about("variable", "variableNotUsed", "Variable ${} is declared by {} but not used")
_UNKNOWN = _about("variable", "variableNotDefined", "Variable ${} is used by {} but not declared")
_NOWHERE = _about("fragment", "useAndDefineFragment", "Fragment {} was used, but not defined")
_NOT_SPREAD = _about("fragment", "useAndDefineFragment", "Fragment {} was defined, but not used")
_FORMS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], _Spot], Made]], ...] = tuple(
    (re.compile(pattern), make)
    for pattern, make in (
        (r"Cannot query field '(?P<field>\w+)' on type '(?P<kind>\w+)'\.", _undefined),
        (r"Field '(?P<field>\w+)' of type '(?P<kind>\S+)' must have a selection", _bare_object),
        (r"Field '(?P<field>\w+)' must not .* type '(?P<kind>\S+)' has no sub", _full_scalar),
        (r"Unknown argument '(?P<argument>\w+)' on field '", _not_accepted),
        # graphql-core 3.2 and 3.3
        (r"Field '(?P<field>\w+)' argument '(?P<argument>\w+)' of type", _missing),
        (r"Argument '\w+\.(?P<field>\w+)\((?P<argument>\w+):\)' of type", _missing),
        (r"Variable '\$(?P<name>\w+)' is never used", _UNUSED),
        (r"Variable '\$(?P<name>\w+)' is not defined", _UNKNOWN),
        (r"Unknown fragment '(?P<name>\w+)'", _NOWHERE),
        (r"Fragment '(?P<name>\w+)' is never used", _NOT_SPREAD),
    )
)


def _joined(errors: list[Error]) -> list[Error]:
    """Return errors with all that one field misses in one of them."""
    found: list[Error] = []
    for error in errors:
        code = error.get("extensions", {}).get("code")
        same = [one for one in found if code and one.get("path") == error["path"]]
        if code != "missingRequiredArguments" or not same:
            found.append(error)
            continue
        name = error["extensions"]["arguments"]
        same[0]["extensions"]["arguments"] += f", {name}"
        same[0]["message"] += f", {name}"
    return found
