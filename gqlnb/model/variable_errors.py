"""What is wrong with the values of variables, told without the values.

graphql-core's messages show them ("Int cannot represent non-integer value: 'hunter2'"), and these
may be secrets. The rules are those of the specification, section 3 (input coercion) and 6.1.2.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from graphql import (
    GraphQLEnumType,
    GraphQLError,
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLNonNull,
    is_input_type,
    type_from_ast,
)

from gqlnb.errors import Problem, at, plain
from gqlnb.model.document import Document, problems
from gqlnb.model.input_coercion import (
    BUILT_IN,
    CELL_CHECKS,
    has_default,
    show_names,
    unknown_fields,
)

if TYPE_CHECKING:
    from graphql import VariableDefinitionNode

__all__ = ["HIDES_VALUES", "describe_errors"]

HIDES_VALUES = "hides_values"  # of a parser: its errors never hold the value
Path = tuple[str | int, ...]
Fault = tuple[Path, str]
MOST = 50  # errors told; graphql-core stops there too
# Messages of graphql-core that hold no value: the name and the type of a variable alone.
HARMLESS = re.compile(
    r"Variable '\$\w+' of (?:required|non-null) type '[^']*' (?:was not provided|must not be null)"
    r"\.|Variable '\$\w+' expected value of type '[^']*' which cannot be used as an input type\."
    r"|Variable '\$\w+' has invalid value: Expected a value of non-null type '[^']*' to be"
    r" provided\."
)
WORDS = {
    bool: "a Boolean",
    dict: "an object",
    float: "a number",
    int: "a whole number",
    list: "a list",
    str: "text",
}


def describe_errors(
    document: Document, variables: Mapping[str, Any], errors: Sequence[GraphQLError]
) -> list[Problem]:
    """Return graphql-core's errors about variables as problems that hold no value.

    Parameters
    ----------
    document
        The document that declares them, with its schema.
    variables
        Their JSON-like values.
    errors
        What graphql-core says of them; errors about something else stay as they are.
    """
    told: list[Problem] = []
    about = [error for error in errors if error.message.startswith("Variable '$")]
    for error in errors:
        if error not in about or HARMLESS.fullmatch(error.message):
            told += problems([error])
    harmful = [error for error in about if not HARMLESS.fullmatch(error.message)]
    if not harmful:
        return told
    found: list[Problem] = []
    for name, node in document.variables.items():
        kind: Any = type_from_ast(document.schema, node.type) if document.schema else None
        if name not in variables or kind is None or not is_input_type(kind):
            continue
        for path, reason in find_faults(variables[name], kind):
            message = f"Variable '${name}' has invalid value{at(path)}: {reason}"
            found.append(place_problem(message, node))
            if len(found) == MOST:
                break
    return [*told, *(found or map(describe_vaguely, harmful))]


def describe_vaguely(error: GraphQLError) -> Problem:
    """Return an error that the rules here do not account for, without its reason."""
    name = error.message.partition("'")[2].partition("'")[0]
    message = f"Variable '{plain(name, 80)}' has invalid value: it does not fit its type."
    place = error.locations[0] if error.locations else None
    return Problem(message) if place is None else Problem(message, place.line, place.column)


def place_problem(message: str, node: VariableDefinitionNode) -> Problem:
    """Return a problem at the declaration of a variable."""
    if node.loc is None:
        return Problem(message)
    return Problem(message, node.loc.start_token.line, node.loc.start_token.column)


def find_faults(value: Any, kind: Any, path: Path = ()) -> Iterator[Fault]:
    """Yield the places of a JSON-like value that do not fit its type, and why not."""
    if isinstance(kind, GraphQLNonNull):
        if value is None:
            yield path, f"null, and the type {kind} is non-null."
            return
        kind = kind.of_type
    if value is None:
        return
    if isinstance(kind, GraphQLList):
        if isinstance(value, (list, tuple)):
            for index, item in enumerate(value):
                yield from find_faults(item, kind.of_type, (*path, index))
        else:
            yield from find_faults(value, kind.of_type, path)
    elif isinstance(kind, GraphQLInputObjectType):
        yield from find_object_faults(value, kind, path)
    else:
        reason = find_leaf_fault(value, kind)
        if reason:
            yield path, reason


def find_object_faults(value: Any, kind: GraphQLInputObjectType, path: Path) -> Iterator[Fault]:
    """Yield what is wrong with the value of an input object."""
    if not isinstance(value, Mapping):
        yield path, f"{describe_kind(value)}, and {kind.name} takes an object."
        return
    unknown = [str(name) for name in value if name not in kind.fields]
    if unknown:
        yield path, unknown_fields("the object", unknown, kind)
    for name, field in kind.fields.items():
        if name in value:
            yield from find_faults(value[name], field.type, (*path, name))
        elif isinstance(field.type, GraphQLNonNull) and not has_default(field):
            yield path, f"the field {name!r} is missing, which {kind.name} requires: {field.type}."
    if getattr(kind, "is_one_of", False) and (len(value) != 1 or None in value.values()):
        yield path, f"{kind.name} takes exactly one of its fields, and that not null."


def find_leaf_fault(value: Any, kind: Any) -> str:
    """Return why a value is none of a scalar or an enum; empty where it is one."""
    if isinstance(kind, GraphQLEnumType):
        if isinstance(value, str) and value in kind.values:
            return ""
        what = "this text" if isinstance(value, str) else describe_kind(value)
        names = show_names([*kind.values], 12)
        return f"Enum '{kind.name}' cannot represent {what}. It has {names}."
    if kind.name in BUILT_IN:
        what = describe_misfit(value, kind.name)
        return f"{kind.name} cannot represent {what}." if what else ""
    parse = getattr(kind, "coerce_input_value", None) or kind.parse_value
    try:
        parse(value)
    except Exception as error:
        reason = f"{kind.name} cannot represent this value, which is {describe_kind(value)}."
        return str(error) if getattr(parse, HIDES_VALUES, False) else reason
    return ""


def describe_misfit(value: Any, name: str) -> str:
    """Return what a value is that is none of a scalar of the specification; else empty."""
    whole = type(value) is int or (isinstance(value, float) and value.is_integer())
    if name == "Int" and whole:
        return "" if -(2**31) <= value < 2**31 else "a number of more than 32 bits"
    if name == "Int" and isinstance(value, float):
        return "a number with a fraction"
    if name == "Float" and type(value) is int and int(float(value)) != value:
        return "an integer that a float does not hold"
    fits = (name == "ID" and whole) or not CELL_CHECKS[name](value)
    return "" if fits else describe_kind(value)


def describe_kind(value: Any) -> str:
    """Return the kind of a value in words."""
    return WORDS.get(type(value), f"a {type(value).__name__}")
