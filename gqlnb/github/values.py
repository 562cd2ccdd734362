"""GitHub's words for a value or a variable that does not fit where it stands in a document.

The shapes are graphql-ruby's, as services that run it answer. In a list, a directive or a default
value a variable keeps graphql-core's words, and so does a literal in the latter two.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from graphql import (
    ArgumentNode,
    GraphQLInputObjectType,
    GraphQLSchema,
    ObjectFieldNode,
    ObjectValueNode,
    TypeInfo,
    TypeInfoVisitor,
    VariableNode,
    Visitor,
    get_named_type,
    get_nullable_type,
    print_ast,
    visit,
)

from gqlnb.github.standin import schema
from gqlnb.model.syntax import read

__all__ = ["Misplaced", "location", "position"]

_LITERAL = re.compile(
    r"Value '.*' does not exist in '\w+' enum|Enum '\w+' cannot represent|"
    r"(?:String|Int|Float|Boolean|ID) cannot represent|"
    r"Expected value of (?:type '\S+'(?:,| to be)|non-null type)"
)
_VARIABLE = re.compile(
    r"Variable '\$(?P<name>\w+)' of type '(?P<kind>\S+)' used in position expecting type "
    r"'(?P<wanted>\S+)'\."
)


class _Given(NamedTuple):
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

    def holds(self, place: tuple[int, int]) -> bool:
        """Tell whether a line and column lie in the value."""
        last: Any = self.holder.value.loc
        return position(self.holder.value) <= place <= (last.end_token.line, last.end_token.column)


class _Values(Visitor):
    """Gathers the values that fields are given."""

    def __init__(self, info: TypeInfo, paths: Mapping[int, tuple[str, ...]]) -> None:
        super().__init__()
        self._info = info
        self._paths = paths
        self.found: list[_Given] = []

    def enter_field(self, node: Any, *_: Any) -> None:
        """Gather those of one field."""
        known = self._info.get_field_def()
        for each in node.arguments or ():
            argument = known.args.get(each.name.value) if known else None
            if argument is not None:
                path = (*self._paths[node.loc.start], each.name.value)
                given = _Given(path, each, node, "Field", node.name.value, argument.type)
                self.found.extend(_within(given))


def _within(given: _Given) -> Iterator[_Given]:
    """Yield a value, and those inside where it is an input object."""
    yield given
    kind, value = get_nullable_type(given.wanted), given.holder.value
    if not isinstance(value, ObjectValueNode) or not isinstance(kind, GraphQLInputObjectType):
        return
    for each in value.fields:
        field = kind.fields.get(each.name.value)
        if field is not None:
            path = (*given.path, each.name.value)
            inner = _Given(path, each, value, "InputObject", kind.name, field.type)
            yield from _within(inner)


class Misplaced:
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
    def _given(self) -> list[_Given]:
        info = TypeInfo(_schema())
        values = _Values(info, self._paths)
        visit(read(self._text), TypeInfoVisitor(info, values))
        return values.found

    def told(self, error: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return an error, as our server writes it, in GitHub's form; None for another kind."""
        message = str(error.get("message"))
        variable = _VARIABLE.match(message)
        if variable is not None:
            return _mismatch(variable, self._given)
        if not _LITERAL.match(message):
            return None
        places = [(each["line"], each["column"]) for each in error.get("locations") or ()]
        around = [given for given in self._given if any(map(given.holds, places))]
        return _incompatible(around[-1]) if around else None  # the innermost


@lru_cache(1)
def _schema() -> GraphQLSchema:
    return schema().graphql


def _incompatible(given: _Given) -> dict[str, Any]:
    """Return the error of a literal."""
    value = print_ast(given.holder.value)
    return {
        "path": list(given.path),
        "extensions": {
            "code": "argumentLiteralsIncompatible",
            "typeName": given.kind,
            "argumentName": given.name,
        },
        "locations": [location(position(given.around))],
        "message": (
            f"Argument '{given.name}' on {given.kind} '{given.owner}' has an invalid value "
            f"({value}). Expected type '{given.wanted}'."
        ),
    }


def _mismatch(match: re.Match[str], values: list[_Given]) -> dict[str, Any] | None:
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
        "locations": [location(position(given.holder))],
        "message": f"{problem} on variable ${name} and argument {given.name} ({kind} / {wanted})",
    }


def position(node: Any) -> tuple[int, int]:
    """Return the line and the column where a node begins, both from 1."""
    token = node.loc.start_token
    return token.line, token.column


def location(place: tuple[int, int]) -> dict[str, int]:
    """Return a line and a column as they stand in the `locations` of an error."""
    line, column = place
    return {"line": line, "column": column}
