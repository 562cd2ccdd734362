"""Lists of plain rows as columns, for answers of which only frames are read.

Reading them runs no code of the user, and no value is collected that graphql-core would refuse: if
a row or a value is of another kind, the caller executes the list row by row, as if nothing was
read.
"""

from __future__ import annotations

from functools import lru_cache
from inspect import getattr_static
from math import isfinite
from operator import itemgetter
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any

from graphql import (
    GRAPHQL_MAX_INT,
    GraphQLEnumType,
    GraphQLFloat,
    GraphQLID,
    GraphQLInt,
    GraphQLObjectType,
    GraphQLResolveInfo,
    GraphQLScalarType,
    get_nullable_type,
    is_leaf_type,
)

from gqlnb.engine.compiler.function_writer import is_identifier
from gqlnb.engine.compiler.python_types import DICT, OBJECT
from gqlnb.engine.compiler.source_writer import list_enum_names
from gqlnb.engine.graphql_compat import PLAIN_TYPES, SERIALIZERS, get_serializer
from gqlnb.result.column_batch import MIN_BATCH_ROWS, ColumnBatch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gqlnb.engine.compiler.plans import FieldPlan, SelectionPlan
    from gqlnb.engine.compiler.resolve_info import LazyPath

CHUNK_ROWS = 4_000  # read column by column: they fit into the processor's cache
NUMBERS = {GraphQLInt: int, GraphQLFloat: float}
NULL = type(None)
ENUM_TYPES = frozenset({str, int, NULL})  # of values whose hash runs no code
# The descriptors of slots and of the members of named tuples.
SLOT_TYPES = frozenset({MemberDescriptorType, type(GraphQLResolveInfo.path)})


class NotPlainError(Exception):
    """A row or a value that is not plain."""


def is_batch(rows: Sequence[Any], path: LazyPath) -> bool:
    """Return whether a list is long enough for columns, and not in an item of another list."""
    if len(rows) < MIN_BATCH_ROWS:
        return False
    while path is not None and type(path[1]) is str:
        path = path[0]
    return path is None


def collect_columns(rows: Sequence[Any], selection: SelectionPlan) -> ColumnBatch | None:
    """Return the completed rows of a list as columns; None if one is not plain."""
    first, *others = range(0, len(rows), CHUNK_ROWS)
    try:
        batch = collect_chunk(rows[first : first + CHUNK_ROWS], selection)
        for start in others:
            batch.append(collect_chunk(rows[start : start + CHUNK_ROWS], selection))
    except (NotPlainError, AttributeError, KeyError, ValueError):  # missing members, long numbers
        return None
    return batch


def collect_chunk(rows: Sequence[Any], selection: SelectionPlan) -> ColumnBatch:
    """Return the columns of some rows."""
    classes = set(map(type, rows))
    cls = classes.pop()
    # Null and exceptions are no objects, even if nothing is read from them.
    usual = selection.plan.cache.type_kinds[cls] in (DICT, OBJECT)
    if classes or selection.conditions or not usual:
        raise NotPlainError
    members = {field.name: collect_member(rows, cls, field) for field in selection.fields}
    return ColumnBatch(len(rows), members)


def collect_member(rows: Sequence[Any], cls: type, field: FieldPlan) -> list[Any] | ColumnBatch:
    """Return a completed field of some rows, which are of one class."""
    if field.field_name == "__typename":
        return [field.parent.name] * len(rows)
    kind: Any = get_nullable_type(field.type)
    if not field.direct and field.attribute is None:
        raise NotPlainError
    if is_leaf_type(kind):
        return complete_leaves(read_member(rows, cls, field), kind, field)
    selection = None
    if isinstance(kind, GraphQLObjectType) and kind.is_type_of is None:
        selection = field.find_selection_below(kind)
    if selection is None:
        raise NotPlainError
    return collect_chunk(read_member(rows, cls, field), selection)


def read_member(rows: Sequence[Any], cls: type, field: FieldPlan) -> list[Any]:
    """Return an attribute or a key of all rows, if reading it runs no code."""
    name = field.attribute or field.field_name
    if cls is dict and field.attribute is None:
        return [*map(itemgetter(name), rows)]
    found = getattr_static(cls, name, None)  # a property, or a method, which would be called
    computed = hasattr(type(found), "__get__") and type(found) not in SLOT_TYPES
    if computed or not is_identifier(name):
        raise NotPlainError
    return compile_reader(name)(rows)


@lru_cache(1_000)
def compile_reader(name: str) -> Callable[[Sequence[Any]], list[Any]]:
    """Return a function that reads an attribute of all rows; the name must be an identifier."""
    # Python remembers where it found an attribute in a comprehension, and not for `attrgetter`.
    space: dict[str, Any] = {}
    exec(f"def read(rows): return [row.{name} for row in rows]", space)  # noqa: S102
    return space["read"]  # type: ignore[no-any-return]


def complete_leaves(
    values: list[Any], kind: GraphQLScalarType | GraphQLEnumType, field: FieldPlan
) -> list[Any]:
    """Return serialized values."""
    types = set(map(type, values))
    has_null = NULL in types
    if has_null and kind is not field.type:
        raise NotPlainError
    types.discard(NULL)
    serializer = get_serializer(kind)
    if isinstance(kind, GraphQLEnumType):
        if types <= ENUM_TYPES:
            names: dict[Any, str | None] = {**list_enum_names(kind), None: None}
            return [names[value] for value in values]
    elif kind in NUMBERS:
        present = [value for value in values if value is not None] if has_null else values
        same = serializer is SERIALIZERS[kind] and types <= {NUMBERS[kind]}
        if same and is_in_range(present, kind):
            return values
    elif kind is GraphQLID and field.exact is not None and types == {int}:
        return [None if value is None else str(value) for value in values]
    elif types <= (PLAIN_TYPES if serializer is GraphQLScalarType.serialize else {field.exact}):
        return values
    raise NotPlainError


def is_in_range(numbers: list[Any], kind: GraphQLScalarType) -> bool:
    """Return whether numbers are valid for Int or Float."""
    if kind is GraphQLFloat:
        return isfinite(sum(numbers))
    least, most = min(numbers, default=0), max(numbers, default=0)
    return bool(-GRAPHQL_MAX_INT <= least <= most <= GRAPHQL_MAX_INT)
