"""GitHub's words for a value or a variable that does not fit where it stands in a document.

The shapes are graphql-ruby's, as services that run it answer. In a list, a directive or a default
value a variable keeps graphql-core's words, and so does a literal in the latter two.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from graphql import (
    ArgumentNode,
    FieldNode,
    FragmentDefinitionNode,
    GraphQLInputObjectType,
    GraphQLSchema,
    InlineFragmentNode,
    Lexer,
    ObjectFieldNode,
    ObjectValueNode,
    OperationDefinitionNode,
    Source,
    TokenKind,
    TypeInfo,
    TypeInfoVisitor,
    VariableDefinitionNode,
    VariableNode,
    Visitor,
    get_named_type,
    get_nullable_type,
    print_ast,
    visit,
)
from graphql.error import GraphQLSyntaxError

from gqlnb.document.json_codec import dump_json
from gqlnb.document.syntax import parse_source
from gqlnb.github.standin.github_schema import schema

__all__ = [
    "ValueErrorFormatter",
    "find_position",
    "format_request_errors",
    "is_stopped_by_limits",
    "make_location",
]

_LITERAL_ERROR = re.compile(
    r"Value '.*' does not exist in '\w+' enum|Enum '\w+' cannot represent|"
    r"(?:String|Int|Float|Boolean|ID) cannot represent|"
    r"Expected value of (?:type '\S+'(?:,| to be)|non-null type)"
)
_VARIABLE_ERROR = re.compile(
    r"Variable '\$(?P<name>\w+)' of type '(?P<kind>\S+)' used in position expecting type "
    r"'(?P<wanted>\S+)'\."
)


class _GivenValue(NamedTuple):
    """A value that an argument, or a field of an input object, is given.

    Attributes
    ----------
    path
        From the operation or fragment to it.
    holder
        The argument or the field.
    around
        What it belongs to: a field, or the literal of an input object.
    kind, owner
        What that is, ``"Field"`` or ``"InputObject"``, and its name.
    wanted
        The type that the value has to be of.
    """

    path: tuple[str, ...]
    holder: ArgumentNode | ObjectFieldNode
    around: Any
    kind: str
    owner: str
    wanted: Any

    @property
    def name(self) -> str:
        """The name of the argument or the field."""
        return self.holder.name.value

    def has_position(self, place: tuple[int, int]) -> bool:
        """Tell whether a line and column lie in the value."""
        last: Any = self.holder.value.loc
        return (
            find_position(self.holder.value)
            <= place
            <= (last.end_token.line, last.end_token.column)
        )


class _ValueCollector(Visitor):
    """Gathers the values that fields are given."""

    def __init__(self, info: TypeInfo, paths: Mapping[int, tuple[str, ...]]) -> None:
        super().__init__()
        self._info = info
        self._paths = paths
        self.found: list[_GivenValue] = []

    def enter_field(self, node: Any, *_: Any) -> None:
        """Gather those of one field."""
        known = self._info.get_field_def()
        for each in node.arguments or ():
            argument = known.args.get(each.name.value) if known else None
            if argument is not None:
                path = (*self._paths[node.loc.start], each.name.value)
                given = _GivenValue(path, each, node, "Field", node.name.value, argument.type)
                self.found.extend(_iter_values(given))


def _iter_values(given: _GivenValue) -> Iterator[_GivenValue]:
    """Yield a value, and those inside where it is an input object."""
    yield given
    kind, value = get_nullable_type(given.wanted), given.holder.value
    if not isinstance(value, ObjectValueNode) or not isinstance(kind, GraphQLInputObjectType):
        return
    for each in value.fields:
        field = kind.fields.get(each.name.value)
        if field is not None:
            path = (*given.path, each.name.value)
            inner = _GivenValue(path, each, value, "InputObject", kind.name, field.type)
            yield from _iter_values(inner)


class ValueErrorFormatter:
    """Tells of the values of one document that do not fit; it is walked when first asked.

    Parameters
    ----------
    text
        The document.
    paths
        From the operation or fragment to each field, by the place where that begins in the text.
    """

    def __init__(self, text: str, paths: Mapping[int, tuple[str, ...]]) -> None:
        self._text = text
        self._paths = paths

    @cached_property
    def _given_values(self) -> list[_GivenValue]:
        info = TypeInfo(_load_schema())
        values = _ValueCollector(info, self._paths)
        visit(parse_source(self._text), TypeInfoVisitor(info, values))
        return values.found

    def format_error(self, error: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return an error, as our server writes it, in GitHub's form; None for another kind."""
        message = str(error.get("message"))
        variable = _VARIABLE_ERROR.match(message)
        if variable is not None:
            return _format_variable_error(variable, self._given_values)
        if not _LITERAL_ERROR.match(message):
            return None
        places = [(each["line"], each["column"]) for each in error.get("locations") or ()]
        around = [given for given in self._given_values if any(map(given.has_position, places))]
        return _format_literal_error(around[-1]) if around else None  # the innermost


