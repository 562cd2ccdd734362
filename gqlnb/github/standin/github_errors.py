"""Request errors of graphql-core, rewritten in the form in which GitHub answers them.

GitHub runs graphql-ruby. Its errors of validation have a path that begins with the operation, and a
code in ``extensions``, which is what programs read; their wording is given where it is short.
Sources: recorded answers, and graphql-ruby's static validation rules, which name the codes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from graphql import (
    FragmentDefinitionNode,
    Node,
    OperationDefinitionNode,
    VariableDefinitionNode,
    Visitor,
    parse,
    print_ast,
    visit,
)

from gqlnb.document.json_codec import dump_json

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
        locations = errors[0].get("locations") or []
        at = "".join(f" at [{it['line']}, {it['column']}]" for it in locations)
        message = first.removeprefix(_SYNTAX_PREFIX).rstrip(".")
        return [{"locations": locations, "message": f"{message}{at}"}]
    # Refused documents are parsed and walked again, so that others pay nothing for this.
    collector = _PlaceCollector()
    visit(parse(text), collector)
    return [_format_error(error, collector.places, variables) for error in errors]


class _ErrorPlace(NamedTuple):
    """A position that errors point to, with its path from the operation or fragment."""

    path: tuple[str, ...]
    owner: Node  # the field, fragment or operation
    node: Node  # the same, or the argument or variable

    @property
    def operation_title(self) -> str:
        """The name of the operation in a sentence."""
        kind, _, name = self.path[0].partition(" ")
        return name or f"anonymous {kind}"


class _PlaceCollector(Visitor):
    """Collects the places of a document by their positions."""

    def __init__(self) -> None:
        super().__init__()
        self.places: dict[Position, _ErrorPlace] = {}
        self._path: list[str] = []

    def enter(self, node: Node, _key: object, _parent: object, _path: object, above: Any) -> None:
        owner, marked = node, node
        match node.kind:
            case "operation_definition" | "fragment_definition":
                self._path = [_name_definition(node)]
            case "field":
                self._path.append((getattr(node, "alias", None) or node.name).value)  # type: ignore[attr-defined]
                if node.selection_set:  # type: ignore[attr-defined]
                    self._add_place(node.selection_set, node, node)  # type: ignore[attr-defined]
            case "inline_fragment":
                kind = node.type_condition  # type: ignore[attr-defined]
                self._path.append(f"... on {kind.name.value}" if kind else "...")
            case "fragment_spread":
                self._path.append(f"... {node.name.value}")  # type: ignore[attr-defined]
                marked = node.name  # type: ignore[attr-defined]
            case "argument" | "object_field":
                self._path.append(node.name.value)  # type: ignore[attr-defined]
                owner = above[-1]
                self._add_place(node.value, owner, node)  # type: ignore[attr-defined]
            case "variable_definition":
                owner = above[-1]
            case _:
                return
        self._add_place(marked, owner, node)

    def leave(self, node: Node, *_: object) -> None:
        if node.kind in _PATH_KINDS:
            self._path.pop()

    def _add_place(self, marked: Node, owner: Node, node: Node) -> None:
        self.places[_find_position(marked)] = _ErrorPlace(tuple(self._path), owner, node)


_PATH_KINDS = frozenset({"field", "inline_fragment", "fragment_spread", "argument", "object_field"})


def _name_definition(node: Any) -> str:
    if isinstance(node, FragmentDefinitionNode):
        return f"fragment {node.name.value}"
    assert isinstance(node, OperationDefinitionNode)  # noqa: S101 - the other definition
    return f"{node.operation.value} {node.name.value}" if node.name else node.operation.value


def _find_position(node: Node) -> Position:
    assert node.loc is not None  # noqa: S101 - every parsed node has its place
    return node.loc.start_token.line, node.loc.start_token.column


# The messages of graphql-core 3.2 and 3.3 differ.
_COERCION_ERROR = re.compile(
    r"Variable '\$\w+' (?:got|has) invalid value|Variable .* (?:was not provided|must not be null)"
)
# graphql-core's message, GitHub's (None keeps graphql-core's), its code, and the names of further
# members of `extensions`, from the groups of the pattern.
_FORMS: tuple[tuple[re.Pattern[str], str | None, str, dict[str, str]], ...] = tuple(
    (re.compile(pattern), message, code, names)
    for pattern, message, code, names in (
        (
            r"Cannot query field '(?P<field>\w+)' on type '(?P<kind>\w+)'\.",
            "Field '{field}' doesn't exist on type '{kind}' in this stand-in",
            "undefinedField",
            {"typeName": "kind", "fieldName": "field"},
        ),
        (
            r"Field '(?P<field>\w+)' (?:of type .* must have a selection|must not have a sel.*)",
            None,
            "selectionMismatch",
            {},
        ),
        (
            r"Unknown argument '(?P<argument>\w+)' on field '\w+\.(?P<field>\w+)'",
            "Field '{field}' doesn't accept argument '{argument}' in this stand-in",
            "argumentNotAccepted",
            {"name": "field", "argumentName": "argument"},
        ),
        (
            r"(?:Field '(?P<field>\w+)' argument '|Argument '\w+\.(?P<other>\w+)\()"
            r"(?P<argument>\w+)(?:'|:\)') of type",
            "Field '{field}' is missing required arguments: {argument}",
            "missingRequiredArguments",
            {"name": "field", "arguments": "argument"},
        ),
        (
            r"Variable '\$(?P<name>\w+)' is never used",
            "Variable ${name} is declared by {operation} but not used",
            "variableNotUsed",
            {"variableName": "name"},
        ),
        (
            r"Variable '\$(?P<name>\w+)' is not defined",
            "Variable ${name} is used by {operation} but not declared",
            "variableNotDefined",
            {"variableName": "name"},
        ),
        (
            r"Unknown fragment '(?P<name>\w+)'",
            "Fragment {name} was used, but not defined",
            "useAndDefineFragment",
            {"fragmentName": "name"},
        ),
        (
            r"Fragment '(?P<name>\w+)' is never used",
            "Fragment {name} was defined, but not used",
            "useAndDefineFragment",
            {"fragmentName": "name"},
        ),
        (
            r"Variable '\$(?P<name>\w+)' of type .* used in position expecting type",
            None,
            "variableMismatch",
            {"variableName": "name"},
        ),
        (
            r"Value '.*' does not exist in '\w+' enum|Enum '\w+' cannot represent|"
            r"(?:String|Int|Float|Boolean|ID) cannot represent|Expected value of ",
            None,
            "argumentLiteralsIncompatible",
            {},
        ),
    )
)
# Errors of these codes point to the argument or variable, the others to its field or operation.
_CODES_AT_NODE = frozenset({"argumentNotAccepted", "variableNotDefined", "variableMismatch"})


def _format_error(
    error: Mapping[str, Any], places: Mapping[Position, _ErrorPlace], variables: Mapping[str, Any]
) -> ErrorDict:
    """Return an error of validation; an unknown one keeps its message and location."""
    message = str(error.get("message"))
    positions = [(at["line"], at["column"]) for at in error.get("locations") or ()]
    at = next((at for at in positions if at in places), None)
    if at is None:
        unknown = re.match(r"Unknown operation named '(?P<name>.*?)'", message)
        if unknown is not None:
            return {"message": f'No operation named "{unknown["name"]}"'}
        if message.startswith("Must provide operation name"):
            return {"message": "An operation name is required"}
        return {name: error[name] for name in ("locations", "message") if name in error}
    place = places[at]
    if isinstance(place.node, VariableDefinitionNode) and _COERCION_ERROR.match(message):
        return _format_coercion_error(place.node, variables)
    for pattern, template, code, members in _FORMS:
        match = pattern.match(message)
        if match is None:
            continue
        names = {"operation": place.operation_title, **match.groupdict()}
        names["field"] = names.get("field") or names.get("other") or ""
        if code in _CODES_AT_NODE:
            line, column = at
        else:
            line, column = _find_position(place.owner)
        return {
            "path": list(place.path),
            "extensions": {"code": code, **{key: names[name] for key, name in members.items()}},
            "locations": [{"line": line, "column": column}],
            "message": template.format(**names) if template else message,
        }
    return {name: error[name] for name in ("locations", "message") if name in error}


def _format_coercion_error(node: VariableDefinitionNode, variables: Mapping[str, Any]) -> ErrorDict:
    """Return the error of a value that does not fit the type of its variable."""
    name, kind = node.variable.name.value, print_ast(node.type)
    value = variables.get(name)
    problem = f"Could not coerce value {dump_json(value).decode()} to {kind.strip('[]!')}"
    if value is None:
        problem = "Expected value to not be null"
    line, column = _find_position(node)
    return {
        "extensions": {"value": value, "problems": [{"path": [], "explanation": problem}]},
        "locations": [{"line": line, "column": column}],
        "message": f"Variable ${name} of type {kind} was provided invalid value",
    }
