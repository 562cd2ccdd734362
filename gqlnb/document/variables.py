"""Variables: Python values by name, turned into the JSON values a request carries."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
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
    type_from_ast,
)
from graphql.execution.values import get_variable_values

from gqlnb.document import scalars
from gqlnb.document.document import Document, build_problems, format_variable_type
from gqlnb.document.input_coercion import (
    BUILT_IN_SCALARS,
    CELL_CHECKS,
    CoercionError,
    NoJsonFormError,
    coerce_input,
    describe_unknown_fields,
    has_default,
    is_row,
    join_names,
)
from gqlnb.document.input_records import read_table
from gqlnb.document.known_scalars import recognize_scalar
from gqlnb.document.upload import is_file
from gqlnb.errors import Problem, QueryError, describe_path, sanitize_text

if TYPE_CHECKING:
    from graphql import VariableDefinitionNode

__all__ = [
    "HIDES_VALUES",
    "bind_variables",
    "check_variable_names",
    "check_variables",
    "depends_on_types",
    "describe_errors",
    "has_large_integer",
    "needs_schema",
    "read_large_integer",
    "write_large_integers",
]


def bind_variables(document: Document, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the variables of a request: JSON-like values for the names the operation declares.

    Parameters
    ----------
    document
        The document whose operation declares them.
    given
        Python values by name, without the ``$``. Names the operation does not declare are left
        out, as the specification says; :func:`check_variable_names` finds misspelled ones.

    Raises
    ------
    QueryError
        If a required variable is missing or a value has no JSON form, as not-a-number and infinity
        have none; it names the variable and its type, never the value.

    Notes
    -----
    Values are turned into what their declared type is sent as: a day for a ``DateTime`` is its
    midnight in UTC, a decimal for a ``Float`` a number, and what :func:`gqlnb.scalar` says for a
    scalar of one's own, in lists too, and in input objects where the schema is known. Rows of
    tables, models and data classes are input objects; NaN, NaT and NA in them are null.
    """
    if not given and not document.variables:
        return {}
    given = {} if given is None else given
    if not isinstance(given, Mapping):
        msg = f"variables must be a mapping of names; got {type(given).__name__}."
        raise QueryError(msg)
    declared = document.variables
    missing = [
        _build_missing_problem(name, node, given)
        for name, node in declared.items()
        if name not in given and isinstance(node.type, NonNullTypeNode) and not node.default_value
    ]
    if missing:
        raise QueryError(text=document.text, problems=missing)
    return {
        name: _coerce_variable(name, node, given[name], document)
        for name, node in declared.items()
        if name in given
    }


def check_variables(document: Document, variables: dict[str, Any]) -> None:
    """Check JSON-like values against the declared types, where the schema is known.

    Raises
    ------
    QueryError
        If a value does not fit its type; the message never holds the value.
    """
    if document.schema is None or not document.variables:
        return
    found = get_variable_values(
        document.schema, document.operation.variable_definitions or (), variables
    )
    if isinstance(found, list):
        raise QueryError(text=document.text, problems=describe_errors(document, variables, found))


def check_variable_names(document: Document, given: Mapping[str, Any] | None) -> None:
    """Check that no given name is a misspelling of a declared variable.

    The specification has names ignored that are not declared. A variable that was given under a
    wrong name would then silently be null, or its default.

    Raises
    ------
    QueryError
        If a name is not declared and is like that of a declared variable that was not given, or if
        variables are declared and none of the names given is one of them.
    """
    declared = document.variables
    if not isinstance(given, Mapping) or all(name in declared for name in given):
        return
    absent = [name for name in declared if name not in given]
    unknown = [str(name) for name in given if name not in declared]
    near = {
        name: found[0] for name in unknown if (found := difflib.get_close_matches(name, absent, 1))
    }
    if not near and not (declared and len(absent) == len(declared)):
        return
    names = list(near) or unknown
    shown = ", ".join(f"${sanitize_text(name, 40)}" for name in names[:5])
    meant = ", ".join(f"${name}" for name in dict.fromkeys(near.values()))
    said = f"Did you mean {meant}?" if near else ""
    listed = ", ".join(f"${name}: {format_variable_type(node)}" for name, node in declared.items())
    msg = f"The operation does not declare {shown}. {said}".rstrip()
    msg = f"{msg} It declares {listed}."
    raise QueryError(msg)


