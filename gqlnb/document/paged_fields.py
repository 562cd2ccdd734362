"""Recognition of the paged fields of a document.

A connection is recognised by the fields of the "GraphQL Cursor Connections Specification":
``pageInfo`` with ``edges`` of ``node``, or ``nodes``, in a field with an argument ``after`` or
``before``. Other lists are recognised by the paging arguments in the schema
(:mod:`gqlnb.document.paging_conventions`). Without a schema the names in the document are used.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from graphql import (
    get_named_type,
    get_nullable_type,
    is_abstract_type,
    is_composite_type,
    is_object_type,
)
from msgspec.structs import replace

from gqlnb.document.paging_conventions import (
    GUESSED_LOOKUP,
    TOTAL_COUNTS,
    TOTAL_FIELDS,
    Lookup,
    PageArguments,
    PageInfoPaths,
    find_length_limit,
    find_lookup,
    find_page_arguments,
    find_page_info,
    is_given,
    is_list,
)
from gqlnb.document.selections import (
    EditableSelection,
    NamedType,
    find_pieces,
    get_owner,
    group_by_key,
    iterate_fields,
    iterate_variables,
    merge_defaults,
    parse_selections,
    read_values,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from gqlnb.document.document import Document
    from gqlnb.document.json_codec import JSON
    from gqlnb.document.selections import HiddenFields

FORWARD_FIELDS = ("hasNextPage", "endCursor")
BACKWARD_FIELDS = ("hasPreviousPage", "startCursor")
PLAIN_LIST_STEP = ""  # stands for `nodes` if the field itself is a list


class ItemList(NamedTuple):
    """A list of items in a paged field.

    Attributes
    ----------
    key
        The response name of ``edges`` or ``nodes``; `PLAIN_LIST_STEP` if the field is the list.
    node
        The response name of ``node`` in an edge; None if the items are the nodes.
    ids
        The response names of the node's identifier; empty if it has none.
    cursor
        The response name of the edge's cursor; None if it is not selected.
    edge_fields
        The response names of the edge's other fields; edges with the same node may differ in them.
    is_wrapper
        Whether the name does not describe the items, such as ``edges`` and ``nodes``.
    typename
        The response name of ``__typename``, if nodes of several types may have the same id.
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
    """An object around a paged field that can be fetched again by its key.

    Attributes
    ----------
    depth
        The number of the paged field's steps that lead to the object.
    selections
        The selections on the object.
    on
        The type of the object; empty if only its ``__typename`` tells.
    lookup
        The root field that returns the object.
    keys
        For each argument of the lookup, the response names that may have its value.
    typename
        The response name of ``__typename``; empty if `on` is known.
    scopes
        The selections in which the key is selected: of each fragment that leads to the list, those
        on the type of the object.
    """

    depth: int
    selections: list[EditableSelection]
    on: str
    lookup: Lookup
    keys: tuple[tuple[str, ...], ...] = ()
    typename: str = ""
    scopes: Sequence[list[EditableSelection]] = ()


