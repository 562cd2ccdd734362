"""Variables of a request: conversion to JSON, checks against the schema, large integers."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from graphql import (
    GraphQLEnumType,
    GraphQLError,
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLScalarType,
    ListTypeNode,
    NamedTypeNode,
    NonNullTypeNode,
    is_input_type,
    print_ast,
    type_from_ast,
)
from graphql.execution.values import get_variable_values
from msgspec import UNSET

from gqlnb.document import scalars
from gqlnb.document.document import Document, build_problems, format_variable_type
from gqlnb.document.input_coercion import (
    BUILT_IN_SCALARS,
    CoercionError,
    InputKind,
    coerce_input,
    convert_value,
    describe_kind,
    describe_unknown_fields,
    find_misfit,
    has_default,
    is_row,
    quote_names,
    read_table,
)
from gqlnb.document.paged_fields import find_position_variables
from gqlnb.document.scalar_values import MAX_EXACT_FLOAT
from gqlnb.document.scalars import recognize_scalar
from gqlnb.document.syntax import find_position
from gqlnb.document.upload import is_file
from gqlnb.errors import Problem, QueryError, describe_path, find_similar, join_names, sanitize_text

if TYPE_CHECKING:
    from graphql import VariableDefinitionNode

    from gqlnb.document.input_coercion import Path
    from gqlnb.document.json_codec import JSON

# Set on a parser of a scalar whose error messages never contain the value, so that they are shown.
HIDES_VALUES = "hides_values"
MAX_FAULTS = 50  # graphql-core stops after as many
# Messages of graphql-core without a value, only with the name and type of a variable.
VALUE_FREE_MESSAGE = re.compile(
    r"Variable '\$\w+' of (?:required|non-null) type '[^']*' (?:was not provided|must not be null)"
    r"\.|Variable '\$\w+' expected value of type '[^']*' which cannot be used as an input type\."
    r"|Variable '\$\w+' has invalid value: Expected a value of non-null type '[^']*' to be"
    r" provided\."
)
MAX_SAFE_INTEGER = MAX_EXACT_FLOAT - 1  # Number.MAX_SAFE_INTEGER of JavaScript; RFC 8259, section 6
NON_INTEGER_TYPES = frozenset({str, float, bool, type(None)})
LARGE_INTEGER_TEXT = re.compile(r"-?[1-9]\d{15,}")


def bind_variables(document: Document, given: Mapping[str, Any] | None) -> dict[str, JSON]:
    """Return the variables of a request: JSON values for the declared names.

    Parameters
    ----------
    document
        The document whose operation declares the variables.
    given
        Python values by name, without the ``$``. Undeclared names are ignored, as the specification
        requires; :func:`check_variable_names` finds misspelled ones. ``msgspec.UNSET`` stands for a
        variable that is not given, as in a msgspec Struct for a field.

    Raises
    ------
    QueryError
        If a required variable is missing or a value has no JSON form, such as NaN; the message has
        the name and the type of the variable, never the value.

    Notes
    -----
    Values are converted for their declared type: a day for a ``DateTime`` becomes its midnight in
    UTC, a decimal for a ``Float`` a number, and for a custom scalar the serialiser of
    :func:`gqlnb.scalar` is used; in lists too, and in input objects if the schema is known. Rows of
    tables, models and data classes become input objects; NaN, NaT and NA in them become null, and
    NaN does so everywhere for text, integers, Booleans, enums and dates.
    """
    if not given and not document.variables:
        return {}
    given = {} if given is None else given
    if not isinstance(given, Mapping):
        msg = f"variables must be a mapping of names; got {type(given).__name__}."
        raise QueryError(msg)
    declared = document.variables
    missing = [
        (f"Variable '${name}' of required type '{print_ast(node.type)}' was not provided.", node)
        for name, node in declared.items()
        if name not in given and isinstance(node.type, NonNullTypeNode) and not node.default_value
    ]
    if missing:
        hint = f"Given: {', '.join('$' + str(key) for key in given)}." if given else None
        problems = [locate_problem(message, node, hint) for message, node in missing]
        raise QueryError(text=document.text, problems=problems)
    return {
        name: coerce_variable(name, node, given[name], document)
        for name, node in declared.items()
        if name in given and given[name] is not UNSET
    }


def convert_variables(given: Mapping[str, Any]) -> dict[str, JSON]:
    """Return the variables of a request as they are given, whatever the document declares.

    Raises
    ------
    QueryError
        If a value has no JSON form; the message has the name, never the value.
    """
    values = {}
    for name, value in given.items():
        try:
            values[str(name)] = convert_value(value)
        except (CoercionError, RecursionError) as error:
            reason = error if isinstance(error, CoercionError) else "it contains itself."
            msg = f"Variable '${name}': {reason}"
            raise QueryError(msg) from None
    return values


def get_declared_type(document: Document, node: VariableDefinitionNode) -> InputKind:
    """Return the type of a variable in the schema; its node where the type is not known."""
    kind = document.schema and type_from_ast(document.schema, node.type)
    return node.type if kind is None else kind


def coerce_variable(
    name: str, node: VariableDefinitionNode, value: object, document: Document
) -> JSON:
    """Convert the value of a variable; errors name the variable."""
    try:
        return coerce_input(value, get_declared_type(document, node))
    except CoercionError as error:
        reason = str(error)
    except RecursionError:
        reason = "it is nested too deeply, or contains itself."
    msg = f"Variable '${name}' of type '{format_variable_type(node)}': {reason}"
    raise QueryError(msg)


def check_variable_names(document: Document, given: Mapping[str, Any] | None) -> None:
    """Check that no given name is a misspelling of a declared variable.

    Raises
    ------
    QueryError
        If an undeclared name is similar to a declared variable without a value, or if none of the
        given names is declared.
    """
    # The specification requires undeclared names to be ignored, so that a variable given under a
    # wrong name would silently be null, or its default.
    declared = document.variables
    if not isinstance(given, Mapping) or all(name in declared for name in given):
        return
    absent = [name for name in declared if name not in given]
    unknown = [str(name) for name in given if name not in declared]
    meant = {name: similar for name in unknown if (similar := find_similar(name, absent))}
    if not meant and not (declared and len(absent) == len(declared)):
        return
    wrong = ", ".join(f"${sanitize_text(name, 40)}" for name in (list(meant) or unknown)[:5])
    names = ", ".join(f"${name}" for name in dict.fromkeys(meant.values()))
    guess = f" Did you mean {names}?" if meant else ""
    listed = ", ".join(f"${name}: {format_variable_type(node)}" for name, node in declared.items())
    msg = f"The operation does not declare {wrong}.{guess} It declares {listed}."
    raise QueryError(msg)


def find_unset_variables(document: Document, given: Container[str]) -> list[str]:
    """Return the optional variables without a value that a request leaves out, for a note.

    Parameters
    ----------
    document
        The document that declares the variables.
    given
        The names of those that have a value.

    Returns
    -------
    list of str
        In the order of the document. Those with a default in it are not listed, nor those for the
        position of a page: without a value that is the first page.
    """
    unset = [
        name
        for name, node in document.variables.items()
        if name not in given
        and node.default_value is None
        and not isinstance(node.type, NonNullTypeNode)
    ]
    if unset and document.kind == "query":
        with suppress(QueryError):  # too many selections to look for pages
            positions = find_position_variables(document)
            unset = [name for name in unset if name not in positions]
    return unset


def describe_unset(names: Sequence[str]) -> str:
    """Return a sentence about variables of :func:`find_unset_variables`."""
    listed = join_names([f"${name}" for name in names], 5)
    if len(names) == 1:
        return f"{listed} has no value, so it is left out (null)."
    return f"{listed} have no value, so they are left out (null)."


# -- values that can only be converted with the schema


def needs_schema(document: Document, given: Mapping[str, Any] | None) -> bool:
    """Return whether the schema is required to convert the values correctly."""
    # The schema is needed for rows, tables, models and large integers of a type that the document
    # only names: the conversion of NaN, of 3.0 in a column of integers, of a date, and of an
    # integer beyond the range of a float depend on the types of the fields.
    if document.schema is not None or not isinstance(given, Mapping):
        return False
    return any(
        name in given
        and (type_name := get_type_name(node)) not in BUILT_IN_SCALARS
        and not scalars.is_known(type_name)
        and depends_on_types(given[name])
        for name, node in document.variables.items()
    )


def depends_on_types(value: object) -> bool:
    """Return whether the JSON form of a value may depend on the types of input fields."""
    return is_structured(value) or has_large_integer(value)


def is_structured(value: object) -> bool:
    """Return whether a value, or the first item of a list, is a table, a row or a model."""
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return bool(value) and is_structured(value[0])
    if value is None or isinstance(value, (str, int, float, bytes, dict)) or is_file(value):
        return False
    return read_table(value) is not None or is_row(value)


def get_type_name(node: VariableDefinitionNode) -> str:
    """Return the name of a variable's type without lists and non-null wrappers."""
    kind: InputKind = node.type
    while not hasattr(kind, "name"):
        kind = kind.type
    return str(kind.name.value)


