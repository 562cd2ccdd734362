"""The fields of a document whose lists come in pages.

A connection is recognised by the shape of the "GraphQL Cursor Connections Specification":
``pageInfo`` beside ``edges`` of ``node``, or ``nodes``, in a field that takes ``after`` or
``before``. Other lists are recognised by the paging arguments that the schema declares for them
(:mod:`gqlnb.document.paging_conventions`). Without a schema the names in the text decide.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from graphql import (
    VariableNode,
    get_named_type,
    get_nullable_type,
    is_composite_type,
    is_list_type,
    print_ast,
    value_from_ast_untyped,
)

from gqlnb.document.paging_conventions import (
    GUESSED_LOOKUP,
    TOTAL_FIELDS,
    Lookup,
    PageArguments,
    PageInfoPaths,
    find_length_limit,
    find_lookup,
    find_page_arguments,
    find_page_info,
)
from gqlnb.document.selections import (
    EditableSelection,
    group_by_key,
    iterate_fields,
    parse_selections,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from gqlnb.document.document import Document
    from gqlnb.document.selections import HiddenFields

__all__ = [
    "PLAIN_LIST_STEP",
    "Anchor",
    "ItemList",
    "PagedField",
    "PagedFieldFinder",
    "get_type_name",
]

FORWARD_FIELDS = ("hasNextPage", "endCursor")
BACKWARD_FIELDS = ("hasPreviousPage", "startCursor")
PLAIN_LIST_STEP = ""  # the step from a plain list to its items, in the place of `nodes`


class ItemList(NamedTuple):
    """A list of a paged field's items.

    Attributes
    ----------
    key
        The response name of ``edges`` or ``nodes``; `PLAIN_LIST_STEP` where the field itself is the list.
    node
        That of ``node`` in an edge; None where the items are the nodes.
    ids
        Those of the node's identifier; empty where there is none.
    cursor
        That of the edge's cursor; None where it is not selected.
    edge_fields
        Those of the edge's other fields: the same node may stand in edges that differ.
    is_wrapper
        Whether its name says nothing about its items, as ``edges`` and ``nodes``.
    typename
        That of the node's ``__typename``, where nodes of several types may have the same id.
    """

    key: str
    node: str | None = None
    ids: tuple[str, ...] = ()
    cursor: str | None = None
    edge_fields: tuple[str, ...] = ()
    is_wrapper: bool = True
    typename: str | None = None


@dataclass(slots=True, eq=False)
class Anchor:
    """An object that can be asked for again, and the selections on it.

    Attributes
    ----------
    depth
        How many of the paged field's steps lead to it.
    selections
        The selections on it.
    on
        Its type; empty where its ``__typename`` must say.
    lookup
        The root field that returns it again.
    keys
        For each argument of the lookup, the response names that may hold its value.
    typename
        That of its ``__typename``; empty where `on` is known.
    """

    depth: int
    selections: list[EditableSelection]
    on: str
    lookup: Lookup
    keys: tuple[tuple[str, ...], ...] = ()
    typename: str = ""


@dataclass(slots=True, eq=False)
class PagedField:
    """A field of a document whose list comes in pages.

    Attributes
    ----------
    name
        Its dotted name, as :meth:`gqlnb.Result.frame` takes it.
    outer
        The paged field in whose items it stands; None for the data.
    steps
        Response names from there: from the outer field's page, or the data.
    selections
        The selections of the field; several of one name are merged.
    arguments
        How its pages are asked for.
    items
        Its lists.
    info
        Where a page says whether there is more.
    page_infos
        The response names of the ``pageInfo`` in the text.
    total
        The path to the count of all items; empty where it is not selected.
    counted
        Whether the text itself selects the count.
    backward
        Whether its pages go from the last one to the first.
    rooted
        Whether no list stands between the data and it, as far as is known.
    anchor
        The innermost object around it that can be asked for again; None if there is none.
    hidden
        The fields of a page that we added.
    followed
        Whether its further pages are asked for.
    is_connection
        Whether it has the shape of a cursor connection.
    """

    name: str
    outer: PagedField | None
    steps: tuple[str, ...]
    selections: list[EditableSelection]
    arguments: PageArguments
    items: list[ItemList] = field(default_factory=list)
    info: PageInfoPaths = field(default_factory=PageInfoPaths)
    page_infos: tuple[str, ...] = ()
    total: tuple[str, ...] = ()
    counted: bool = False
    backward: bool = False
    rooted: bool = False
    anchor: Anchor | None = None
    hidden: HiddenFields | None = None
    followed: bool = True
    is_connection: bool = False

    @property
    def kind(self) -> str:
        """How its pages are asked for: ``"cursor"``, ``"offset"``, ``"page"`` or ``"none"``."""
        return self.arguments.kind

    @property
    def depth(self) -> int:
        """How many paged fields it stands in."""
        return 0 if self.outer is None else self.outer.depth + 1

    @property
    def info_names(self) -> tuple[str, str]:
        """The fields of ``pageInfo`` that say whether there is more, and from where."""
        return BACKWARD_FIELDS if self.backward else FORWARD_FIELDS

    @property
    def is_plain(self) -> bool:
        """Whether the field itself is the list."""
        return any(each.key == PLAIN_LIST_STEP for each in self.items)


class SearchPosition(NamedTuple):
    """A place in the document while paged fields are searched."""

    outer: PagedField | None
    steps: tuple[str, ...]
    name: tuple[str, ...]
    listed: bool = False
    anchor: Anchor | None = None


class PagedFieldFinder:
    """Finds the paged fields of a document.

    Parameters
    ----------
    document
        A query.
    variables
        Its JSON-like variables.

    Attributes
    ----------
    selections
        Its selections.
    fields
        Its paged fields, outer ones before inner ones.
    unfollowed
        For the dotted name of each field that takes paging arguments, while nothing tells how its
        lists go on: the name of the argument.
    """

    def __init__(self, document: Document, variables: Mapping[str, Any] | None = None) -> None:
        self.document = document
        self.unfollowed: dict[str, str] = {}
        self._variables = dict(variables or {})
        self.schema = document.schema
        self.selections = parse_selections(document)
        self.fields: list[PagedField] = []
        self._lookups: dict[Any, Lookup | None] = {}
        root = None if self.schema is None else self.schema.query_type
        self._search(self.selections, root, SearchPosition(None, (), ()))

    def get_lookup(self, kind: Any) -> Lookup | None:
        """Return how objects of a type are asked for again; None if they cannot be."""
        if self.schema is None:
            return GUESSED_LOOKUP
        if kind not in self._lookups:
            self._lookups[kind] = find_lookup(self.schema, kind)
        return self._lookups[kind]

    def _search(
        self, selections: list[EditableSelection], kind: Any, place: SearchPosition
    ) -> None:
        """Find the paged fields in the selections of an object."""
        for key, pieces in group_by_key(selections).items():
            first = pieces[0]
            inner = [each for piece in pieces for each in piece.inner or ()]
            if self.schema is not None and first.declared is None:
                continue  # introspection
            name = place.name if _is_wrapper_step(place, key) else (*place.name, key)
            made = self._build_paged_field(pieces, inner, place, ".".join(name), key)
            if made is None and not inner:
                continue
            anchor = self._find_anchor(selections, kind, pieces, len(place.steps)) or place.anchor
            if made is not None:
                made.anchor = anchor
                self.fields.append(made)
                below = SearchPosition(made, (PLAIN_LIST_STEP,) if made.is_plain else (), name)
            else:
                lists = first.declared is not None and _is_list(first.declared.type)
                steps = (*place.steps, key)
                around = None if lists else anchor  # no object stands above a list alone
                below = SearchPosition(place.outer, steps, name, place.listed or lists, around)
            if inner:
                found = len(self.fields)
                self._search_below(pieces, below)
                if made is None:
                    self._record_unfollowed(".".join(name), first, inner, self.fields[found:])

    def _record_unfollowed(
        self,
        name: str,
        first: EditableSelection,
        inner: list[EditableSelection],
        found: list[PagedField],
    ) -> None:
        """Note a field with paging arguments whose lists are not recognised as its pages."""
        if first.declared is None:
            return
        inner = [each for each in inner if not _is_beside_edges(first, each)]
        position = next((way.position for way in self._find_page_arguments(first)), None)
        paged = {id(each) for field in found for each in field.selections}
        if position is not None and _has_other_lists(inner, paged):
            self.unfollowed[name] = ".".join(position)

    def _search_below(self, pieces: list[EditableSelection], place: SearchPosition) -> None:
        """Search a field; several selections of it are one."""
        whole = pieces[0].inner or []
        if len(pieces) > 1:
            whole = [
                EditableSelection(inner=each.inner, on=get_type_name(each.kind), kind=each.kind)
                for each in pieces
            ]
        self._search(whole, pieces[0].kind if len(pieces) == 1 else None, place)

    # -- recognising

    def _build_paged_field(
        self,
        pieces: list[EditableSelection],
        inner: list[EditableSelection],
        place: SearchPosition,
        name: str,
        key: str,
    ) -> PagedField | None:
        """Return a field as a paged field; None if its list, if any, does not come in pages."""
        first = pieces[0]
        connection = self._recognize_connection(first, inner)
        described = connection or self._recognize_other_list(first, inner)
        if described is None:
            return None
        arguments, items, info = described
        made = PagedField(name, place.outer, (*place.steps, key), pieces, arguments, items, info)
        made.rooted = place.outer is None and not place.listed
        made.is_connection = connection is not None
        made.backward = arguments.position == ("before",)
        by_key = group_by_key(inner)
        made.page_infos = tuple(k for k, p in by_key.items() if p[0].name == "pageInfo")
        counts = {p[0].name: k for k, p in by_key.items() if not p[0].inner}
        others = [each for each in counts if each.endswith("Count")]
        total = next((counts[each] for each in (*TOTAL_FIELDS, *others) if each in counts), None)
        made.total = () if total is None or made.is_plain else (total,)
        made.counted = bool(made.total)
        return made

    def _recognize_connection(
        self, first: EditableSelection, inner: list[EditableSelection]
    ) -> tuple[PageArguments, list[ItemList], PageInfoPaths] | None:
        """Return how a cursor connection is read; None if the field is none."""
        if not inner or (first.declared is not None and _is_list(first.declared.type)):
            return None
        by_key = group_by_key(inner)
        items = list(self._iterate_connection_items(first, by_key))
        if not items or not self._is_connection(first, by_key):
            return None
        given = first.arguments.keys()
        backward = "first" not in given and bool({"last", "before"} & given)
        cursor_type, sized = "String", True
        if first.declared is not None:
            declared = first.declared.args
            backward = backward or "after" not in declared
            position, size = ("before", "last") if backward else ("after", "first")
            cursor_type = str(get_nullable_type(declared[position].type))
            sized = size in declared
        else:
            position, size = ("before", "last") if backward else ("after", "first")
            if isinstance(first.arguments.get(position), VariableNode):
                node = self.document.variables.get(first.arguments[position].name.value)
                cursor_type = "String" if node is None else print_ast(node.type).rstrip("!")
        made = PageArguments("cursor", (position,), cursor_type, (size,) if sized else ())
        return made, items, PageInfoPaths()

    def _iterate_connection_items(
        self, first: EditableSelection, by_key: Mapping[str, list[EditableSelection]]
    ) -> Iterator[ItemList]:
        for key, pieces in by_key.items():
            below = group_by_key(each for piece in pieces for each in piece.inner or ())
            if pieces[0].name == "nodes" or _has_nodes(first, pieces[0]):
                yield ItemList(key, is_wrapper=pieces[0].name == "nodes")
            elif pieces[0].name == "edges" and (below or self.schema is not None):
                node = next((k for k, p in below.items() if p[0].name == "node"), None)
                cursor = next((k for k, p in below.items() if p[0].name == "cursor"), None)
                own = tuple(k for k in below if k not in (node, cursor))
                yield ItemList(key, node, (), cursor, own)

    def _is_connection(
        self, first: EditableSelection, by_key: Mapping[str, list[EditableSelection]]
    ) -> bool:
        names = {pieces[0].name for pieces in by_key.values()}
        if first.declared is None:
            said = {"first", "last", "after", "before"} & first.arguments.keys()
            edges = next((p for p in by_key.values() if p[0].name == "edges"), [])
            within = {each.name for p in edges for each, _ in iterate_fields(p.inner or ())}
            return bool(said) or "pageInfo" in names or "node" in within
        fields = getattr(first.kind, "fields", {})
        info = fields.get("pageInfo")
        known = getattr(get_named_type(info.type), "fields", {}) if info is not None else {}
        arguments = first.declared.args
        lists = all(_is_list(fields[name].type) for name in names & {"edges", "nodes"})
        forward = "after" in arguments and set(FORWARD_FIELDS) <= known.keys()
        return lists and (
            forward or ("before" in arguments and set(BACKWARD_FIELDS) <= known.keys())
        )

    def _recognize_other_list(
        self, first: EditableSelection, inner: list[EditableSelection]
    ) -> tuple[PageArguments, list[ItemList], PageInfoPaths] | None:
        """Return how a list with other paging arguments is read; None if the field is none."""
        declared = first.declared
        if declared is None:
            named = find_named_arguments(first.arguments)
            return None if named is None else (named, [ItemList(PLAIN_LIST_STEP)], PageInfoPaths())
        ways = self._find_page_arguments(first)
        bound = find_length_limit(declared, self._read_arguments(first))
        if _is_list(declared.type):
            way = next((each for each in ways if each.kind in {"offset", "page"}), bound)
            return None if way is None else (way, [ItemList(PLAIN_LIST_STEP)], PageInfoPaths())
        paged = is_composite_type(first.kind) and bool(ways or bound)
        lists = [
            (key, pieces[0])
            for key, pieces in group_by_key(inner).items()
            if paged and pieces[0].declared is not None and _is_list(pieces[0].declared.type)
        ]
        objects = [each for each in lists if each[1].inner] or lists
        if len(objects) != 1:
            return None
        key = objects[0]
        if key[1].declared.args.keys() & {"after", "before"} or _is_beside_edges(first, key[1]):
            return None  # a connection of its own; groups, which are about all items
        items = [ItemList(key[0], is_wrapper=key[1].name in WRAPPER_NAMES)]
        for way in ways:
            info = find_page_info(first.kind, way)
            if info is not None:
                return way, items, info
        return None if bound is None else (bound, items, PageInfoPaths())

    def _find_page_arguments(self, first: EditableSelection) -> list[PageArguments]:
        """Return the ways to ask for pages that a field's arguments offer."""
        return list(find_page_arguments(first.declared, self._read_arguments(first)))

    def _read_arguments(self, selection: EditableSelection) -> dict[str, Any]:
        """Return the JSON-like values of a field's arguments in the text."""
        return {
            name: value_from_ast_untyped(node, self._variables)
            for name, node in selection.arguments.items()
        }

    # -- objects that can be asked for again

    def _find_anchor(
        self,
        selections: list[EditableSelection],
        kind: Any,
        pieces: list[EditableSelection],
        depth: int,
    ) -> Anchor | None:
        """Return the object around a field as an anchor, if it can be asked for again."""
        if not depth:
            return None
        if self.schema is None:
            if not all(each.name or each.on or each.directives for each in selections):
                return None  # several selections of one field
            keys = [k for k, p in group_by_key(selections).items() if p[0].name == k == "id"]
            return Anchor(depth, selections, "", GUESSED_LOOKUP, (tuple(keys),)) if keys else None
        scopes = list(self.iterate_scopes(selections, kind, pieces))
        if not scopes or any(each is None for each in scopes):
            return None
        lookup = scopes[0][1] if scopes[0] is not None else None
        if lookup is None or any(each is not None and each[1] != lookup for each in scopes):
            return None
        return Anchor(depth, selections, get_type_name(kind), lookup)

    def iterate_scopes(
        self, selections: list[EditableSelection], kind: Any, pieces: Iterable[EditableSelection]
    ) -> Iterator[tuple[list[EditableSelection], Lookup] | None]:
        """Yield for each field the outermost selections around it on a type with a lookup."""
        wanted = {id(each) for each in pieces}
        for found, around in iterate_fields(selections):
            if id(found) in wanted:
                scopes = [(kind, selections), *((each.kind, each.inner or []) for each in around)]
                yield next(
                    (
                        (inner, lookup)
                        for type_, inner in scopes
                        if type_ is not None and (lookup := self.get_lookup(type_)) is not None
                    ),
                    None,
                )


