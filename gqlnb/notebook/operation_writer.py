"""Operations written from a schema: paths to a type, first selections, variables to fill in."""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count
from textwrap import indent
from typing import TYPE_CHECKING, Any, NamedTuple

from graphql import (
    GraphQLField,
    get_named_type,
    get_nullable_type,
    is_abstract_type,
    is_composite_type,
    is_enum_type,
    is_input_object_type,
    is_leaf_type,
    is_list_type,
    is_required_argument,
    is_required_input_field,
    is_union_type,
)

from gqlnb.document.paged_fields import WRAPPER_NAMES
from gqlnb.document.paging_conventions import find_length_limit, find_page_arguments
from gqlnb.document.schema_text import find_type
from gqlnb.errors import TargetError
from gqlnb.notebook.completion.completion_list import write_placeholder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphql import GraphQLNamedType, GraphQLSchema

__all__ = ["Operation", "find_paths", "get_field", "write_operation", "write_selection"]

LABELS = ("name", "title", "login", "label", "code", "key", "id")  # fields that tell rows apart
SELECTED = 3  # fields of a first selection
PATHS = 5
PAGE_SIZE = 10
DEPTH = 4  # levels of wrappers, such as edges and node
NARROWING = 3.0  # a type condition costs as much as three fields: `node(id:)` leads to most types


class Operation(NamedTuple):
    """A written operation.

    Attributes
    ----------
    text
        Its text.
    variables
        A value for each variable, of the type of its argument.
    """

    text: str
    variables: dict[str, object]


def get_field(schema: GraphQLSchema, place: str) -> GraphQLField | None:
    """Return the field at a place; None for the place of a type.

    Raises
    ------
    TargetError
        If the schema has no such field or type.
    """
    owner, _, name = place.partition(".")
    kind: Any = find_type(schema, owner)
    if not name:
        return None
    field = getattr(kind, "fields", {}).get(name)
    if isinstance(field, GraphQLField):
        return field
    msg = f"{place} is not a field that can be selected."
    raise TargetError(msg)


def find_paths(schema: GraphQLSchema, target: str) -> list[tuple[str, ...]]:
    """Find the shortest paths from a field of the query type to a type.

    Parameters
    ----------
    schema
        The schema.
    target
        The name of the type.

    Returns
    -------
    list of tuples
        Up to five paths, the shortest first: places of fields (``"Query.search"``) and of type
        conditions (``"Repository"``).
    """
    find_type(schema, target)
    root = schema.query_type
    order, visits, found = count(), dict[str, int](), list[tuple[str, ...]]()
    # The cheapest first; a type is left at most five times, as no further path can be among those.
    waiting: list[tuple[float, int, Any, tuple[str, ...]]] = [(0.0, 0, root, ())]
    while waiting and len(found) < PATHS:
        cost, _, kind, path = heappop(waiting)
        visits[kind.name] = visits.get(kind.name, 0) + 1
        if kind.name == target and path:
            found.append(path)
        if visits[kind.name] > PATHS or (kind.name == target and path):
            continue
        seen = {place.partition(".")[0] for place in path}
        for name, field in getattr(kind, "fields", {}).items():
            inner: Any = get_named_type(field.type)
            usable = is_composite_type(inner) or inner.name == target
            if usable and inner.name not in seen and field.deprecation_reason is None:
                required = sum(map(is_required_argument, field.args.values()))
                step = (cost + 1 + required, next(order), inner, (*path, f"{kind.name}.{name}"))
                heappush(waiting, step)
        if is_abstract_type(kind):
            for inner in schema.get_possible_types(kind):
                if inner.name not in seen:
                    heappush(waiting, (cost + NARROWING, next(order), inner, (*path, inner.name)))
    return found


def write_selection(schema: GraphQLSchema, place: str) -> str:
    """Write a field with its required arguments and a first selection, or a type condition."""
    return _Writer(schema, place.split()).write_step(0, None)


def write_operation(schema: GraphQLSchema, path: Sequence[str]) -> Operation:
    """Write an operation that selects the end of a path, with variables for required arguments.

    Parameters
    ----------
    schema
        The schema.
    path
        As of :func:`find_paths`; one that begins below the root is completed by the shortest path.

    Raises
    ------
    TargetError
        If no path leads there, or a step of it does not exist.
    """
    roots = {
        kind.name: word
        for word in ("query", "mutation", "subscription")
        if (kind := getattr(schema, f"{word}_type")) is not None
    }
    steps = list(path[1:] if path and path[0] in roots else path)
    owner = steps[0].partition(".")[0] if steps else ""
    if steps and owner not in roots:
        before = find_paths(schema, owner)
        if not before:
            msg = f"No field of the query type leads to {owner}."
            raise TargetError(msg)
        steps = [*before[0], *(steps if "." in steps[0] else steps[1:])]
        owner = steps[0].partition(".")[0]
    if not steps:
        msg = "Choose a field of the schema."
        raise TargetError(msg)
    variables: dict[str, tuple[str, object]] = {}
    body = _Writer(schema, steps).write_step(0, variables)
    declared = ", ".join(f"${name}: {kind}" for name, (kind, _) in variables.items())
    head = f"{roots[owner]} ({declared})" if declared else roots[owner]
    text = f"{head} {{\n{indent(body, '  ')}\n}}"
    return Operation(text, {name: value for name, (_, value) in variables.items()})