# -- checks against the schema, with errors that never contain a value


def check_variables(document: Document, variables: dict[str, JSON]) -> None:
    """Check JSON values against their declared types, if the schema is known.

    Raises
    ------
    QueryError
        If a value does not fit its type; the message never contains the value.
    """
    if document.schema is None or not document.variables:
        return
    coerced = get_variable_values(
        document.schema, document.operation.variable_definitions or (), variables
    )
    if isinstance(coerced, list):
        raise QueryError(text=document.text, problems=describe_errors(document, variables, coerced))


def describe_errors(
    document: Document, variables: Mapping[str, JSON], errors: Sequence[GraphQLError]
) -> list[Problem]:
    """Return graphql-core's errors about variables as problems without values.

    Parameters
    ----------
    document
        The document that declares the variables, with its schema.
    variables
        The JSON values.
    errors
        The errors of graphql-core; those about other things are kept.
    """
    # graphql-core decides whether a value is valid; the values are then examined again for messages
    # that do not contain them.
    with_value = [
        error
        for error in errors
        if error.message.startswith("Variable '$")
        and not VALUE_FREE_MESSAGE.fullmatch(error.message)
    ]
    problems = build_problems(error for error in errors if error not in with_value)
    faults: list[Problem] = []
    for name, node in document.variables.items() if with_value else ():
        kind = get_declared_type(document, node)
        if name not in variables or not is_input_type(kind):
            continue
        for path, reason in find_faults(variables[name], kind):
            message = f"Variable '${name}' has invalid value{describe_path(path)}: {reason}"
            faults.append(locate_problem(message, node))
            if len(faults) == MAX_FAULTS:
                break
    if not faults:  # graphql-core has a rule that is missing here
        for error in with_value:
            name = error.message.partition("'$")[2].partition("'")[0]
            message = f"Variable '${name}' has invalid value: it does not fit its type."
            faults += build_problems([GraphQLError(message, error.nodes)])
    return [*problems, *faults]


