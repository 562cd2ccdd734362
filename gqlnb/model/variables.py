"""Variables: Python values by name, turned into the JSON values a request carries."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from graphql import NonNullTypeNode
from graphql.execution.values import get_variable_values
from graphql.utilities import type_from_ast

from gqlnb.errors import Problem, QueryError, plain
from gqlnb.model import scalars
from gqlnb.model.document import Document, type_text
from gqlnb.model.exact_integers import has_large_integer
from gqlnb.model.input_coercion import BUILT_IN, MisfitError, coerce_input, is_row
from gqlnb.model.records import read_table
from gqlnb.model.upload import is_file
from gqlnb.model.variable_errors import describe_errors
from gqlnb.model.wire_values import UnfitError

if TYPE_CHECKING:
    from graphql import VariableDefinitionNode

__all__ = ["bind", "check", "check_names", "depends_on_types", "needs_schema"]


def bind(document: Document, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the variables of a request: JSON-like values for the names the operation declares.

    Parameters
    ----------
    document
        The document whose operation declares them.
    given
        Python values by name, without the ``$``. Names the operation does not declare are left
        out, as the specification says; :func:`check_names` finds misspelled ones.

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
        _missing(name, node, given)
        for name, node in declared.items()
        if name not in given and isinstance(node.type, NonNullTypeNode) and not node.default_value
    ]
    if missing:
        raise QueryError(text=document.text, problems=missing)
    return {
        name: _wire(name, node, given[name], document)
        for name, node in declared.items()
        if name in given
    }


def check(document: Document, variables: dict[str, Any]) -> None:
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


def check_names(document: Document, given: Mapping[str, Any] | None) -> None:
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
    shown = ", ".join(f"${plain(name, 40)}" for name in names[:5])
    meant = ", ".join(f"${name}" for name in dict.fromkeys(near.values()))
    said = f"Did you mean {meant}?" if near else ""
    listed = ", ".join(f"${name}: {type_text(node)}" for name, node in declared.items())
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
        and named_type(node) not in BUILT_IN
        and not scalars.is_known(named_type(node))
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


def named_type(node: VariableDefinitionNode) -> str:
    """Return the name of a variable's type without lists and non-null wrappers."""
    kind: Any = node.type
    while not hasattr(kind, "name"):
        kind = kind.type
    return str(kind.name.value)


def _missing(name: str, node: VariableDefinitionNode, given: Mapping[str, Any]) -> Problem:
    message = f"Variable '${name}' of required type '{type_text(node)}' was not provided."
    hint = f"Given: {', '.join('$' + str(key) for key in given)}." if given else None
    if node.loc is None:
        return Problem(message, hint=hint)
    place = node.loc.start_token
    return Problem(message, place.line, place.column, hint)


def _wire(name: str, node: VariableDefinitionNode, value: Any, document: Document) -> Any:
    kind: Any = None
    if document.schema is not None:
        kind = type_from_ast(document.schema, node.type)
    try:
        return coerce_input(value, node.type if kind is None else kind)
    except (MisfitError, UnfitError) as error:
        reason = str(error)
    except TypeError as error:  # raised by the function of a custom scalar
        reason = plain(error, 200)
    except RecursionError:
        reason = "it is nested too deeply, or holds itself."
    msg = f"Variable '${name}' of type '{type_text(node)}': {reason}"
    raise QueryError(msg)