class _Writer:
    """Writes the selections along a path."""

    def __init__(self, schema: GraphQLSchema, path: Sequence[str]) -> None:
        self._schema, self._path = schema, path
        self._types = {place.partition(".")[0].casefold() for place in path}

    def write_step(self, at: int, variables: dict[str, tuple[str, object]] | None) -> str:
        """Write a step of the path with all below it; arguments as literals without `variables`."""
        place = self._path[at]
        field = get_field(self._schema, place)
        if field is None:
            head, kind = f"... on {place}", find_type(self._schema, place)
        else:
            head = place.partition(".")[2] + self._write_arguments(field, variables)
            kind = get_named_type(field.type)
        if at + 1 == len(self._path):
            return join_block(head, self._select(kind, DEPTH))
        lines = [self.write_step(at + 1, variables)]
        # What tells the rows apart, unless it is selected anyway.
        label = next(iter(find_leaves(kind, labels_only=True)), "")
        taken = self._path[at + 1].partition(".")[2]
        return join_block(head, [label, *lines] if label not in ("", taken) else lines)

    def _write_arguments(
        self, field: GraphQLField, variables: dict[str, tuple[str, object]] | None
    ) -> str:
        ways = find_page_arguments(field, {})
        limit = find_length_limit(field, {})
        sizes = [way.size for way in (*ways, limit) if way is not None and len(way.size) == 1]
        size = sizes[0][0] if sizes else None
        parts = []
        for name, argument in field.args.items():
            if name == size:
                parts.append(f"{name}: {PAGE_SIZE}")
            elif not is_required_argument(argument):
                continue
            elif variables is None:
                parts.append(f"{name}: {write_placeholder(argument.type)}")
            else:
                variable, number = name, count(2)
                while variable in variables:
                    variable = f"{name}{next(number)}"
                variables[variable] = str(argument.type), self._choose_value(argument.type)
                parts.append(f"{name}: ${variable}")
        return f"({', '.join(parts)})" if parts else ""

    def _choose_value(self, expected: Any) -> object:  # noqa: ANN401 - any input type
        """Return a value for a variable, such as the one of an enum that names a type ahead."""
        inner: Any = get_nullable_type(expected)
        if is_list_type(inner):
            return []
        if is_enum_type(inner):
            names = list(inner.values)
            return next((it for it in names if it.casefold() in self._types), names[0])
        if is_input_object_type(inner):
            fields = inner.fields.items()
            return {
                name: self._choose_value(field.type)
                for name, field in fields
                if is_required_input_field(field)
            }
        return {"Int": 1, "Float": 1.0, "Boolean": False}.get(str(inner), "")

    def _select(self, kind: GraphQLNamedType, depth: int) -> list[str]:
        """Return the lines of a first selection of a type; empty for scalars and enums."""
        if is_leaf_type(kind) or not depth:
            return [] if is_leaf_type(kind) else ["__typename"]
        fields: dict[str, GraphQLField] = getattr(kind, "fields", {})
        wrapped = next((name for name in ("nodes", *fields) if is_wrapper(name, fields)), None)
        if wrapped is not None:
            field = fields[wrapped]
            head = wrapped + self._write_arguments(field, None)
            return [join_block(head, self._select(get_named_type(field.type), depth - 1))]
        if is_union_type(kind):
            return self._select_members(kind)
        return find_leaves(kind) or self._select_inner(fields, depth)

    def _select_inner(self, fields: dict[str, GraphQLField], depth: int) -> list[str]:
        """Select the first object of a type without leaves, such as an edge of a list."""
        for name, field in fields.items():
            if not any(map(is_required_argument, field.args.values())):
                return [join_block(name, self._select(get_named_type(field.type), depth - 1))]
        return ["__typename"]

    def _select_members(self, kind: Any) -> list[str]:  # noqa: ANN401 - a union
        """Select fields of each member; of one name and several types only the first."""
        lines, types = ["__typename"], dict[str, str]()
        for member in self._schema.get_possible_types(kind):
            names = [
                name
                for name in find_leaves(member)
                if types.setdefault(name, str(member.fields[name].type))
                == str(member.fields[name].type)
            ]
            lines += [join_block(f"... on {member.name}", names)] if names else []
        return lines


def is_wrapper(name: str, fields: dict[str, GraphQLField]) -> bool:
    """Return whether a field holds the rows of a page, such as ``nodes`` and ``edges``."""
    field = fields.get(name)
    if field is None:
        return False
    if name == "node":
        return "cursor" in fields
    inner = get_nullable_type(field.type)
    is_rows = is_list_type(inner) and is_composite_type(get_named_type(inner))
    return name in WRAPPER_NAMES and is_rows


def find_leaves(kind: GraphQLNamedType, *, labels_only: bool = False) -> list[str]:
    """Return the names of the first scalar fields of a type that need no argument."""
    fields: dict[str, GraphQLField] = getattr(kind, "fields", {})
    leaves = [
        name
        for name, field in fields.items()
        if is_leaf_type(get_nullable_type(field.type))
        and field.deprecation_reason is None
        and not any(map(is_required_argument, field.args.values()))
    ]
    labels = [name for name in LABELS if name in leaves]
    return labels[:SELECTED] if labels or labels_only else leaves[:SELECTED]


def join_block(head: str, lines: Sequence[str]) -> str:
    """Write a selection set below its field, if it has one."""
    inner = indent("\n".join(lines), "  ")
    return f"{head} {{\n{inner}\n}}" if lines else head