# Names of the list in an object that holds a page.
WRAPPER_NAMES = frozenset(
    {"items", "results", "data", "nodes", "edges", "entries", "rows", "list", "docs", "records"}
    | {"content", "objects", "values", "hits", "elements"}
)


def find_named_arguments(given: Mapping[str, Any]) -> PageArguments | None:
    """Return the paging arguments of a field of unknown type, by the names in the text."""
    sizes = ("limit", "first", "take", "perPage", "pageSize", "per_page", "page_size")
    size = next(((name,) for name in sizes if name in given), ())
    for name in ("offset", "skip"):
        if name in given:
            return PageArguments("offset", (name,), "Int", size)
    return PageArguments("page", ("page",), "Int", size) if "page" in given and size else None


def _is_wrapper_step(place: SearchPosition, key: str) -> bool:
    """Return whether a response name only leads from a paged field to its rows."""
    steps = tuple(each for each in place.steps if each != PLAIN_LIST_STEP)
    if place.outer is None or len(steps) > 1 or place.outer.is_plain:
        return False
    if not steps:
        return any(each.key == key and each.is_wrapper for each in place.outer.items)
    return any((each.key, each.node) == (steps[0], key) for each in place.outer.items)


def _has_nodes(connection: EditableSelection, piece: EditableSelection) -> bool:
    """Return whether a list beside the edges holds their nodes, as SWAPI's `films`."""
    if piece.declared is None or not _is_list(piece.declared.type):
        return False
    edges = getattr(connection.kind, "fields", {}).get("edges")
    node = getattr(get_named_type(edges.type), "fields", {}).get("node") if edges else None
    return node is not None and get_named_type(node.type) is piece.kind


def _is_beside_edges(connection: EditableSelection, piece: EditableSelection) -> bool:
    """Return whether a list stands in a cursor connection, and does not hold its items."""
    fields = getattr(connection.kind, "fields", {})
    if not {"edges", "pageInfo"} <= fields.keys() or piece.name in {"edges", "nodes", ""}:
        return False
    return not _has_nodes(connection, piece)


def _has_other_lists(selections: Iterable[EditableSelection], paged: set[int]) -> bool:
    """Return whether selections have a list of objects that does not come in pages of its own."""
    for each in selections:
        if id(each) in paged:
            continue
        listed = each.declared is not None and _is_list(each.declared.type)
        if each.inner and (listed or _has_other_lists(each.inner, paged)):
            return True
    return False


def _is_list(kind: Any) -> bool:
    return bool(is_list_type(get_nullable_type(kind)))


def get_type_name(kind: Any) -> str:
    """Return the name of a type; an empty string where it is not known."""
    return "" if kind is None else str(kind)