def locate_problem(message: str, node: VariableDefinitionNode, hint: str | None = None) -> Problem:
    """Return a problem at the definition of a variable."""
    line, column = find_position(node) or (None, None)
    return Problem(message, line, column, hint)


def find_faults(value: JSON, kind: InputKind, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Yield path and reason for each part of a JSON value that does not fit its type."""
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


def find_object_faults(
    value: JSON, kind: GraphQLInputObjectType, path: Path
) -> Iterator[tuple[Path, str]]:
    """Yield path and reason for each invalid part of the value of an input object."""
    if not isinstance(value, Mapping):
        yield path, f"{describe_kind(value)}, and {kind.name} takes an object."
        return
    unknown = [str(name) for name in value if name not in kind.fields]
    if unknown:
        yield path, describe_unknown_fields("the object", unknown, kind)
    for name, field in kind.fields.items():
        if name in value:
            yield from find_faults(value[name], field.type, (*path, name))
        elif isinstance(field.type, GraphQLNonNull) and not has_default(field):
            yield path, f"the field {name!r} is missing, which {kind.name} requires: {field.type}."
    if getattr(kind, "is_one_of", False) and (len(value) != 1 or None in value.values()):
        yield path, f"{kind.name} takes exactly one of its fields, and that not null."


def find_leaf_fault(value: JSON, kind: GraphQLEnumType | GraphQLScalarType) -> str:
    """Return the reason why a value is not valid for a scalar or an enum; "" if it is valid."""
    if isinstance(kind, GraphQLEnumType):
        if isinstance(value, str) and value in kind.values:
            return ""
        misfit = "this text" if isinstance(value, str) else describe_kind(value)
        names = quote_names([*kind.values], 12)
        return f"Enum '{kind.name}' cannot represent {misfit}. It has {names}."
    if kind.name in BUILT_IN_SCALARS:
        misfit = find_misfit(value, kind.name)
        is_float_input = kind.name == "Float" and type(value) is int
        if is_float_input and (abs(value) >= 2**1024 or int(float(value)) != value):
            misfit = "an integer that a float does not hold"
        return f"{kind.name} cannot represent {misfit}." if misfit else ""
    parse = getattr(kind, "coerce_input_value", None) or kind.parse_value
    try:
        parse(value)
    except Exception as error:  # noqa: BLE001 - a parser of the user may raise anything
        if getattr(parse, HIDES_VALUES, False):
            return str(error)
        return f"{kind.name} cannot represent this value, which is {describe_kind(value)}."
    return ""


# -- integers beyond the range of a float


def has_large_integer(value: JSON) -> bool:
    """Return whether a JSON value is or contains an integer beyond +-(2**53 - 1)."""
    kind = type(value)
    if kind in NON_INTEGER_TYPES:
        return False
    if kind is int:
        return not -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER
    if isinstance(value, Mapping):
        return any(map(has_large_integer, value.values()))
    return isinstance(value, (list, tuple)) and any(map(has_large_integer, value))


def write_large_integers(document: Document, variables: dict[str, JSON]) -> dict[str, JSON]:
    """Return variables with large integers as text, except for types that take JSON numbers.

    Parameters
    ----------
    document
        The document that declares the variables. If its schema is known, the types of input fields
        are used; otherwise the declared type of the variable.
    variables
        Checked JSON values by name; they are not modified.

    Notes
    -----
    Int, Float, scalars of floats and of any JSON, and those with a `serialise` of
    :func:`gqlnb.scalar` keep numbers. For an unknown scalar text is the safe choice: a server that
    does not accept it returns an error, while one that rounds a number does so silently.
    """
    if not has_large_integer(variables):
        return variables
    converted = dict(variables)
    for name, node in document.variables.items():
        if name in converted:
            converted[name] = _write_typed(converted[name], get_declared_type(document, node))
    return converted


def describe_integer_forms(
    document: Document, variables: Mapping[str, JSON]
) -> Iterator[tuple[str, str, str]]:
    """Yield variables with integers of custom scalars, the scalar, and advice on the other form."""
    # Some servers take only numbers (graphique), others only text (CAP), and no schema says which.
    for name, node in document.variables.items():
        integers = _iter_integers(variables.get(name), get_declared_type(document, node))
        for scalar, is_text in dict.fromkeys(integers):
            sent, other, function = ("text", "numbers", "int")
            if not is_text:
                sent, other, function = ("numbers", "text", "str")
            yield (
                name,
                scalar,
                f"Integers of the scalar {scalar!r} were sent as {sent}. If the endpoint takes "
                f"only {other}: gqlnb.scalar({scalar!r}, serialise={function})",
            )


def _iter_integers(value: JSON, kind: InputKind) -> Iterator[tuple[str, bool]]:
    """Yield the custom scalar of each integer in a value, and whether the integer is text."""
    inner = _get_inner_type(kind)
    if inner is not None:
        for item in value if isinstance(value, (list, tuple)) else (value,):
            yield from _iter_integers(item, inner)
    elif isinstance(kind, GraphQLInputObjectType) and isinstance(value, Mapping):
        for name, item in value.items():
            if name in kind.fields:
                yield from _iter_integers(item, kind.fields[name].type)
    else:
        name = kind.name.value if isinstance(kind, NamedTypeNode) else str(kind)
        is_text = isinstance(value, str) and LARGE_INTEGER_TEXT.fullmatch(value) is not None
        if (is_text or type(value) is int) and name not in BUILT_IN_SCALARS:
            yield name, is_text


def read_large_integer(value: JSON) -> JSON:
    """Return the integer for text written by :func:`write_large_integers`; else the value."""
    is_text = isinstance(value, str) and LARGE_INTEGER_TEXT.fullmatch(value)
    return int(value) if is_text and has_large_integer(int(value)) else value


def _get_inner_type(kind: InputKind) -> InputKind:
    """Return the type that a list or a non-null type wraps; None for any other type."""
    if isinstance(kind, (GraphQLNonNull, GraphQLList)):
        return kind.of_type
    return kind.type if isinstance(kind, (NonNullTypeNode, ListTypeNode)) else None


def _write_typed(value: JSON, kind: InputKind) -> JSON:
    if not has_large_integer(value):
        return value
    inner = _get_inner_type(kind)
    if inner is not None:
        is_list = isinstance(kind, (ListTypeNode, GraphQLList))
        if is_list and isinstance(value, (list, tuple)):
            return [_write_typed(item, inner) for item in value]
        return _write_typed(value, inner)
    if isinstance(kind, GraphQLInputObjectType):
        fields = kind.fields
        return {
            name: _write_typed(item, fields[name].type) if name in fields else item
            for name, item in value.items()
        }
    if isinstance(kind, NamedTypeNode):
        keeps_numbers = scalars.takes_numbers(kind.name.value)
    else:
        like = ""
        if isinstance(kind, GraphQLScalarType):
            like = recognize_scalar(kind.name, kind.specified_by_url, kind.description)
        keeps_numbers = scalars.takes_numbers(kind.name, like)
    return value if keeps_numbers else _write_untyped(value)


def _write_untyped(value: JSON) -> JSON:
    if isinstance(value, Mapping):
        return {name: _write_untyped(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_write_untyped(item) for item in value]
    return str(value) if has_large_integer(value) else value