@dataclass(slots=True, eq=False)
class PagedField:
    """A field of a document with a paged list.

    Attributes
    ----------
    name
        The dotted path, as for :meth:`gqlnb.Result.frame`.
    outer
        The paged field whose items contain this field; None for the data.
    steps
        The response names from the page of the outer field, or from the data.
    selections
        The selections of the field; several with one response name are merged.
    carriers
        The selections with the arguments: `selections`, or those of a field around it.
    pages
        The selections with the fields of a page: `selections`, or the fragments on one type of
        their union or interface.
    arguments
        The paging arguments.
    items
        The lists of items.
    info
        The paths of the fields that describe a page.
    page_infos
        The response names of ``pageInfo`` in the document.
    total
        The path of the total count; empty if it is not selected.
    counted
        Whether the document itself selects the total count, in the object of the page.
    is_outermost
        Whether no list is known between the data and the field.
    anchor
        The innermost object around the field that can be fetched again, or None.
    hidden
        The fields of a page that were added to the document.
    followed
        Whether further pages are requested.
    is_kept
        Whether the list is complete with the size that the document gives.
    is_connection
        Whether the field is a cursor connection.
    has_separate_lists
        Whether `items` are different lists of one page, such as ``media`` and ``users``, and not
        two forms of one list, such as ``edges`` and ``nodes``.
    beside
        The response names of the lists in a page that are not continued.
    is_bounded
        Whether the document limits a connection at its end, with `before` beside `first`.
    last_row
        The response names that lead to a page with the last row; empty if it was not added.
    """

    name: str
    outer: PagedField | None
    steps: tuple[str, ...]
    selections: list[EditableSelection]
    pages: list[EditableSelection]
    arguments: PageArguments
    items: list[ItemList] = field(default_factory=list)
    info: PageInfoPaths = field(default_factory=PageInfoPaths)
    page_infos: tuple[str, ...] = ()
    total: tuple[str, ...] = ()
    counted: bool = False
    is_outermost: bool = False
    anchor: Anchor | None = None
    hidden: HiddenFields = field(default_factory=dict)
    followed: bool = True
    is_kept: bool = False
    carriers: list[EditableSelection] = field(default_factory=list)
    is_connection: bool = False
    has_separate_lists: bool = False
    beside: tuple[str, ...] = ()
    is_bounded: bool = False
    last_row: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """The kind of paging: ``"cursor"``, ``"offset"``, ``"page"`` or ``"none"``."""
        return self.arguments.kind

    @property
    def backward(self) -> bool:
        """Whether the pages are requested from the last one to the first."""
        return self.arguments.position == ("before",)

    @property
    def depth(self) -> int:
        """The number of paged fields around this one."""
        return 0 if self.outer is None else self.outer.depth + 1

    @property
    def info_names(self) -> tuple[str, str]:
        """The fields of ``pageInfo`` for the existence and the cursor of the next page."""
        return BACKWARD_FIELDS if self.backward else FORWARD_FIELDS

    @property
    def may_lack_lists(self) -> bool:
        """Whether the field may return an object of a type without the lists."""
        return self.pages is not self.selections and not any(p.directives for p in self.pages)

    @property
    def is_plain(self) -> bool:
        """Whether the field itself is the list."""
        return any(each.key == PLAIN_LIST_STEP for each in self.items)


class ListRole(NamedTuple):
    """The paging of a list as experiments found it.

    Attributes
    ----------
    arguments
        The arguments.
    cursor
        For pages by cursor, the response names that lead to the cursor.
    is_cursor_of_row
        Whether they begin at the last row of a page.
    holder
        The response names that lead from the field with the arguments to the object with the list.
    """

    arguments: PageArguments
    cursor: tuple[str, ...] = ()
    is_cursor_of_row: bool = False
    holder: tuple[str, ...] = ()