@lru_cache(1)
def _load_schema() -> GraphQLSchema:
    return schema().graphql


def _format_literal_error(given: _GivenValue) -> dict[str, Any]:
    """Return the error of a literal."""
    value = print_ast(given.holder.value)
    return {
        "path": list(given.path),
        "extensions": {
            "code": "argumentLiteralsIncompatible",
            "typeName": given.kind,
            "argumentName": given.name,
        },
        "locations": [make_location(find_position(given.around))],
        "message": (
            f"Argument '{given.name}' on {given.kind} '{given.owner}' has an invalid value "
            f"({value}). Expected type '{given.wanted}'."
        ),
    }


def _format_variable_error(
    match: re.Match[str], values: list[_GivenValue]
) -> dict[str, Any] | None:
    """Return the error of a variable of another type; None where it stands in a list."""
    name, kind, wanted = match["name"], match["kind"], match["wanted"]
    for given in values:
        node = given.holder.value
        if (
            isinstance(node, VariableNode)
            and node.name.value == name
            and str(given.wanted) == wanted
        ):
            break
    else:
        return None
    if kind.strip("[]!") != get_named_type(given.wanted).name:
        problem = "Type mismatch"
    elif kind.count("[") != wanted.count("["):
        problem = "List dimension mismatch"
    else:
        problem = "Nullability mismatch"
    return {
        "path": list(given.path),
        "extensions": {
            "code": "variableMismatch",
            "variableName": name,
            "typeName": kind,
            "argumentName": given.name,
            "errorMessage": problem,
        },
        "locations": [make_location(find_position(given.holder))],
        "message": f"{problem} on variable ${name} and argument {given.name} ({kind} / {wanted})",
    }


def find_position(node: Any) -> tuple[int, int]:
    """Return the line and the column where a node begins, both from 1."""
    token = node.loc.start_token
    return token.line, token.column


def make_location(place: tuple[int, int]) -> dict[str, int]:
    """Return a line and a column as they stand in the `locations` of an error."""
    line, column = place
    return {"line": line, "column": column}


_SYNTAX_PREFIX = "Syntax Error: "
_LIMIT_HINT = re.compile(r"serve\(schema, limits=Limits\(\w+=")  # how our own limits end
_TOO_DEEP = "nested too deeply"  # more than is parsed
_TOO_LARGE = "This query is too large to execute."
_UNION_TYPES = frozenset({"SearchResultItem"})

ErrorDict = dict[str, Any]


