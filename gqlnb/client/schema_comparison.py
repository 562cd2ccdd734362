"""The comparison of any two schemas, and of a schema with the documents that use it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from graphql import GraphQLError, is_interface_type, is_introspection_type, is_object_type

from gqlnb.client.client import Client, connect
from gqlnb.client.schema_diff import (
    SchemaChanges,
    compare_schemas,
    find_first_error,
    find_used_places,
    label_operation,
)
from gqlnb.client.schema_sources import is_path, read_schema
from gqlnb.errors import OptionError, QueryError, sanitize_text
from gqlnb.option_checks import explain_keywords

if TYPE_CHECKING:
    from collections.abc import Iterable

    from graphql import GraphQLSchema

FILE_ENDINGS = (".graphql", ".graphqls", ".gql", ".json", ".txt")


@explain_keywords
def diff(old: object, new: object, *, documents: Iterable[str] = ()) -> SchemaChanges:
    """Compare two schemas.

    Parameters
    ----------
    old, new
        Each of them SDL text; the path of a file with SDL or introspection JSON; an address or the
        name of a connection, whose endpoint is asked; a :class:`Client`; or a schema object that
        :meth:`Schema.adopt` takes.
    documents
        Texts of operations: the changes that touch them come first, and ``.broken`` names those
        that were valid and are not any more.

    Returns
    -------
    SchemaChanges
        ``.breaking``, ``.dangerous`` and ``.safe`` changes; ``.frame()`` has all of them. Breaking
        and dangerous changes are those of graphql-core, and of ``@oneOf``, ``@specifiedBy``,
        defaults and the types of operations; an input that loses its default and must be given
        is a breaking one. Safe ones are additions, deprecations, descriptions and narrower types
        of fields. Applied directives, such as ``@key``, are compared where both schemas are SDL.

    Raises
    ------
    SchemaError
        If one of them is not a schema.
    GqlnbError
        If an endpoint gave no schema.

    Examples
    --------
    >>> import gqlnb
    >>> changes = gqlnb.diff("type Query { a: Int b: Int }", "type Query { a: Int c: Int }")
    >>> [(change.severity, change.place) for change in changes]
    [('breaking', 'Query.b'), ('safe', 'Query.c')]
    """
    (before, first), (now, second) = load_schema(old), load_schema(new)
    texts = tuple(documents)
    return compare_schemas(before, now, texts, f"{first} to {second}", is_diff=True)


@explain_keywords
def unused_fields(schema: object, documents: Iterable[str]) -> list[str]:
    """List the fields of a schema that none of some documents selects.

    Parameters
    ----------
    schema
        A schema in any of the forms that :func:`diff` takes.
    documents
        Texts of operations, each with the fragments that it needs.

    Returns
    -------
    list of str
        Coordinates of fields, such as ``"Query.search"``, in the order of the schema. A field that
        is selected on an interface counts as selected on each type that implements it.

    Raises
    ------
    QueryError
        If a document is not valid for the schema.
    OptionError
        If `documents` is a single text.
    SchemaError
        If `schema` is not a schema.
    GqlnbError
        If an endpoint gave no schema.

    Examples
    --------
    >>> import gqlnb
    >>> sdl = "type Query { star: Star } type Star { name: String magnitude: Float }"
    >>> gqlnb.unused_fields(sdl, ["{ star { name } }"])
    ['Star.magnitude']
    """
    if isinstance(documents, (str, bytes)):
        msg = "documents= takes a list of texts, not a single text. Write [text]."
        raise OptionError(msg)
    loaded, _ = load_schema(schema)
    used: set[str] = set()
    for number, text in enumerate(documents):
        try:
            error = find_first_error(text, loaded)
        except GraphQLError as syntax_error:
            error = sanitize_text(syntax_error.message)
        if error:
            msg = f"documents[{number}], {label_operation(text)!r}, is not valid: {error}"
            raise QueryError(msg)
        used |= find_used_places(text, loaded)
    return [
        f"{kind.name}.{field}"
        for kind in loaded.type_map.values()
        if (is_object_type(kind) or is_interface_type(kind)) and not is_introspection_type(kind)
        for field in kind.fields
        if used.isdisjoint(f"{owner.name}.{field}" for owner in (kind, *kind.interfaces))
    ]


def load_schema(given: object) -> tuple[GraphQLSchema, str]:
    """Return a schema, and its name for messages."""
    if isinstance(given, Client):
        return given.schema, given.source
    # By its ending too, so that a missing file is reported as such, and not as an unknown
    # connection.
    if isinstance(given, os.PathLike) or (isinstance(given, str) and is_file_name(given)):
        return read_schema(Path(given)).graphql, sanitize_text(os.fspath(given), 60)
    if isinstance(given, str) and is_path(given):  # an address, or the name of a connection
        client = connect(given)
        return client.schema, client.source
    name = "the text" if isinstance(given, str) else "the schema"
    return read_schema(given).graphql, name


def is_file_name(text: str) -> bool:
    """Return whether text names a file and not a connection, an address or SDL."""
    return (
        is_path(text)
        and "://" not in text
        and (text.lower().endswith(FILE_ENDINGS) or Path(text).expanduser().is_file())
    )
