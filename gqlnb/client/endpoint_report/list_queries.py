"""The lists of a schema that a report may query, and the texts of the queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from graphql import (
    FieldNode,
    GraphQLError,
    get_named_type,
    get_nullable_type,
    is_composite_type,
    is_leaf_type,
    is_list_type,
    is_object_type,
    is_required_argument,
    parse,
    print_ast,
)

from gqlnb.document.document import Document
from gqlnb.document.paging_conventions import find_count, find_identifier
from gqlnb.document.suspect_lists import SIZE_WORDS, is_named_after

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphql import GraphQLField, GraphQLObjectType, GraphQLSchema

    from gqlnb.document.paging_conventions import NamedType

MAX_LEAVES = 40  # fields of a row
FIRST_SIZE = 10  # rows, where a size is required
# As in Relay, and as servers in Python write them.
PAGE_FLAGS = (
    *("hasNextPage: hasNextPage", "hasNextPage: has_next_page"),
    *("endCursor: endCursor", "endCursor: end_cursor"),
)


class ListQuery(NamedTuple):
    """A field of the query type, or of an object that it returns, with a list.

    Attributes
    ----------
    name
        The field, behind the object around it.
    declared
        Its definition.
    row_type
        The type of the rows.
    arguments
        The literals of its arguments.
    wrapper
        The field with the rows in the object that it returns; empty if it returns the list.
    has_edges
        Whether the rows are the nodes of edges.
    beside
        The selections beside the rows, or beside the field in the object around it.
    outer
        The text of the field around it, with its arguments; empty if it is of the query type.
    """

    name: str
    declared: GraphQLField
    row_type: NamedType
    arguments: Mapping[str, str]
    wrapper: str = ""
    has_edges: bool = False
    beside: str = ""
    outer: str = ""

    @property
    def leaves(self) -> dict[str, NamedType]:
        """The leaf fields of a row that need no arguments, with named types; identifier first."""
        leaves = {
            name: get_named_type(declared.type)
            for name, declared in getattr(self.row_type, "fields", {}).items()
            if is_leaf_type(get_named_type(declared.type)) and not needs_arguments(declared)
        }
        key = find_identifier(self.row_type)
        names = sorted(leaves, key=lambda name: name != key)[:MAX_LEAVES]
        return {name: leaves[name] for name in names}

    def write(self, body: str = "", directive: str = "") -> str:
        """Return the text of a query, with all leaves of a row or with other selections of it.

        A directive is written on the list.
        """
        name = self.name.rpartition(".")[2]
        body = body or " ".join(self.leaves) or write_fragments(self.row_type)
        if self.has_edges:
            body = f"node {{ {body} }}"
        if self.wrapper:
            body = f"{self.wrapper}{directive} {{ {body} }} {self.beside}"
        arguments = ", ".join(f"{name}: {value}" for name, value in self.arguments.items())
        head = f"{name}{arguments and f'({arguments})'}{'' if self.wrapper else directive}"
        text = f"{head} {{ {body} }}"
        if self.outer:
            text = f"{self.outer} {{ {text} {'' if self.wrapper else self.beside} }}"
        return f"{{ {text} }}"


def write_fragments(kind: NamedType) -> str:
    """Return the selections that identify rows of several types."""
    keys = {member.name: find_identifier(member) for member in getattr(kind, "types", ())}
    parts = [f"... on {name} {{ {key} }}" for name, key in keys.items() if key is not None]
    return " ".join(["__typename", *parts])


def find_list_queries(schema: GraphQLSchema) -> list[ListQuery]:
    """Return the lists that can be queried, those with arguments first.

    They are of the query type, and behind them of the objects that its fields return.
    """
    root, queries = schema.query_type, list[ListQuery]()
    for name, declared in root.fields.items() if root is not None else ():
        query, kind = build_list_query(name, declared), get_nullable_type(declared.type)
        if query is not None:
            queries.append(query)
        elif is_object_type(kind) and kind is not root and not needs_arguments(declared):
            inner = [build_list_query(*item) for item in kind.fields.items()]
            queries += [nest_list_query(it, name, name, kind) for it in inner if it is not None]
    return sorted(queries, key=lambda it: ("." in it.name, not it.declared.args, len(it.arguments)))


def nest_list_query(query: ListQuery, name: str, text: str, kind: GraphQLObjectType) -> ListQuery:
    """Return the query for a list of an object, which a field of the query type returns."""
    count = " { ".join(path := find_count(kind, {})) + " }" * (len(path) - 1)
    beside = query.beside if query.wrapper else count
    return query._replace(name=f"{name}.{query.name}", beside=beside, outer=text)


def needs_arguments(declared: GraphQLField) -> bool:
    """Return whether a field has a required argument."""
    return any(map(is_required_argument, declared.args.values()))


def parse_list(schema: GraphQLSchema, text: str) -> ListQuery:
    """Return the query for a field with arguments, as ``search(query: "a", type: USER)``.

    The list may be of an object: ``user(login: "a") { repositories }``.

    Raises
    ------
    ValueError
        If it is no list of the query type, or of an object that one of its fields returns.
    QueryError
        If an argument is not valid.
    """
    try:
        document = parse(text if text.lstrip().startswith("{") else f"{{ {text} }}")
    except GraphQLError as error:
        raise ValueError(error.message) from None
    operation: Any = document.definitions[0]
    outer = operation.selection_set.selections[0]
    query, declared = build_selected_query(schema.query_type, outer)
    kind = None if declared is None else get_nullable_type(declared.type)
    if query is None and is_object_type(kind) and outer.selection_set is not None:
        inner, _ = build_selected_query(kind, outer.selection_set.selections[0])
        head = print_ast(FieldNode(name=outer.name, arguments=outer.arguments))
        query = inner and nest_list_query(inner, outer.name.value, head, kind)
    if query is None:
        msg = (
            f"{print_ast(outer.name)}: no list of the query type, or an argument is missing; "
            'of an object it is written as `user(login: "a") { repositories }`'
        )
        raise ValueError(msg)
    Document.parse(query.write(), schema=schema)
    return query


def build_selected_query(
    kind: GraphQLObjectType | None, field: FieldNode
) -> tuple[ListQuery | None, GraphQLField | None]:
    """Return the query for a selected field of a type, and its definition."""
    declared = getattr(kind, "fields", {}).get(field.name.value)
    given = {it.name.value: print_ast(it.value) for it in field.arguments or ()}
    return declared and build_list_query(field.name.value, declared, given), declared


def build_list_query(
    name: str, declared: GraphQLField, given: Mapping[str, str] | None = None
) -> ListQuery | None:
    """Return the query for a field; None if it has no list, or needs unknown arguments.

    Parameters
    ----------
    name, declared
        The field.
    given
        The literals of arguments.
    """
    arguments = dict(given or {})
    for argument, definition in declared.args.items():
        if is_required_argument(definition) and argument not in arguments:
            is_number = get_named_type(definition.type).name in {"Int", "Float"}
            if not is_number or not is_named_after(argument, SIZE_WORDS):
                return None
            arguments[argument] = str(FIRST_SIZE)
    kind: NamedType = get_nullable_type(declared.type)
    row_type = get_named_type(kind)
    if name.startswith("__") or not is_composite_type(row_type):
        return None
    if is_list_type(kind):
        return ListQuery(name, declared, row_type, arguments)
    # A list within an object: a connection, or rows beside a count.
    fields = kind.fields if is_object_type(kind) else {}
    lists = {
        inner: get_named_type(member.type)
        for inner, member in fields.items()
        if is_list_type(get_nullable_type(member.type))
        and is_composite_type(get_named_type(member.type))
        and not member.args  # else it is a list of its own, behind this field
    }
    paging = "page_info" if "page_info" in fields else "pageInfo"
    if not lists or (paging not in fields and find_identifier(kind) is not None):
        return None
    info = get_named_type(fields[paging].type) if paging in fields else None
    known = getattr(info, "fields", {}) if "after" in declared.args else {}
    flags = " ".join(name for name in PAGE_FLAGS if name.partition(": ")[2] in known)
    step = next((it for it in ("nodes", "edges") if flags and it in lists), next(iter(lists)))
    node = getattr(lists[step], "fields", {}).get("node") if step == "edges" else None
    row_type = lists[step] if node is None else get_named_type(node.type)
    beside = f"pageInfo: {paging} {{ {flags} }}" if flags else ""
    return ListQuery(name, declared, row_type, arguments, step, node is not None, beside)