def is_stopped_by_limits(errors: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether our own limits ended an execution."""
    said = (str(error.get("message")) for error in errors)
    return any(
        text.startswith("Execution stopped after") and _LIMIT_HINT.search(text) for text in said
    )


def format_request_errors(
    errors: Sequence[Mapping[str, Any]], text: str, variables: Mapping[str, Any]
) -> list[ErrorDict]:
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
    if _LIMIT_HINT.search(first) or _TOO_DEEP in first:
        return [{"locations": [], "message": _TOO_LARGE}]
    if first.startswith(_SYNTAX_PREFIX):
        return [_format_syntax_error(errors[0], text)]
    spots = {spot.place: spot for spot in _iter_places(text)}
    values = ValueErrorFormatter(text, _collect_field_paths(spots.values()))
    found: list[ErrorDict] = []
    for error in errors:
        places = map(_read_position, error.get("locations") or ())
        spot = next((spots[place] for place in places if place in spots), None)
        found.append(
            _format_validation_error(error, spot, variables)
            or values.format_error(error)
            or _format_operation_error(error)
            or _strip_error(error)
        )
    return _merge_missing_arguments(found)


def _collect_field_paths(spots: Iterable[_ErrorPlace]) -> dict[int, tuple[str, ...]]:
    """Return the paths of the fields, by the place where each begins in the text."""
    fields = (spot for spot in spots if isinstance(spot.node, FieldNode))
    return {
        each.node.loc.start: each.path for each in fields if each.place == find_position(each.node)
    }


def _strip_error(error: Mapping[str, Any]) -> ErrorDict:
    return {name: error[name] for name in ("locations", "message") if name in error}


def _format_operation_error(error: Mapping[str, Any]) -> ErrorDict | None:
    """Return the error of a request that names no operation, or none that there is."""
    message = str(error.get("message"))
    unknown = re.match(r"Unknown operation named '(?P<name>.*?)'", message)
    if unknown is not None:
        return {"message": f'No operation named "{unknown["name"]}"'}
    if message.startswith("Must provide operation name"):
        return {"message": "An operation name is required"}
    return None


def _read_position(place: Mapping[str, int]) -> tuple[int, int]:
    return place["line"], place["column"]


# ---------------------------------------------------------------- syntax

_EXPECTED_TOKEN = re.compile(r"Expected (?P<what>.+?), found ")
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
_LITERAL_TOKENS = {
    TokenKind.INT: "INT",
    TokenKind.FLOAT: "FLOAT",
    TokenKind.STRING: "STRING",
    TokenKind.BLOCK_STRING: "STRING",
}
_DEFINITION_KEYWORDS = "one of SCHEMA, SCALAR, TYPE, ENUM, INPUT, UNION, INTERFACE"


class _FoundToken(NamedTuple):
    """What stands where a parser stopped.

    Attributes
    ----------
    name, text
        The token that came, as graphql-ruby calls it, and as it is written.
    expected
        What stands there otherwise, as far as the tokens before tell.
    """

    name: str
    text: str
    expected: str


def _format_syntax_error(error: Mapping[str, Any], text: str) -> ErrorDict:
    """Return an error of syntax."""
    line, column = _read_position((error.get("locations") or [{"line": 1, "column": 1}])[0])
    came = _find_token(text, (line, column))
    if came is None:
        return {"locations": [], "message": "Unexpected end of document"}
    if not came.text:  # there is no place after the end
        rows = text.split("\n")
        line = len(rows)
        column = len(next((row for row in reversed(rows) if row), ""))
    match = _EXPECTED_TOKEN.search(str(error["message"]))
    wanted = _name_token(match["what"].strip("'\"")) if match else came.expected
    shown = dump_json(came.text).decode()
    message = f"Expected {wanted}, actual: {came.name} ({shown}) at [{line}, {column}]"
    return {"locations": [make_location((line, column))], "message": message}


def _name_token(word: str) -> str:
    return _PUNCTUATION.get(word) or word.upper()


def _find_token(text: str, place: tuple[int, int]) -> _FoundToken | None:
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
            return _FoundToken("UNKNOWN_CHAR", unread[0], _guess_expected(depth, before))
        return _FoundToken("(none)", "", _guess_expected(depth, before))
    if token.kind is TokenKind.EOF:
        return _FoundToken("(none)", "", _guess_expected(depth, before)) if before else None
    written = text[token.start : token.end]
    name = _PUNCTUATION.get(written) or _LITERAL_TOKENS.get(token.kind)
    if name is None:
        name = written.upper() if written in _KEYWORDS else "IDENTIFIER"
    return _FoundToken(name, written, _guess_expected(depth, before))


def _guess_expected(depth: int, before: str) -> str:
    """Return what stands behind a token, at some depth of brackets."""
    if before in {":", "=", "["}:
        return "VALUE"
    return "NAME" if depth > 0 else _DEFINITION_KEYWORDS


# ---------------------------------------------------------------- validation


class _ErrorPlace(NamedTuple):
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
    def operation_title(self) -> str:
        """How the operation is called in a sentence."""
        kind, _, name = self.path[0].partition(" ")
        return name or f"anonymous {kind}"


def _iter_places(text: str) -> Iterator[_ErrorPlace]:
    """Yield the places that errors point to."""
    for node in parse_source(text).definitions:
        title = (_format_title(node),)
        yield _ErrorPlace(find_position(node), title, node)
        for variable in getattr(node, "variable_definitions", None) or ():
            yield _ErrorPlace(find_position(variable), title, node, variable)
        yield from _iter_selection_places(title, node)


def _iter_selection_places(path: tuple[str, ...], node: Any) -> Iterator[_ErrorPlace]:
    for each in node.selection_set.selections if node.selection_set else ():
        if isinstance(each, FieldNode):
            inner = (*path, (each.alias or each.name).value)
            yield from _iter_field_places(inner, each)
        elif isinstance(each, InlineFragmentNode):
            kind = each.type_condition
            inner = (*path, f"... on {kind.name.value}" if kind else "...")
        else:
            spread = (*path, f"... {each.name.value}")
            yield _ErrorPlace(find_position(each.name), spread, each)
            continue
        yield from _iter_selection_places(inner, each)


def _iter_field_places(path: tuple[str, ...], field: FieldNode) -> Iterator[_ErrorPlace]:
    """Yield the places of a field: its own, and those of its arguments and its selection."""
    yield _ErrorPlace(find_position(field), path, field)
    for argument in field.arguments or ():
        inner = (*path, argument.name.value)
        yield _ErrorPlace(find_position(argument), inner, field)
        yield _ErrorPlace(find_position(argument.value), inner, field)
    if field.selection_set:
        yield _ErrorPlace(find_position(field.selection_set), path, field)


def _format_title(node: Any) -> str:
    if isinstance(node, FragmentDefinitionNode):
        return f"fragment {node.name.value}"
    if isinstance(node, OperationDefinitionNode):
        kind = node.operation.value
        return f"{kind} {node.name.value}" if node.name else kind
    return ""


_CODES_AT_PLACE = frozenset({"argumentNotAccepted", "variableNotDefined"})


def _format_validation_error(
    error: Mapping[str, Any], spot: _ErrorPlace | None, variables: Mapping[str, Any]
) -> ErrorDict | None:
    """Return an error of validation; None where its form is not known."""
    message = str(error.get("message"))
    if spot is None:
        return None
    if spot.variable is not None and _COERCION_ERROR.match(message):
        return _format_coercion_error(spot.variable, variables) | {
            "locations": [make_location(spot.place)]
        }
    for pattern, make in _ERROR_FORMATTERS:
        match = pattern.match(message)
        if match is not None:
            said, extensions = make(match, spot)
            place = (
                spot.place if extensions["code"] in _CODES_AT_PLACE else find_position(spot.node)
            )
            return {
                "path": list(spot.path),
                "extensions": extensions,
                "locations": [make_location(place)],
                "message": said,
            }
    return None


def _format_coercion_error(node: VariableDefinitionNode, variables: Mapping[str, Any]) -> ErrorDict:
    """Return the error of a variable whose value does not fit its type."""
    name, kind = node.variable.name.value, print_ast(node.type)
    value = variables.get(name)
    bare = kind.strip("[]!")
    why = f"Could not coerce value {dump_json(value).decode()} to {bare}"
    if value is None:
        why = "Expected value to not be null"
    problems = [{"path": [], "explanation": why}]
    return {
        "extensions": {"value": value, "problems": problems},
        "locations": [],
        "message": f"Variable ${name} of type {kind} was provided invalid value",
    }


_COERCION_ERROR = re.compile(
    r"Variable '\$\w+' (?:got|has) invalid value|Variable .* (?:was not provided|must not be null)"
)
FormattedError = tuple[str, dict[str, Any]]


def _format_undefined_field(match: re.Match[str], _spot: _ErrorPlace) -> FormattedError:
    field, kind = match["field"], match["kind"]
    if kind in _UNION_TYPES:
        said = f"Selections can't be made directly on unions (see selections on {kind})"
        return said, {"code": "selectionMismatch", "nodeName": kind}
    extensions = {"code": "undefinedField", "typeName": kind, "fieldName": field}
    return f"Field '{field}' doesn't exist on type '{kind}'", extensions


def _format_missing_selection(match: re.Match[str], _spot: _ErrorPlace) -> FormattedError:
    field, kind = match["field"], match["kind"].strip("[]!")
    said = (
        f"Field must have selections (field '{field}' returns {kind} but has no selections. Did "
        f"you mean '{field} {{ ... }}'?)"
    )
    return said, {"code": "selectionMismatch", "nodeName": f"field '{field}'", "typeName": kind}


def _format_scalar_selection(match: re.Match[str], spot: _ErrorPlace) -> FormattedError:
    field, kind = match["field"], match["kind"].strip("[]!")
    asked = [n.name.value for n in spot.node.selection_set.selections if isinstance(n, FieldNode)]
    shown = ", ".join(f'"{name}"' for name in asked)
    said = (
        f"Selections can't be made on scalars (field '{field}' returns {kind} but has selections "
        f"[{shown}])"
    )
    return said, {"code": "selectionMismatch", "nodeName": f"field '{field}'", "typeName": kind}


def _format_unknown_argument(match: re.Match[str], spot: _ErrorPlace) -> FormattedError:
    field, argument = spot.node.name.value, match["argument"]
    extensions = {
        "code": "argumentNotAccepted",
        "name": field,
        "typeName": "Field",
        "argumentName": argument,
    }
    return f"Field '{field}' doesn't accept argument '{argument}'", extensions


def _format_missing_argument(match: re.Match[str], _spot: _ErrorPlace) -> FormattedError:
    field, argument = match["field"], match["argument"]
    extensions = {
        "code": "missingRequiredArguments",
        "className": "Field",
        "name": field,
        "arguments": argument,
    }
    return f"Field '{field}' is missing required arguments: {argument}", extensions


def _make_name_formatter(
    kind: str, code: str, words: str
) -> Callable[[re.Match[str], _ErrorPlace], FormattedError]:
    """Return what makes an error about one variable or fragment; `words` take it, and the place."""

    def format_name_error(match: re.Match[str], spot: _ErrorPlace) -> FormattedError:
        name = match["name"]
        return words.format(name, spot.operation_title), {"code": code, f"{kind}Name": name}

    return format_name_error


_UNUSED_VARIABLE = _make_name_formatter(
    "variable", "variableNotUsed", "Variable ${} is declared by {} but not used"
)
_UNDEFINED_VARIABLE = _make_name_formatter(
    "variable", "variableNotDefined", "Variable ${} is used by {} but not declared"
)
_UNDEFINED_FRAGMENT = _make_name_formatter(
    "fragment", "useAndDefineFragment", "Fragment {} was used, but not defined"
)
_UNUSED_FRAGMENT = _make_name_formatter(
    "fragment", "useAndDefineFragment", "Fragment {} was defined, but not used"
)
_ERROR_FORMATTERS: tuple[
    tuple[re.Pattern[str], Callable[[re.Match[str], _ErrorPlace], FormattedError]], ...
] = tuple(
    (re.compile(pattern), make)
    for pattern, make in (
        (r"Cannot query field '(?P<field>\w+)' on type '(?P<kind>\w+)'\.", _format_undefined_field),
        (
            r"Field '(?P<field>\w+)' of type '(?P<kind>\S+)' must have a selection",
            _format_missing_selection,
        ),
        (
            r"Field '(?P<field>\w+)' must not .* type '(?P<kind>\S+)' has no sub",
            _format_scalar_selection,
        ),
        (r"Unknown argument '(?P<argument>\w+)' on field '", _format_unknown_argument),
        # graphql-core 3.2 and 3.3
        (r"Field '(?P<field>\w+)' argument '(?P<argument>\w+)' of type", _format_missing_argument),
        (r"Argument '\w+\.(?P<field>\w+)\((?P<argument>\w+):\)' of type", _format_missing_argument),
        (r"Variable '\$(?P<name>\w+)' is never used", _UNUSED_VARIABLE),
        (r"Variable '\$(?P<name>\w+)' is not defined", _UNDEFINED_VARIABLE),
        (r"Unknown fragment '(?P<name>\w+)'", _UNDEFINED_FRAGMENT),
        (r"Fragment '(?P<name>\w+)' is never used", _UNUSED_FRAGMENT),
    )
)


def _merge_missing_arguments(errors: list[ErrorDict]) -> list[ErrorDict]:
    """Return errors with all that one field misses in one of them."""
    found: list[ErrorDict] = []
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