class SearchPosition(NamedTuple):
    """A position in the document during the search for paged fields."""

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
        The JSON values of its variables.
    takes_unpaged
        Whether a root field that is a list, and takes variables, is taken for one that cannot be
        continued if it has no arguments for pages, and there are no others.
    roles
        How lists are paged that no convention tells, by the type and the name of their field, as
        experiments found; None without experiments, so that names decide about more lists.

    Attributes
    ----------
    selections
        The selections of the query.
    fields
        The paged fields, outer ones before inner ones.
    unfit_roles
        The keys of the roles of lists for which the document gives other arguments for pages.
    """

    def __init__(
        self,
        document: Document,
        variables: Mapping[str, JSON] | None = None,
        *,
        takes_unpaged: bool = False,
        roles: Mapping[tuple[str, str], ListRole] | None = None,
    ) -> None:
        self.document = document
        self._takes_unpaged, self._roles = False, roles
        self._variables = merge_defaults(document, variables)
        self.schema = document.schema
        self.selections = parse_selections(document)
        self.fields: list[PagedField] = []
        self.unfit_roles: set[tuple[str, str]] = set()
        self._lookups: dict[NamedType, Lookup | None] = {}
        root = None if self.schema is None else self.schema.query_type
        self._search(self.selections, root, SearchPosition(None, (), ()))
        if takes_unpaged and not self.fields:
            self._takes_unpaged = True
            self._search(self.selections, root, SearchPosition(None, (), ()))

    def get_lookup(self, kind: NamedType) -> Lookup | None:
        """Return the lookup of objects of a type, or None."""
        if self.schema is None:
            return GUESSED_LOOKUP
        if kind not in self._lookups:
            self._lookups[kind] = find_lookup(self.schema, kind)
        return self._lookups[kind]

    def _search(
        self, selections: list[EditableSelection], kind: NamedType, place: SearchPosition
    ) -> None:
        """Find the paged fields in the selections of an object."""
        for key, carriers in group_by_key(selections).items():
            first = carriers[0]
            if self.schema is not None and first.declared is None:
                continue  # introspection
            if _is_single_group(first):
                continue
            name = place.name if _is_wrapper_step(place, key) else (*place.name, key)
            role, pieces = self._find_role(selections, carriers, kind)
            inner = [below for piece in pieces for below in piece.inner or ()]
            rest = () if role is None else role.holder
            name, steps = (*name, *rest), (*place.steps, key, *rest)
            anchor = self._find_anchor(selections, kind, carriers, len(place.steps)) or place.anchor
            here = place._replace(anchor=anchor)
            made = self._build_paged_field(pieces, inner, here, ".".join(name), steps, role)
            if made is None and not inner:
                continue
            if made is not None:
                made.carriers = carriers
                self.fields.append(made)
                below = SearchPosition(made, (PLAIN_LIST_STEP,) if made.is_plain else (), name)
            else:
                lists = first.declared is not None and is_list(first.declared.type)
                steps = (*place.steps, key)
                around = None if lists else anchor  # the items of a list need lookups of their own
                below = SearchPosition(place.outer, steps, name, place.listed or lists, around)
            if inner:
                self._search_below(pieces, below)

    def _find_role(
        self,
        selections: list[EditableSelection],
        carriers: list[EditableSelection],
        kind: NamedType,
    ) -> tuple[ListRole | None, list[EditableSelection]]:
        """Return the role of a field that experiments found, and the selections with its list."""
        coordinate = get_owner(selections, carriers[0], kind), carriers[0].name
        role = None if self._roles is None else self._roles.get(coordinate)
        if role is not None and not self._fits(role.arguments, carriers[0]):
            self.unfit_roles.add(coordinate)
        if role is None or not role.holder:
            return role, carriers
        inner = [below for piece in carriers for below in piece.inner or ()]
        pieces = find_pieces(inner, role.holder)
        return (role, pieces) if pieces else (None, carriers)  # another query, without that list

    def _fits(self, arguments: PageArguments, first: EditableSelection) -> bool:
        """Return whether a document gives no other arguments for pages than those of a role."""
        given = self.read_arguments(first)
        ways = [] if first.declared is None else find_page_arguments(first.declared, given)
        paths = {path for way in ways for path in (way.position, way.size) if path}
        paths -= {arguments.position, arguments.size}
        return not any(is_given(path, given) for path in paths)

    def _search_below(self, pieces: list[EditableSelection], place: SearchPosition) -> None:
        """Search the selections of a field, merged if there are several."""
        if len(pieces) == 1:
            self._search(pieces[0].inner or [], pieces[0].kind, place)
            return
        merged = [
            EditableSelection(inner=piece.inner, on=get_type_name(piece.kind), kind=piece.kind)
            for piece in pieces
        ]
        self._search(merged, None, place)

    # -- recognition

    def _build_paged_field(
        self,
        pieces: list[EditableSelection],
        inner: list[EditableSelection],
        place: SearchPosition,
        name: str,
        steps: tuple[str, ...],
        role: ListRole | None,
    ) -> PagedField | None:
        """Return a field as a paged field; None if it has no paged list."""
        pages = find_pages(pieces)
        # Its arguments are those of the field, its type is that of a page.
        first = replace(pieces[0], kind=pages[0].kind)
        # Of a connection, the role is an offset, as its cursors lost rows.
        described = role and self._describe_role(role, first, inner)
        connection = None if described else self._recognize_connection(first, inner)
        described = described or connection
        described = described or self._recognize_other_list(first, inner, place)
        if described is None and self._takes_unpaged and _is_filtered_list(first, place):
            described = PageArguments("none"), [ItemList(PLAIN_LIST_STEP)], PageInfoPaths()
        if described is None:
            return None
        made = PagedField(name, place.outer, steps, pieces, pages, *described)
        made.anchor = place.anchor
        made.is_outermost = place.outer is None and not place.listed
        made.is_connection = connection is not None
        by_key = group_by_key(inner)
        names = {by_key[item.key][0].name for item in made.items if item.key}
        is_one_list = made.is_connection or names <= {"edges", "nodes"}
        made.has_separate_lists = len(made.items) > 1 and not is_one_list
        made.page_infos = tuple(k for k, p in by_key.items() if p[0].name == "pageInfo")
        counts = {p[0].name: k for k, p in by_key.items() if not p[0].inner}
        others = [name for name in counts if name.endswith("Count")]
        total = next((counts[name] for name in (*TOTAL_FIELDS, *others) if name in counts), None)
        # A count beside several lists may be of any of them.
        is_unclear = made.is_plain or made.has_separate_lists
        in_info = (
            (key, leaf.key)
            for key in made.page_infos
            for piece in by_key[key]
            for leaf in piece.inner or ()
            if leaf.name in TOTAL_COUNTS
        )
        path = next(in_info, ()) if total is None else (total,)
        made.total = () if is_unclear else path
        if connection is None and not made.is_plain:
            own = {item.key for item in made.items}
            made.beside = tuple(k for k, p in by_key.items() if k not in own and is_list_piece(p))
        made.counted = len(made.total) == 1
        return made

    def _recognize_connection(
        self, first: EditableSelection, inner: list[EditableSelection]
    ) -> tuple[PageArguments, list[ItemList], PageInfoPaths] | None:
        """Return the description of a cursor connection; None if the field is not one."""
        if not inner or (first.declared is not None and is_list(first.declared.type)):
            return None
        by_key = group_by_key(inner)
        items = list(self._iterate_connection_items(first, by_key))
        if not items or not self._is_connection(first, by_key):
            return None
        given = first.arguments.keys()
        backward = "first" not in given and bool({"last", "before"} & given)
        declared = None if first.declared is None else first.declared.args
        if declared is not None and "after" not in declared:
            backward = True
        position, size = ("before", "last") if backward else ("after", "first")
        type_ = "" if declared is None else str(get_nullable_type(declared[position].type))
        sized = declared is None or size in declared
        made = PageArguments("cursor", (position,), type_, (size,) if sized else ())
        return made, items, PageInfoPaths()

    def _iterate_connection_items(
        self, first: EditableSelection, by_key: Mapping[str, list[EditableSelection]]
    ) -> Iterator[ItemList]:
        for key, pieces in by_key.items():
            below = group_by_key(inner for piece in pieces for inner in piece.inner or ())
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
            given = {"first", "last", "after", "before"} & first.arguments.keys()
            edges = next((p for p in by_key.values() if p[0].name == "edges"), [])
            within = {below.name for p in edges for below, _ in iterate_fields(p.inner or ())}
            return bool(given) or "pageInfo" in names or "node" in within
        fields = getattr(first.kind, "fields", {})
        info = fields.get("pageInfo")
        known = getattr(get_named_type(info.type), "fields", {}) if info is not None else {}
        arguments = first.declared.args
        names &= {"edges", "nodes"}
        lists = names <= fields.keys() and all(is_list(fields[name].type) for name in names)
        forward = "after" in arguments and set(FORWARD_FIELDS) <= known.keys()
        return lists and (
            forward or ("before" in arguments and set(BACKWARD_FIELDS) <= known.keys())
        )

    def _describe_role(
        self, role: ListRole, first: EditableSelection, inner: list[EditableSelection]
    ) -> tuple[PageArguments, list[ItemList], PageInfoPaths] | None:
        """Return the description of a list whose arguments were found by experiments."""
        arguments = role.arguments
        info = PageInfoPaths(
            cursor=role.cursor, is_end_cursor=True, is_of_row=role.is_cursor_of_row
        )
        if first.declared is not None and is_list(first.declared.type):
            return arguments, [ItemList(PLAIN_LIST_STEP)], info
        items = self._list_items(first, inner)
        if arguments.kind in {"offset", "page"}:
            info = find_page_info(first.kind, arguments) or PageInfoPaths()
        return (arguments, items, info) if items else None

    def _recognize_other_list(
        self, first: EditableSelection, inner: list[EditableSelection], place: SearchPosition
    ) -> tuple[PageArguments, list[ItemList], PageInfoPaths] | None:
        """Return the description of another paged list; None if the field is not one."""
        declared = first.declared
        if declared is None:
            named = find_named_arguments(first.arguments)
            return (named, [ItemList(PLAIN_LIST_STEP)], PageInfoPaths()) if named else None
        given = self.read_arguments(first)
        ways = find_page_arguments(declared, given)
        # Strapi takes `page` with `pageSize`, and `start` with `limit`, and refuses a mixture.
        own = [
            w for w in ways if is_given(w.position, given) or (w.size and is_given(w.size, given))
        ]
        ways = own or ways
        # Names decide without experiments; and in rows of pages that can be requested again, as a
        # list that is short in the first page may be long in another.
        is_inner = place.outer is not None and place.anchor is not None
        by_name = self._roles is None or is_inner
        bound = find_length_limit(declared, given) if by_name else None
        if is_list(declared.type):
            numbered = ways if by_name else []
            way = next((way for way in numbered if way.kind in {"offset", "page"}), bound)
            return (way, [ItemList(PLAIN_LIST_STEP)], PageInfoPaths()) if way else None
        is_page = is_composite_type(first.kind) and bool(ways or bound)
        items = self._list_items(first, inner) if is_page else []
        for way in ways if items else ():
            info = find_page_info(first.kind, way)
            if info is None:
                continue
            # Without page info, nothing tells when the longest of several lists ends.
            if info.more or info.cursor or (len(items) == 1 and by_name):
                return way, items, info
        if bound is None or not items or (ways and len(items) > 1):
            return None
        return bound, items, PageInfoPaths()

    def _list_items(
        self, first: EditableSelection, inner: list[EditableSelection]
    ) -> list[ItemList]:
        """Return the lists of a page that go on in its next page."""
        by_key = group_by_key(inner)
        lists = {key: pieces[0] for key, pieces in by_key.items() if is_list_piece(pieces)}
        # nestjs-query and others have `edges`, with the paging arguments in an input object.
        edges = {each.key: each for each in self._iterate_connection_items(first, by_key)}
        return [
            edges.get(key) or ItemList(key, is_wrapper=piece.name in WRAPPER_NAMES)
            for key, piece in choose_item_lists(first, lists).items()
        ]

    def read_arguments(self, selection: EditableSelection) -> dict[str, JSON]:
        """Return the values of a field's arguments in the document, of variables that have one."""
        return read_values(selection.arguments, self._variables)

    # -- objects that can be fetched again

    def _find_anchor(
        self,
        selections: list[EditableSelection],
        kind: NamedType,
        pieces: list[EditableSelection],
        depth: int,
    ) -> Anchor | None:
        """Return the object around a field if it can be fetched again, or None."""
        if not depth:
            return None
        if self.schema is None:
            if not all(s.name or s.on or s.directives for s in selections):
                return None  # merged selections of one field
            keys = [k for k, p in group_by_key(selections).items() if p[0].name == k == "id"]
            return Anchor(depth, selections, "", GUESSED_LOOKUP, (tuple(keys),)) if keys else None
        scopes = list(self._iterate_scopes(selections, kind, pieces))
        lookups = {lookup for _, lookup in scopes}
        lookup = lookups.pop() if len(lookups) == 1 else None
        if lookup is None:
            return None
        inner = [inner for inner, _ in scopes]
        return Anchor(depth, selections, get_type_name(kind), lookup, scopes=inner)

    def _iterate_scopes(
        self,
        selections: list[EditableSelection],
        kind: NamedType,
        pieces: Iterable[EditableSelection],
    ) -> Iterator[tuple[list[EditableSelection], Lookup | None]]:
        """Yield for each piece the outermost selections around it on a type with a lookup."""
        ids = {id(piece) for piece in pieces}
        for piece, around in iterate_fields(selections):
            if id(piece) not in ids:
                continue
            scopes = [(kind, selections), *((part.kind, part.inner or []) for part in around)]
            known = ((below, self.get_lookup(type_)) for type_, below in scopes)
            yield next(filter(itemgetter(1), known), ([], None))


