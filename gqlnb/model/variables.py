"""Variables: Python values by name, turned into the JSON values a request carries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from math import isfinite
from pathlib import PurePath
from typing import TYPE_CHECKING, Any
from uuid import UUID

from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLNonNull,
    ListTypeNode,
    NamedTypeNode,
    NonNullTypeNode,
)
from graphql.execution.values import get_variable_values
from graphql.utilities import type_from_ast

from gqlnb.errors import Problem, QueryError, at, plain
from gqlnb.model import scalars, spans
from gqlnb.model.document import Document, problems, type_text
from gqlnb.model.upload import is_file

if TYPE_CHECKING:
    from graphql import VariableDefinitionNode

__all__ = ["bind", "check", "wire_value"]


class UnfitError(TypeError):
    """A value without a JSON form.

    Parameters
    ----------
    what
        What it is.
    advice
        What to give instead.

    Attributes
    ----------
    path
        Where it stands in the variable.
    """

    def __init__(self, what: str, advice: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.advice = advice
        self.path: tuple[str | int, ...] = ()

    def __str__(self) -> str:
        return f"{self.what}{at(self.path)} has no JSON form.{self.advice}"


def bind(document: Document, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the variables of a request: JSON-like values for the names the operation declares.

    Parameters
    ----------
    document
        The document whose operation declares them.
    given
        Python values by name, without the ``$``. Names the operation does not declare are left
        out, as the specification says; a mapping that fits no variable at all is a mistake.

    Raises
    ------
    QueryError
        If a required variable is missing or a value has no JSON form, as not-a-number and infinity
        have none; it names the variable and its type, never the value.

    Notes
    -----
    Values are turned into what their declared type is sent as: a day for a ``DateTime`` is its
    midnight in UTC, a decimal for a ``Float`` a number, and what :func:`gqlnb.scalar` says for a
    scalar of one's own, in lists too, and in input objects where the schema is known.
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
        If a value does not fit its type.
    """
    if document.schema is None or not document.variables:
        return
    found = get_variable_values(
        document.schema, document.operation.variable_definitions or (), variables
    )
    if isinstance(found, list):
        raise QueryError(text=document.text, problems=problems(found))


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
        return wire_value(_typed(value, node.type if kind is None else kind))
    except UnfitError as error:
        reason = str(error)
    except TypeError as error:  # said by the function of a scalar of one's own
        reason = plain(error, 200)
    except RecursionError:
        reason = "it is nested too deeply, or holds itself."
    msg = f"Variable '${name}' of type '{type_text(node)}': {reason}"
    raise QueryError(msg)


def _typed(value: Any, kind: Any) -> Any:
    """Return a value in the form of its declared type, a type of a schema or of a document."""
    if isinstance(kind, (NonNullTypeNode, GraphQLNonNull)):
        return _typed(value, kind.type if isinstance(kind, NonNullTypeNode) else kind.of_type)
    if value is None or is_file(value):
        return value
    if isinstance(kind, (ListTypeNode, GraphQLList)):
        inner = kind.type if isinstance(kind, ListTypeNode) else kind.of_type
        items = _of_numpy(value) if hasattr(value, "tolist") else value
        if isinstance(items, Iterable) and not isinstance(items, (str, bytes, Mapping)):
            return [_typed(item, inner) for item in items]
        return _typed(value, inner)
    if isinstance(kind, GraphQLInputObjectType):
        return _object(value, kind)
    name = kind.name.value if isinstance(kind, NamedTypeNode) else str(kind)
    if isinstance(value, Enum):
        value = _of_enum(value, name, kind)
    return value if _missing_value(value) else scalars.sent(name, value)


def _object(value: Any, kind: GraphQLInputObjectType) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        value = {each.name: getattr(value, each.name) for each in fields(value)}
    if not isinstance(value, Mapping):
        return value
    return {
        name: _typed(item, kind.fields[name].type) if name in kind.fields else item
        for name, item in value.items()
    }


def _of_enum(value: Enum, name: str, kind: Any) -> Any:
    """Return what a member of an enum is sent as: its name, or its value where that is meant."""
    if name in SCALARS:
        return value.value
    if isinstance(kind, GraphQLEnumType):
        if value.name not in kind.values and isinstance(value.value, str):
            return value.value if value.value in kind.values else value.name
        return value.name
    return value


def _missing_value(value: Any) -> bool:
    """Tell a missing value of pandas, without importing it."""
    return type(value).__name__ in {"NAType", "NaTType"}


def wire_value(value: Any) -> Any:
    """Return a Python value as a JSON-like one.

    Dates and times become ISO 8601 text, decimals and UUIDs text, enum members their names, NumPy
    and pandas scalars plain ones (NaT and NA null), arrays and Series lists, data classes objects.
    Files stay as they are: whoever carries them says how.

    Raises
    ------
    UnfitError
        If the value is none of these, or no finite number.
    RecursionError
        If it holds itself.
    """
    if value is None or type(value) in PLAIN:
        return value
    for kind, convert in KINDS:
        if isinstance(value, kind):
            return convert(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: member(f.name, getattr(value, f.name)) for f in fields(value)}
    if hasattr(value, "tolist"):  # NumPy scalars and arrays, pandas Series and Index
        return wire_value(_of_numpy(value))
    if _missing_value(value):
        return None
    return _gathered(value)


def _gathered(value: Any) -> Any:
    """Return an iterable as a list, and a file as it is."""
    if is_file(value):
        return value
    if isinstance(value, Iterable) and not isinstance(value, (bytes, bytearray)):
        return [member(index, item) for index, item in enumerate(value)]
    what = f"a {type(value).__name__}"
    raise UnfitError(what, advice(value))


def advice(value: Any) -> str:
    """Say what to give instead of bytes and paths, which are files perhaps."""
    if isinstance(value, (bytes, bytearray, PurePath)):
        return " To send a file, give gqlnb.Upload(...) of it."
    return ""


def _of_numpy(value: Any) -> Any:
    """Return what NumPy or pandas holds as plain values; of moments that have nanoseconds, text."""
    if getattr(getattr(value, "dtype", None), "kind", None) not in {"M", "m"}:
        return value.tolist()
    if getattr(value, "ndim", 0):
        return list(value)
    if value != value:  # noqa: PLR0124 - NaT alone differs
        return None
    return spans.text(spans.nanoseconds(value)) if value.dtype.kind == "m" else f"{value}"


def member(step: str | int, value: Any) -> Any:
    """Return a part of a value as a JSON-like one; where it has no form, the error says where."""
    try:
        return wire_value(value)
    except UnfitError as error:
        error.path = (step, *error.path)
        raise


def finite(value: float) -> float:
    """Return a number that JSON can hold.

    Raises
    ------
    UnfitError
        If it is not finite.
    """
    if isfinite(value):
        return value
    raise UnfitError(str(value), " Give None for null, or a finite number.")


def _moment(value: date | time) -> str | None:
    return value.isoformat() if value == value else None  # noqa: PLR0124 - NaT alone differs


PLAIN = frozenset({str, int, bool})
SCALARS = frozenset({"Int", "Float", "String", "Boolean", "ID"})
KINDS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (Enum, lambda value: value.name),
    (float, lambda value: finite(float(value))),
    ((date, time), _moment),
    (timedelta, lambda value: spans.text(spans.nanoseconds(value))),
    ((Decimal, UUID), str),
    (Mapping, lambda value: {str(key): member(str(key), item) for key, item in value.items()}),
    (str, str.__str__),  # subclasses of the plain kinds
    (int, int.__int__),
)
