"""Queries for one list of a schema: candidates among the fields, texts, and rows of answers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import msgspec
from graphql import (
    GraphQLError,
    get_named_type,
    get_nullable_type,
    is_composite_type,
    is_leaf_type,
    is_list_type,
    is_object_type,
    is_required_argument,
    parse,
    parse_value,
    print_ast,
)

from gqlnb.document.paging_conventions import (
    TOTAL_COUNTS,
    find_identifier,
    get_at_path,
    iterate_leaves,
)
from gqlnb.document.paging_plan import write_member
from gqlnb.document.suspect_lists import SIZE_WORDS, is_count_name, is_named_after

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from graphql import GraphQLField, GraphQLSchema

    from gqlnb.document.paging_conventions import ArgumentPath, NamedType

MAX_LEAVES = 40  # fields of a row
FIRST_SIZE = 10  # rows, where a size is required
LOOKUPS = frozenset({"node", "nodes", "_entities", "_service"})


class Reading(msgspec.Struct, frozen=True):
    """The rows of one answer.

    Attributes
    ----------
    ids
        The identity of each row.
    count
        The count beside them; None if there is none.
    info
        The values of ``pageInfo``.
    rows
        The rows; None if the answer has no list.
    """

    ids: list[str]
    count: int | None
    info: Mapping[str, Any]
    rows: list[Any] | None


@dataclass(slots=True, eq=False)
class ListQuery:
    """A field of the query type, or of an object that it returns, with a list.

    Attributes
    ----------
    name
        The field, behind the object around it.
    declared
        Its definition.
    steps
        The field names from the data to the list.
    row_type
        The type of the rows.
    has_edges
        Whether the rows are the nodes of edges.
    info_names
        The fields of ``pageInfo``; empty if it is no cursor connection.
    base
        The literals of required arguments.
    count_names
        The fields beside the list that may count its rows, dotted in an object for its pages.
    """

    name: str
    declared: GraphQLField
    steps: tuple[str, ...]
    row_type: NamedType
    has_edges: bool = False
    info_names: tuple[str, ...] = ()
    base: dict[ArgumentPath, str] = field(default_factory=dict)
    count_names: tuple[str, ...] = ()

    @property
    def is_wrapped(self) -> bool:
        """Whether the list is in an object that the field returns."""
        return len(self.steps) > self.name.count(".") + 1

    @property
    def leaves(self) -> dict[str, NamedType]:
        """The leaf fields of a row that need no arguments, with named types; identifier first."""
        leaves = {
            name: get_named_type(declared.type)
            for name, declared in getattr(self.row_type, "fields", {}).items()
            if is_leaf_type(get_named_type(declared.type))
            and not any(map(is_required_argument, declared.args.values()))
        }
        key = find_identifier(self.row_type)
        names = sorted(leaves, key=lambda name: name != key)[:MAX_LEAVES]
        return {name: leaves[name] for name in names}

    def write(self, values: Mapping[ArgumentPath, str] | None = None, *, nested: str = "") -> str:
        """Return the text of a query, with literals for arguments or members of them."""
        arguments: dict[str, str] = {}
        for path, text in {**self.base, **(values or {})}.items():
            name = str(path[0])
            node = parse_value(arguments[name]) if name in arguments else None
            arguments[name] = write_member(node, path[1:], text)
        body = f"{' '.join(self.leaves) or write_fragments(self.row_type)} {nested}".strip()
        text = self.write_field(", ".join(f"{k}: {v}" for k, v in arguments.items()), body)
        outer, _, name = self.name.rpartition(".")
        if outer:
            counts = () if self.is_wrapped else map(write_path, self.count_names)
            text = f"{outer} {{ {' '.join([text, *counts])} }}"
        return f"{{ {text} }}"

    def write_field(self, arguments: str, body: str) -> str:
        """Return the selection of the field, with selections of a row."""
        if self.has_edges:
            body = f"node {{ {body} }}"
        if self.is_wrapped:
            info = f" pageInfo {{ {' '.join(self.info_names)} }}" if self.info_names else ""
            counts = " ".join(map(write_path, self.count_names))
            body = f"{self.steps[-1]} {{ {body} }}{info} {counts}".strip()
        return f"{self.steps[-1 - self.is_wrapped]}{arguments and f'({arguments})'} {{ {body} }}"

    def find_nested(self) -> ListQuery | None:
        """Return the first list in the rows that needs no arguments; None if there is none."""
        lists = find_lists_of(getattr(self.row_type, "fields", {})).values()
        query = next((query for query in lists if not query.base), None)
        return None if query is None else replace(query, info_names=(), count_names=())

    @property
    def size_name(self) -> str | None:
        """The argument that is named like a size."""
        return next((it for it in self.declared.args if is_named_after(it, SIZE_WORDS)), None)

    def read(self, data: Any) -> Reading:  # noqa: ANN401 - JSON
        """Return the rows of an answer."""
        holder: dict[str, Any] = {}
        value = data
        for step in self.steps:
            holder = value if isinstance(value, dict) else {}
            value = holder.get(step)
        rows: list[Any] | None = value if isinstance(value, list) else None
        if self.has_edges and rows:
            rows = [row.get("node") if isinstance(row, dict) else row for row in rows]
        counts = [get_at_path(holder, tuple(name.split("."))) for name in self.count_names]
        count = next((each for each in counts if isinstance(each, int)), None)
        info = holder.get("pageInfo") if self.info_names else None
        key = find_identifier(self.row_type)
        return Reading([identify_row(row, key) for row in rows or ()], count, info or {}, rows)


def identify_row(row: object, key: str | None) -> str:
    """Return the identity of a row: its identifier, else all of it."""
    if isinstance(row, dict) and key is not None and row.get(key) is not None:
        return str(row[key])
    return msgspec.json.encode(row, order="sorted", enc_hook=str).decode()


def write_fragments(kind: NamedType) -> str:
    """Return the selections that identify rows of several types."""
    parts = ["__typename"]
    for member in getattr(kind, "types", ()):
        key = find_identifier(member)
        parts += [f"... on {member.name} {{ {key} }}"] if key is not None else []
    return " ".join(parts)


def find_list_queries(schema: GraphQLSchema) -> list[ListQuery]:
    """Return the lists that can be queried, those with arguments first.

    They are of the query type, and behind them of the objects that its fields return.
    """
    root = schema.query_type
    fields = root.fields if root is not None else {}
    queries = find_lists_of(fields)
    for name, declared in fields.items():
        kind = get_nullable_type(declared.type)
        is_plain = not any(map(is_required_argument, declared.args.values()))
        if is_object_type(kind) and kind is not root and is_plain and name not in queries:
            for key, query in find_lists_of(kind.fields).items():
                path, counts = f"{name}.{key}", query.count_names
                counts = counts if query.is_wrapped else find_count_names(kind, [key, name])
                steps = (name, *query.steps)
                queries[path] = replace(query, name=path, steps=steps, count_names=counts)
    return sorted(
        queries.values(), key=lambda it: ("." in it.name, not it.declared.args, len(it.base))
    )


def find_lists_of(fields: Mapping[str, GraphQLField]) -> dict[str, ListQuery]:
    """Return the queries of the fields of an object, by name."""
    built = {name: build_list_query(name, declared) for name, declared in fields.items()}
    return {name: query for name, query in built.items() if query is not None}


def parse_list(schema: GraphQLSchema, text: str) -> ListQuery:
    """Return the query for a field with arguments, as ``search(query: "a", type: USER)``.

    Raises
    ------
    ValueError
        If it is not a list of the query type.
    """
    try:
        operation: Any = parse(f"{{ {text} }}").definitions[0]
    except GraphQLError as error:
        raise ValueError(str(error)) from None
    selection = operation.selection_set.selections[0]
    name = selection.name.value
    declared = schema.query_type.fields.get(name) if schema.query_type is not None else None
    given: dict[ArgumentPath, str] = {
        (argument.name.value,): print_ast(argument.value) for argument in selection.arguments or ()
    }
    query = None if declared is None else build_list_query(name, declared, given)
    if query is None:
        msg = f"{name}: no list of the query type, or an argument is missing"
        raise ValueError(msg)
    return query


def build_list_query(
    name: str, declared: GraphQLField, given: Mapping[ArgumentPath, str] | None = None
) -> ListQuery | None:
    """Return the query for a field; None if it has no list, or needs unknown arguments.

    Parameters
    ----------
    name, declared
        The field.
    given
        The literals of arguments.
    """
    base = dict(given or {})
    for argument, definition in declared.args.items():
        if is_required_argument(definition) and (argument,) not in base:
            scalar = get_named_type(definition.type).name
            if scalar not in {"Int", "Float"} or not is_named_after(argument, SIZE_WORDS):
                return None
            base[(argument,)] = str(FIRST_SIZE)
    kind: NamedType = get_nullable_type(declared.type)
    row_type = get_named_type(kind)
    if name.startswith("__") or name in LOOKUPS or not is_composite_type(row_type):
        return None
    if is_list_type(kind):
        return ListQuery(name, declared, (name,), row_type, base=base)
    return build_wrapped_query(name, declared, kind, base) if is_object_type(kind) else None


def build_wrapped_query(
    name: str, declared: GraphQLField, kind: NamedType, base: dict[ArgumentPath, str]
) -> ListQuery | None:
    """Return the query for a list within an object: a connection, or rows beside a count."""
    lists = {
        inner: get_named_type(member.type)
        for inner, member in kind.fields.items()
        if is_list_type(get_nullable_type(member.type))
        and is_composite_type(get_named_type(member.type))
        and not member.args  # else it is a list of its own, behind this field
    }
    is_page = "pageInfo" in kind.fields or find_identifier(kind) is None  # else of its own
    if not lists or not is_page:
        return None
    info = kind.fields.get("pageInfo") if "after" in declared.args else None
    info_fields = getattr(get_named_type(getattr(info, "type", None)), "fields", {})
    info_names = tuple(name for name in ("hasNextPage", "endCursor") if name in info_fields)
    preferred = ("nodes", "edges") if info_names else ()
    step = next((each for each in preferred if each in lists), next(iter(lists)))
    node = getattr(lists[step], "fields", {}).get("node") if step == "edges" else None
    row_type = lists[step] if node is None else get_named_type(node.type)
    counts = find_count_names(kind, [step, name])
    return ListQuery(
        name, declared, (name, step), row_type, node is not None, info_names, base, counts
    )


def find_count_names(kind: NamedType, lists: Sequence[str]) -> tuple[str, ...]:
    """Return the fields of an object that are named like a count of one of its lists."""
    return tuple(
        ".".join(path)
        for path, _ in iterate_leaves(kind)
        if (path[-1] in TOTAL_COUNTS if path[1:] else is_count_name(path[0], lists))
    )


def write_path(name: str) -> str:
    """Return the selection of a dotted field."""
    names = name.split(".")
    return " { ".join(names) + " }" * (len(names) - 1)
