"""Request errors of graphql-core, rewritten in the form in which GitHub answers them.

GitHub runs graphql-ruby. Its errors of syntax and validation have a message of their own, a path
that begins with the operation, and a code in ``extensions``. Sources: recorded answers, and
graphql-ruby's static validation rules, which name the codes. Errors without a known form keep
graphql-core's message and location.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from graphql import (
    SKIP,
    FieldNode,
    FragmentDefinitionNode,
    GraphQLSchema,
    OperationDefinitionNode,
    TypeInfo,
    TypeInfoVisitor,
    VariableDefinitionNode,
    VariableNode,
    Visitor,
    get_named_type,
    print_ast,
    visit,
)

from gqlnb.document.json_codec import dump_json
from gqlnb.document.syntax import parse_source
from gqlnb.github.standin.github_schema import schema

if TYPE_CHECKING:
    from graphql import (
        ArgumentNode,
        FragmentSpreadNode,
        GraphQLInputType,
        InlineFragmentNode,
        Node,
        ObjectFieldNode,
    )

__all__ = ["format_request_errors", "is_stopped_by_limits"]

ErrorDict = dict[str, Any]
Position = tuple[int, int]  # line and column, both from 1

_SYNTAX_PREFIX = "Syntax Error: "
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
    errors: Sequence[Mapping[str, Any]], text: str, variables: Mapping[str, Any]
) -> list[ErrorDict]:
    """Return request errors in GitHub's form.

    Parameters
    ----------
    errors
        The errors of a document that was not executed, as our server writes them.
    text
        The document.
    variables
        The values that came with it.

    Returns
    -------
    list of dict
        The errors, their members in GitHub's order.
    """
    first = str(errors[0].get("message"))
    if _LIMIT_HINT.search(first) or _TOO_DEEP in first:
        return [{"locations": [], "message": _TOO_LARGE}]
    if first.startswith(_SYNTAX_PREFIX):
        return [_format_syntax_error(errors[0], text)]
    # Refused documents are parsed and walked again, so that others pay nothing for this.
    collector = _PlaceCollector(TypeInfo(_load_schema()))
    visit(parse_source(text), TypeInfoVisitor(collector.type_info, collector))
    formatted: list[ErrorDict] = []
    for error in errors:
        positions = [(at["line"], at["column"]) for at in error.get("locations") or ()]
        places = collector.places
        place = next((places[at] for at in positions if at in places), None)
        formatted.append(
            _format_validation_error(error, place, variables)
            or _format_value_error(error, positions, collector.values)
            or _format_operation_error(error)
            or {name: error[name] for name in ("locations", "message") if name in error}
        )
    return _merge_missing_arguments(formatted)


@lru_cache(1)
def _load_schema() -> GraphQLSchema:
    return schema().graphql


def _find_position(node: Node) -> Position:
    assert node.loc is not None  # noqa: S101 - every parsed node has its place
    return node.loc.start_token.line, node.loc.start_token.column


def _make_locations(position: Position) -> list[dict[str, int]]:
    return [{"line": position[0], "column": position[1]}]


def _format_operation_error(error: Mapping[str, Any]) -> ErrorDict | None:
    """Return the error of a missing or unknown operation name."""
    message = str(error.get("message"))
    unknown = re.match(r"Unknown operation named '(?P<name>.*?)'", message)
    if unknown is not None:
        return {"message": f'No operation named "{unknown["name"]}"'}
    if message.startswith("Must provide operation name"):
        return {"message": "An operation name is required"}
    return None


# ---------------------------------------------------------------- syntax

_EXPECTED_TOKEN = re.compile(r"Expected (?P<token>.+?), found ")
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
_TOKEN = re.compile(
    r'(?P<STRING>""".*?"""|"(?:[^"\\\n]|\\.)*")|(?P<FLOAT>-?\d+(?:\.\d+(?:[eE][+-]?\d+)?|[eE][+-]?\d+))'
    r"|(?P<INT>-?\d+)|(?P<KEYWORD>(?:on|fragment|true|false|null|query|mutation|subscription|schema"
    r"|scalar|type|extend|implements|interface|union|enum|input|directive|repeatable)\b)"
    r"|(?P<IDENTIFIER>[A-Za-z_]\w*)|(?P<PUNCTUATION>\.\.\.|[!$&():=@\[\]{|}])|(?P<UNKNOWN_CHAR>.)",
    re.DOTALL,
)
_IGNORED = re.compile(r"#[^\n]*|[\s,\ufeff]")
_DEFINITION_KEYWORDS = "one of SCHEMA, SCALAR, TYPE, ENUM, INPUT, UNION, INTERFACE"


def _format_syntax_error(error: Mapping[str, Any], text: str) -> ErrorDict:
    """Return a syntax error: the expected token, the actual one, and its position."""
    if not _IGNORED.sub("", text):
        return {"locations": [], "message": "Unexpected end of document"}
    at = (error.get("locations") or [{"line": 1, "column": 1}])[0]
    line, column, rows = at["line"], at["column"], text.split("\n")
    offset = sum(len(row) + 1 for row in rows[: line - 1]) + column - 1
    match = _TOKEN.match(text, offset)
    if match is None:  # the end of the document; GitHub names the last line and its length
        name, token = "(none)", ""
        line, column = len(rows), len(next((row for row in reversed(rows) if row), ""))
    else:
        name, token = str(match.lastgroup), match[0]
        name = {"PUNCTUATION": _PUNCTUATION.get(token, ""), "KEYWORD": token.upper()}.get(
            name, name
        )
    # Where graphql-core names no expected token, graphql-ruby expects a value, a name, or a
    # definition, which the text before tells apart.
    expected = _EXPECTED_TOKEN.search(str(error["message"]))
    before = _IGNORED.sub("", text[:offset])
    if expected is not None:
        wanted = expected["token"].strip("'\"")
        wanted = _PUNCTUATION.get(wanted) or wanted.upper()
    elif before.endswith((":", "=", "[")):
        wanted = "VALUE"
    else:
        depth = sum(before.count(sign) for sign in "{(") - sum(before.count(sign) for sign in "})")
        wanted = "NAME" if depth > 0 else _DEFINITION_KEYWORDS
    actual = f"{name} ({dump_json(token).decode()})"
    message = f"Expected {wanted}, actual: {actual} at [{line}, {column}]"
    return {"locations": _make_locations((line, column)), "message": message}


# ---------------------------------------------------------------- places of a document


class _ErrorPlace(NamedTuple):
    """A position that errors point to, with its path from the operation or fragment."""

    position: Position
    path: tuple[str, ...]
    node: Node  # the field, fragment, or operation
    variable: VariableDefinitionNode | None = None

    @property
    def operation_title(self) -> str:
        """The name of the operation in a sentence."""
        kind, _, name = self.path[0].partition(" ")
        return name or f"anonymous {kind}"


class _GivenValue(NamedTuple):
    """A value of an argument, or of a field of an input object."""

    path: tuple[str, ...]
    holder: ArgumentNode | ObjectFieldNode
    owner: Node  # the field, or the literal of the input object
    owner_kind: str  # "Field" or "InputObject"
    owner_name: str
    wanted: GraphQLInputType

    @property
    def name(self) -> str:
        return self.holder.name.value

    def contains(self, position: Position) -> bool:
        value = self.holder.value
        assert value.loc is not None  # noqa: S101 - every parsed node has its place
        end = value.loc.end_token
        return _find_position(value) <= position <= (end.line, end.column)


class _PlaceCollector(Visitor):
    """Collects the places of a document and the values in it.

    Lists, directives and default values are skipped: errors in them keep graphql-core's message.
    """

    def __init__(self, type_info: TypeInfo) -> None:
        super().__init__()
        self.type_info = type_info
        self.places: dict[Position, _ErrorPlace] = {}
        self.values: list[_GivenValue] = []
        self._path: list[str] = []

    def _add_place(self, marked: Node, node: Node, variable: Any = None) -> None:
        position = _find_position(marked)
        self.places[position] = _ErrorPlace(position, tuple(self._path), node, variable)

    def enter_operation_definition(self, node: OperationDefinitionNode, *_: object) -> None:
        kind = node.operation.value
        self._path = [f"{kind} {node.name.value}" if node.name else kind]
        self._add_place(node, node)

    def enter_fragment_definition(self, node: FragmentDefinitionNode, *_: object) -> None:
        self._path = [f"fragment {node.name.value}"]
        self._add_place(node, node)

    def enter_variable_definition(
        self, node: VariableDefinitionNode, _key: object, _parent: object, _path: object, above: Any
    ) -> Any:
        self._add_place(node, above[-1], node)
        return SKIP

    def enter_directive(self, *_: object) -> Any:
        return SKIP

    def enter_list_value(self, *_: object) -> Any:
        return SKIP

    def enter_field(self, node: FieldNode, *_: object) -> None:
        self._path.append((node.alias or node.name).value)
        self._add_place(node, node)
        if node.selection_set:
            self._add_place(node.selection_set, node)

    def enter_inline_fragment(self, node: InlineFragmentNode, *_: object) -> None:
        kind = node.type_condition
        self._path.append(f"... on {kind.name.value}" if kind else "...")

    def enter_fragment_spread(self, node: FragmentSpreadNode, *_: object) -> Any:
        self._path.append(f"... {node.name.value}")
        self._add_place(node.name, node)
        self._path.pop()
        return SKIP

    def enter_argument(
        self, node: ArgumentNode, _key: object, _parent: object, _path: object, above: Any
    ) -> None:
        self._path.append(node.name.value)
        self._add_place(node, above[-1])
        self._add_place(node.value, above[-1])
        self._add_value(node, above[-1], "Field", above[-1].name.value)

    def enter_object_field(
        self, node: ObjectFieldNode, _key: object, _parent: object, _path: object, above: Any
    ) -> None:
        self._path.append(node.name.value)
        owner = self.type_info.get_parent_input_type()
        if owner is not None:
            self._add_value(node, above[-1], "InputObject", get_named_type(owner).name)

    def _add_value(
        self, holder: ArgumentNode | ObjectFieldNode, owner: Node, kind: str, name: str
    ) -> None:
        wanted = self.type_info.get_input_type()
        if wanted is not None:
            path = tuple(self._path)
            self.values.append(_GivenValue(path, holder, owner, kind, name, wanted))

    def _leave(self, *_: object) -> None:
        self._path.pop()

    leave_field = leave_inline_fragment = leave_argument = leave_object_field = _leave


# ---------------------------------------------------------------- values

_LITERAL_ERROR = re.compile(
    r"Value '.*' does not exist in '\w+' enum|Enum '\w+' cannot represent|"
    r"(?:String|Int|Float|Boolean|ID) cannot represent|"
    r"Expected value of (?:type '\S+'(?:,| to be)|non-null type)"
)
_VARIABLE_ERROR = re.compile(
    r"Variable '\$(?P<name>\w+)' of type '(?P<kind>\S+)' used in position expecting type "
    r"'(?P<wanted>\S+)'\."
)


def _format_value_error(
    error: Mapping[str, Any], positions: list[Position], values: list[_GivenValue]
) -> ErrorDict | None:
    """Return the error of a literal or a variable that does not fit its argument."""
    message = str(error.get("message"))
    match = _VARIABLE_ERROR.match(message)
    if match is not None:
        return _format_variable_error(match, values)
    holders = [value for value in values if any(map(value.contains, positions))]
    if not holders or not _LITERAL_ERROR.match(message):
        return None
    given = holders[-1]  # the innermost
    return {
        "path": list(given.path),
        "extensions": {
            "code": "argumentLiteralsIncompatible",
            "typeName": given.owner_kind,
            "argumentName": given.name,
        },
        "locations": _make_locations(_find_position(given.owner)),
        "message": (
            f"Argument '{given.name}' on {given.owner_kind} '{given.owner_name}' has an invalid "
            f"value ({print_ast(given.holder.value)}). Expected type '{given.wanted}'."
        ),
    }


def _format_variable_error(match: re.Match[str], values: list[_GivenValue]) -> ErrorDict | None:
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
    problem = "Nullability mismatch"
    if kind.strip("[]!") != get_named_type(given.wanted).name:
        problem = "Type mismatch"
    elif kind.count("[") != wanted.count("["):
        problem = "List dimension mismatch"
    return {
        "path": list(given.path),
        "extensions": {
            "code": "variableMismatch",
            "variableName": name,
            "typeName": kind,
            "argumentName": given.name,
            "errorMessage": problem,
        },
        "locations": _make_locations(_find_position(given.holder)),
        "message": f"{problem} on variable ${name} and argument {given.name} ({kind} / {wanted})",
    }


# ---------------------------------------------------------------- validation

# The messages of graphql-core 3.2 and 3.3 differ.
_COERCION_ERROR = re.compile(
    r"Variable '\$\w+' (?:got|has) invalid value|Variable .* (?:was not provided|must not be null)"
)
_UNION_TYPES = frozenset({"SearchResultItem"})
# graphql-core's message, GitHub's, and the members of its `extensions`, filled in from the groups
# of the pattern. Errors of the same code may come from several messages of graphql-core.
_FORMS: tuple[tuple[re.Pattern[str], str, dict[str, str]], ...] = tuple(
    (re.compile(pattern), message, extensions)
    for pattern, message, extensions in (
        (
            rf"Cannot query field '\w+' on type '(?P<kind>{'|'.join(_UNION_TYPES)})'\.",
            "Selections can't be made directly on unions (see selections on {kind})",
            {"code": "selectionMismatch", "nodeName": "{kind}"},
        ),
        (
            r"Cannot query field '(?P<field>\w+)' on type '(?P<kind>\w+)'\.",
            "Field '{field}' doesn't exist on type '{kind}'",
            {"code": "undefinedField", "typeName": "{kind}", "fieldName": "{field}"},
        ),
        (
            r"Field '(?P<field>\w+)' of type '\[*(?P<kind>\w+)\S*' must have a selection",
            "Field must have selections (field '{field}' returns {kind} but has no selections. "
            "Did you mean '{field} {{ ... }}'?)",
            {"code": "selectionMismatch", "nodeName": "field '{field}'", "typeName": "{kind}"},
        ),
        (
            r"Field '(?P<field>\w+)' must not .* type '\[*(?P<kind>\w+)\S*' has no sub",
            "Selections can't be made on scalars (field '{field}' returns {kind} but has "
            "selections [{selections}])",
            {"code": "selectionMismatch", "nodeName": "field '{field}'", "typeName": "{kind}"},
        ),
        (
            r"Unknown argument '(?P<argument>\w+)' on field '\w+\.(?P<field>\w+)'",
            "Field '{field}' doesn't accept argument '{argument}'",
            {
                "code": "argumentNotAccepted",
                "name": "{field}",
                "typeName": "Field",
                "argumentName": "{argument}",
            },
        ),
        *(
            (
                pattern,
                "Field '{field}' is missing required arguments: {argument}",
                {
                    "code": "missingRequiredArguments",
                    "className": "Field",
                    "name": "{field}",
                    "arguments": "{argument}",
                },
            )
            for pattern in (  # graphql-core 3.2 and 3.3
                r"Field '(?P<field>\w+)' argument '(?P<argument>\w+)' of type",
                r"Argument '\w+\.(?P<field>\w+)\((?P<argument>\w+):\)' of type",
            )
        ),
        (
            r"Variable '\$(?P<name>\w+)' is never used",
            "Variable ${name} is declared by {operation} but not used",
            {"code": "variableNotUsed", "variableName": "{name}"},
        ),
        (
            r"Variable '\$(?P<name>\w+)' is not defined",
            "Variable ${name} is used by {operation} but not declared",
            {"code": "variableNotDefined", "variableName": "{name}"},
        ),
        (
            r"Unknown fragment '(?P<name>\w+)'",
            "Fragment {name} was used, but not defined",
            {"code": "useAndDefineFragment", "fragmentName": "{name}"},
        ),
        (
            r"Fragment '(?P<name>\w+)' is never used",
            "Fragment {name} was defined, but not used",
            {"code": "useAndDefineFragment", "fragmentName": "{name}"},
        ),
    )
)
# Errors of these codes point to the argument or variable, the others to its field or operation.
_CODES_AT_PLACE = frozenset({"argumentNotAccepted", "variableNotDefined"})


def _format_validation_error(
    error: Mapping[str, Any], place: _ErrorPlace | None, variables: Mapping[str, Any]
) -> ErrorDict | None:
    """Return an error of validation, or None if its form is not known."""
    message = str(error.get("message"))
    if place is None:
        return None
    if place.variable is not None and _COERCION_ERROR.match(message):
        return _format_coercion_error(place, place.variable, variables)
    for pattern, template, extensions in _FORMS:
        match = pattern.match(message)
        if match is None:
            continue
        names = {**match.groupdict(), "operation": place.operation_title}
        if isinstance(place.node, FieldNode) and place.node.selection_set:
            fields = place.node.selection_set.selections
            selected = [f'"{each.name.value}"' for each in fields if isinstance(each, FieldNode)]
            names["selections"] = ", ".join(selected)
        is_here = extensions["code"] in _CODES_AT_PLACE
        position = place.position if is_here else _find_position(place.node)
        return {
            "path": list(place.path),
            "extensions": {key: text.format(**names) for key, text in extensions.items()},
            "locations": _make_locations(position),
            "message": template.format(**names),
        }
    return None


def _format_coercion_error(
    place: _ErrorPlace, node: VariableDefinitionNode, variables: Mapping[str, Any]
) -> ErrorDict:
    """Return the error of a value that does not fit the type of its variable."""
    name, kind = node.variable.name.value, print_ast(node.type)
    value = variables.get(name)
    problem = f"Could not coerce value {dump_json(value).decode()} to {kind.strip('[]!')}"
    if value is None:
        problem = "Expected value to not be null"
    return {
        "extensions": {"value": value, "problems": [{"path": [], "explanation": problem}]},
        "locations": _make_locations(place.position),
        "message": f"Variable ${name} of type {kind} was provided invalid value",
    }


def _merge_missing_arguments(errors: list[ErrorDict]) -> list[ErrorDict]:
    """Return errors with all missing arguments of one field in one error."""
    merged: list[ErrorDict] = []
    for error in errors:
        code = error.get("extensions", {}).get("code")
        same = [other for other in merged if code and other.get("path") == error["path"]]
        if code != "missingRequiredArguments" or not same:
            merged.append(error)
            continue
        name = error["extensions"]["arguments"]
        same[0]["extensions"]["arguments"] += f", {name}"
        same[0]["message"] += f", {name}"
    return merged