# Names of the list of items in a page object.
WRAPPER_NAMES = frozenset(
    {"items", "results", "data", "nodes", "edges", "entries", "rows", "list", "docs", "records"}
    | {"content", "objects", "values", "hits", "elements"}
)


def find_position_variables(document: Document) -> set[str]:
    """Return the variables for the position of a page, to which requests for pages give values."""
    return {
        name
        for paged in PagedFieldFinder(document).fields
        for piece in paged.selections
        for step in paged.arguments.position[:1]
        for name in iterate_variables(piece.arguments.get(str(step)))
    }


def find_pages(pieces: list[EditableSelection]) -> list[EditableSelection]:
    """Return the selections with the lists of a field.

    Returns
    -------
    list of EditableSelection
        `pieces`; or the fragments on the one type with lists, if the field returns a union or an
        interface, such as a page or an error.
    """
    if not is_abstract_type(pieces[0].kind):
        return pieces
    fragments = {
        id(around[-1]): around[-1]
        for piece in pieces
        for below, around in iterate_fields(piece.inner or ())
        if around and is_list_piece([below]) and is_object_type(around[-1].kind)
    }
    kinds = {fragment.kind for fragment in fragments.values()}
    return list(fragments.values()) if len(kinds) == 1 else pieces


def choose_item_lists(
    page: EditableSelection, lists: Mapping[str, EditableSelection]
) -> dict[str, EditableSelection]:
    """Return the lists of a page that go on in its next page.

    These are lists of objects, if there are any; of several lists the one with a usual name for the
    items of a page, such as `results` beside `facets`. Otherwise all of them are.
    """
    candidates = {key: piece for key, piece in lists.items() if piece.inner} or dict(lists)
    if len(candidates) > 1:
        named = {key: piece for key, piece in candidates.items() if piece.name in WRAPPER_NAMES}
        candidates = named if len(named) == 1 else candidates
    # Neither nested connections, nor groups of a connection, which summarise all items.
    return {
        key: piece
        for key, piece in candidates.items()
        if not (piece.declared and piece.declared.args.keys() & {"after", "before"})
        and not _is_beside_edges(page, piece)
    }