def needs_schema(document: Document, given: Mapping[str, Any] | None) -> bool:
    """Return whether values can be converted rightly only with the schema.

    These are rows, tables, models and large integers whose declared type the document only names:
    the types of the fields say what becomes of NaN, of 3.0 in a column of integers, of a date, and
    of an integer that a float does not hold.
    """
    if document.schema is not None or not isinstance(given, Mapping):
        return False
    return any(
        name in given
        and get_type_name(node) not in BUILT_IN_SCALARS
        and not scalars.is_known(get_type_name(node))
        and depends_on_types(given[name])
        for name, node in document.variables.items()
    )


def depends_on_types(value: Any) -> bool:
    """Return whether the JSON form of a value may depend on the types of input fields."""
    return is_structured(value) or has_large_integer(value)


def is_structured(value: Any) -> bool:
    """Return whether a value, or the first item of a list, is a table, a row or a model."""
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return bool(value) and is_structured(value[0])
    if value is None or isinstance(value, (str, int, float, bytes, dict)) or is_file(value):
        return False
    return read_table(value) is not None or is_row(value)


def get_type_name(node: VariableDefinitionNode) -> str:
    """Return the name of a variable's type without lists and non-null wrappers."""
    kind: Any = node.type
    while not hasattr(kind, "name"):
        kind = kind.type
    return str(kind.name.value)


def _build_missing_problem(
    name: str, node: VariableDefinitionNode, given: Mapping[str, Any]
) -> Problem:
    message = (
        f"Variable '${name}' of required type '{format_variable_type(node)}' was not provided."
    )
    hint = f"Given: {', '.join('$' + str(key) for key in given)}." if given else None
    if node.loc is None:
        return Problem(message, hint=hint)
    place = node.loc.start_token
    return Problem(message, place.line, place.column, hint)


def _coerce_variable(
    name: str, node: VariableDefinitionNode, value: Any, document: Document
) -> Any:
    kind: Any = None
    if document.schema is not None:
        kind = type_from_ast(document.schema, node.type)
    try:
        return coerce_input(value, node.type if kind is None else kind)
    except (CoercionError, NoJsonFormError) as error:
        reason = str(error)
    except TypeError as error:  # raised by the function of a custom scalar
        reason = sanitize_text(error, 200)
    except RecursionError:
        reason = "it is nested too deeply, or holds itself."
    msg = f"Variable '${name}' of type '{format_variable_type(node)}': {reason}"
    raise QueryError(msg)


