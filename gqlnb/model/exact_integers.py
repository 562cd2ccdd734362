"""Integers of variables that a JSON number does not carry to every server.

JavaScript servers read JSON numbers as 64-bit floats: 2**53 + 1 reaches their resolvers as 2**53,
without an error. The scalars of big numbers take text too: `BigInt` of graphql-scalars and
PostGraphile, `bigint` and `numeric` of Hasura, `Long` of graphql-java and HotChocolate.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from graphql import (
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLScalarType,
    ListTypeNode,
    NamedTypeNode,
    NonNullTypeNode,
    type_from_ast,
)

from gqlnb.model import scalars
from gqlnb.model.document import Document
from gqlnb.model.scalar_table import recognize

__all__ = ["has_large_integer", "read_large_integer", "write_large_integers"]

LARGEST = 2**53 - 1  # Number.MAX_SAFE_INTEGER of JavaScript; RFC 8259, section 6
PLAIN = frozenset({str, float, bool, type(None)})
DIGITS = re.compile(r"-?[1-9]\d{15,}")


def has_large_integer(value: Any) -> bool:
    """Return whether a JSON-like value is or holds an integer beyond +-(2**53 - 1)."""
    kind = type(value)
    if kind in PLAIN:
        return False
    if kind is int:
        return not -LARGEST <= value <= LARGEST
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
            made[name] = _write(made[name], node.type if kind is None else kind)
    return made


def read_large_integer(value: Any) -> Any:
    """Return the integer that is meant by text as :func:`write_large_integers` writes it.

    Anything else is returned as it is.
    """
    if isinstance(value, str) and DIGITS.fullmatch(value) and has_large_integer(int(value)):
        return int(value)
    return value


def _write(value: Any, kind: Any) -> Any:
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
            name: _write(item, fields[name].type) if name in fields else item
            for name, item in value.items()
        }
    else:
        return value if _takes_numbers(kind) else _write_all(value)
    if isinstance(kind, (ListTypeNode, GraphQLList)) and isinstance(value, (list, tuple)):
        return [_write(item, inner) for item in value]
    return _write(value, inner)


def _takes_numbers(kind: Any) -> bool:
    """Return whether values of a scalar are plain numbers of JSON, or any JSON."""
    if isinstance(kind, NamedTypeNode):
        return scalars.takes_numbers(kind.name.value)
    like = ""
    if isinstance(kind, GraphQLScalarType):
        like = recognize(kind.name, kind.specified_by_url, kind.description)
    return scalars.takes_numbers(kind.name, like)


def _write_all(value: Any) -> Any:
    """Return a value with text for all large integers in it."""
    if isinstance(value, Mapping):
        return {name: _write_all(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_write_all(item) for item in value]
    return str(value) if has_large_integer(value) else value