def is_list_piece(pieces: list[EditableSelection]) -> bool:
    """Return whether the selections of one response name are those of a list."""
    return pieces[0].declared is not None and is_list(pieces[0].declared.type)


def find_named_arguments(given: Collection[str]) -> PageArguments | None:
    """Return the paging arguments of a field of unknown type, by their names."""
    sizes = ("limit", "first", "take", "perPage", "pageSize", "per_page", "page_size")
    size = next(((name,) for name in sizes if name in given), ())
    for name in ("offset", "skip"):
        if name in given:
            return PageArguments("offset", (name,), size=size)
    return PageArguments("page", ("page",), size=size) if "page" in given and size else None


def _is_wrapper_step(place: SearchPosition, key: str) -> bool:
    """Return whether a response name is ``edges``, ``node`` or the like of a paged field."""
    steps = tuple(step for step in place.steps if step != PLAIN_LIST_STEP)
    if place.outer is None or len(steps) > 1 or place.outer.is_plain:
        return False
    if not steps:
        return any(items.key == key and items.is_wrapper for items in place.outer.items)
    return any((items.key, items.node) == (steps[0], key) for items in place.outer.items)


def _has_nodes(connection: EditableSelection, piece: EditableSelection) -> bool:
    """Return whether a list beside the edges contains their nodes, such as SWAPI's `films`."""
    if piece.declared is None or not is_list(piece.declared.type):
        return False
    edges = getattr(connection.kind, "fields", {}).get("edges")
    node = getattr(get_named_type(edges.type), "fields", {}).get("node") if edges else None
    return node is not None and get_named_type(node.type) is piece.kind


def _is_beside_edges(connection: EditableSelection, piece: EditableSelection) -> bool:
    """Return whether a list in a cursor connection does not contain its items."""
    fields = getattr(connection.kind, "fields", {})
    if not {"edges", "pageInfo"} <= fields.keys() or piece.name in {"edges", "nodes", ""}:
        return False
    return not _has_nodes(connection, piece)


def _is_filtered_list(selection: EditableSelection, place: SearchPosition) -> bool:
    """Return whether a root field is a list of objects that depends on variables."""
    is_root = place.outer is None and not place.steps
    has_rows = bool(selection.inner) and is_list_piece([selection])
    return (
        is_root
        and has_rows
        and any(True for node in selection.arguments.values() for _ in iterate_variables(node))
    )


def _is_single_group(selection: EditableSelection) -> bool:
    """Return whether a list has one item: aggregates, as of Directus, that are not grouped."""
    declared = selection.declared
    return (
        declared is not None and "groupBy" in declared.args and "groupBy" not in selection.arguments
    )


def get_type_name(kind: NamedType) -> str:
    """Return the name of a type; "" if it is unknown."""
    return "" if kind is None else str(kind)