HIDES_VALUES = "hides_values"  # of a parser: its errors never hold the value
Path = tuple[str | int, ...]
Fault = tuple[Path, str]
MAX_FAULTS = 50  # errors told; graphql-core stops there too
# Messages of graphql-core that hold no value: the name and the type of a variable alone.
VALUE_FREE_MESSAGE = re.compile(
    r"Variable '\$\w+' of (?:required|non-null) type '[^']*' (?:was not provided|must not be null)"
    r"\.|Variable '\$\w+' expected value of type '[^']*' which cannot be used as an input type\."
    r"|Variable '\$\w+' has invalid value: Expected a value of non-null type '[^']*' to be"
    r" provided\."
)
KIND_WORDS = {
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
        if error not in about or VALUE_FREE_MESSAGE.fullmatch(error.message):
            told += build_problems([error])
    harmful = [error for error in about if not VALUE_FREE_MESSAGE.fullmatch(error.message)]
    if not harmful:
        return told
    found: list[Problem] = []
    for name, node in document.variables.items():
        kind: Any = type_from_ast(document.schema, node.type) if document.schema else None
        if name not in variables or kind is None or not is_input_type(kind):
            continue
        for path, reason in find_faults(variables[name], kind):
            message = f"Variable '${name}' has invalid value{describe_path(path)}: {reason}"
            found.append(locate_problem(message, node))
            if len(found) == MAX_FAULTS:
                break
    return [*told, *(found or map(describe_vaguely, harmful))]


def describe_vaguely(error: GraphQLError) -> Problem:
    """Return an error that the rules here do not account for, without its reason."""
    name = error.message.partition("'")[2].partition("'")[0]
    message = f"Variable '{sanitize_text(name, 80)}' has invalid value: it does not fit its type."
    place = error.locations[0] if error.locations else None
    return Problem(message) if place is None else Problem(message, place.line, place.column)


def locate_problem(message: str, node: VariableDefinitionNode) -> Problem:
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
        yield path, describe_unknown_fields("the object", unknown, kind)
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
        names = join_names([*kind.values], 12)
        return f"Enum '{kind.name}' cannot represent {what}. It has {names}."
    if kind.name in BUILT_IN_SCALARS:
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
    return KIND_WORDS.get(type(value), f"a {type(value).__name__}")


MAX_SAFE_INTEGER = 2**53 - 1  # Number.MAX_SAFE_INTEGER of JavaScript; RFC 8259, section 6
NON_INTEGER_TYPES = frozenset({str, float, bool, type(None)})
LARGE_INTEGER_TEXT = re.compile(r"-?[1-9]\d{15,}")


def has_large_integer(value: Any) -> bool:
    """Return whether a JSON-like value is or holds an integer beyond +-(2**53 - 1)."""
    kind = type(value)
    if kind in NON_INTEGER_TYPES:
        return False
    if kind is int:
        return not -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER
    if isinstance(value, Mapping):
        return any(map(has_large_integer, value.values()))
    return isinstance(value, (list, tuple)) and any(map(has_large_integer, value))


def write_large_integers(document: Document, variables: dict[str, Any]) -> dict[str, Any]:
    """Return variables with text for large integers, where their declared type is no plain number.

    Parameters
    ----------
    document
        The document that declares them. Where its schema is known, the fields of input objects have
        their types; otherwise the declared type of the variable decides for all in it.
    variables
        JSON-like values by name, checked; they are not changed.

    Notes
    -----
    Int, Float, scalars of floats and of any JSON, and those with a `serialise` of
    :func:`gqlnb.scalar` keep numbers. For a scalar that is not known text is the safe choice: a
    server that does not take it says so, while one that rounds a number says nothing.
    """
    if not has_large_integer(variables):
        return variables
    schema = document.schema
    made = dict(variables)
    for name, node in document.variables.items():
        if name in made:
            kind: Any = None if schema is None else type_from_ast(schema, node.type)
            made[name] = _write_typed(made[name], node.type if kind is None else kind)
    return made


def read_large_integer(value: Any) -> Any:
    """Return the integer that is meant by text as :func:`write_large_integers` writes it.

    Anything else is returned as it is.
    """
    if (
        isinstance(value, str)
        and LARGE_INTEGER_TEXT.fullmatch(value)
        and has_large_integer(int(value))
    ):
        return int(value)
    return value


def _write_typed(value: Any, kind: Any) -> Any:
    """Return a value with text for the large integers that belong to a type, or to one in it."""
    if not has_large_integer(value):
        return value
    if isinstance(kind, (NonNullTypeNode, ListTypeNode)):
        inner = kind.type
    elif isinstance(kind, (GraphQLNonNull, GraphQLList)):
        inner = kind.of_type
    elif isinstance(kind, GraphQLInputObjectType):
        fields = kind.fields
        return {
            name: _write_typed(item, fields[name].type) if name in fields else item
            for name, item in value.items()
        }
    else:
        return value if _takes_numbers(kind) else _write_untyped(value)
    if isinstance(kind, (ListTypeNode, GraphQLList)) and isinstance(value, (list, tuple)):
        return [_write_typed(item, inner) for item in value]
    return _write_typed(value, inner)


def _takes_numbers(kind: Any) -> bool:
    """Return whether values of a scalar are plain numbers of JSON, or any JSON."""
    if isinstance(kind, NamedTypeNode):
        return scalars.takes_numbers(kind.name.value)
    like = ""
    if isinstance(kind, GraphQLScalarType):
        like = recognize_scalar(kind.name, kind.specified_by_url, kind.description)
    return scalars.takes_numbers(kind.name, like)


def _write_untyped(value: Any) -> Any:
    """Return a value with text for all large integers in it."""
    if isinstance(value, Mapping):
        return {name: _write_untyped(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_write_untyped(item) for item in value]
    return str(value) if has_large_integer(value) else value
