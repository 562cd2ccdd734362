"""Root fields that return an object again by its key.

A list below the items of another list is continued by asking for its parent again: by the
``node(id:)`` of Relay's "GraphQL Global Object Identification Specification", by PostGraphile's
``node(nodeId:)``, or by a root field that takes the parent's key, such as ``user(id:)``,
``users_by_pk(id:)`` or ``membershipByUserIdAndTeamId(userId:, teamId:)``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from graphql import (
    GraphQLInputObjectType,
    Undefined,
    get_named_type,
    get_nullable_type,
    is_abstract_type,
    is_composite_type,
    is_input_object_type,
    is_leaf_type,
    is_list_type,
    is_object_type,
    is_required_argument,
    is_scalar_type,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from graphql import GraphQLSchema

__all__ = [
    "END_CURSORS",
    "GUESSED_LOOKUP",
    "IDENTIFIERS",
    "TOTAL_FIELDS",
    "ArgumentPath",
    "Lookup",
    "LookupKey",
    "PageArguments",
    "PageInfoPaths",
    "PagingKind",
    "find_count",
    "find_identifier",
    "find_length_limit",
    "find_lookup",
    "find_page_arguments",
    "find_page_info",
    "get_at_path",
    "normalize_name",
]

# Fields of a connection that hold the count of all items, the most specific first. A field that
# ends in Count comes after them: GitHub's repositoryCount.
TOTAL_FIELDS = ("totalCount", "total", "count")

# Fields that identify an object, in the order in which they are preferred.
IDENTIFIERS = ("id", "nodeId", "_id", "rowId", "uuid", "guid", "pk")
MAX_KEYS = 4  # arguments of a composite key


@dataclass(frozen=True, slots=True)
class LookupKey:
    """An argument of a lookup, its type as a variable, and the field that has its value."""

    argument: str
    type: str
    field: str

    def convert(self, value: Any) -> Any:
        """Return a field's value as the argument takes it: an ID may have to be sent as an Int."""
        if self.type == "Int!" and isinstance(value, str) and value.lstrip("-").isdigit():
            return int(value)
        return str(value) if self.type == "String!" and isinstance(value, int) else value


@dataclass(frozen=True, slots=True)
class Lookup:
    """A root field that returns an object by its key.

    Attributes
    ----------
    field
        The root field.
    keys
        Its arguments.
    fragment
        Whether the selections must stand in a fragment on the object's type.
    is_verified
        Whether the key of the returned object is compared with the one asked for: the meaning of
        an argument is known by its name alone.
    """

    field: str
    keys: tuple[LookupKey, ...]
    fragment: bool
    is_verified: bool


# Without a schema an object with an `id` is taken to be a node.
GUESSED_LOOKUP = Lookup("node", (LookupKey("id", "ID!", "id"),), fragment=True, is_verified=False)


def find_identifier(kind: Any) -> str | None:
    """Return the name of the field that identifies the objects of a type; None if none does."""
    fields = getattr(kind, "fields", {})
    for name in IDENTIFIERS:
        if name in fields and _is_plain_leaf(fields[name]):
            return name
    return None


def find_lookup(schema: GraphQLSchema, kind: Any) -> Lookup | None:
    """Return the best way to ask for objects of a type again; None if there is none."""
    root = schema.query_type
    if root is None or not hasattr(kind, "fields"):
        return None
    found = [
        lookup
        for name, declared in root.fields.items()
        if (lookup := _build_lookup(schema, name, declared, kind)) is not None
    ]
    return min(found, key=_rank_lookup, default=None)


def _rank_lookup(lookup: Lookup) -> tuple[Any, ...]:
    """Return the order of lookups: `node` first, then those by an identifier, then the shortest."""
    order = {name: number for number, name in enumerate(IDENTIFIERS)}
    keys = [order.get(each.field, len(order)) for each in lookup.keys]
    return lookup.is_verified, len(keys), keys, len(lookup.field), lookup.field


def _build_lookup(schema: GraphQLSchema, name: str, declared: Any, kind: Any) -> Lookup | None:
    """Return a root field as a lookup of objects of a type; None if it is none."""
    returned = get_named_type(declared.type)
    if not is_composite_type(returned) or is_list_type(get_nullable_type(declared.type)):
        return None
    required = [n for n, argument in declared.args.items() if is_required_argument(argument)]
    if returned is kind:
        names = required or [n for n in IDENTIFIERS if n in declared.args][:1]
        keys = [_build_key(n, declared.args[n], kind) for n in names[: MAX_KEYS + 1]]
        known = tuple(key for key in keys if key is not None)
        whole = 0 < len(known) == len(names) <= MAX_KEYS
        return Lookup(name, known, fragment=False, is_verified=True) if whole else None
    is_node = name == "node" and is_abstract_type(returned) and len(required) == 1
    if not is_node or not _get_possible_types(schema, kind) <= _get_possible_types(
        schema, returned
    ):
        return None
    if required[0] not in getattr(returned, "fields", {}):
        return None
    key = LookupKey(required[0], str(declared.args[required[0]].type), required[0])
    return Lookup(name, (key,), fragment=True, is_verified=False)


def _build_key(name: str, argument: Any, kind: Any) -> LookupKey | None:
    """Return an argument as a key, if the objects have a field of its name and type."""
    named = get_named_type(argument.type)
    if is_input_object_type(named) or is_list_type(get_nullable_type(argument.type)):
        return None
    type_ = f"{str(argument.type).rstrip('!')}!"  # a key is never null
    for field in _iterate_field_names(name, kind):
        declared = kind.fields.get(field)
        if declared is not None and _is_plain_leaf(declared):
            same = get_named_type(declared.type) is named
            if same or {named.name, get_named_type(declared.type).name} <= {"ID", "String", "Int"}:
                return LookupKey(name, type_, field)
    return None


def _iterate_field_names(name: str, kind: Any) -> Iterator[str]:
    """Yield the field names that an argument may mean: `id` also for `userId` of a `User`."""
    yield name
    own = kind.name[:1].lower() + kind.name[1:]
    if name.lower() in {f"{own}id".lower(), f"{own}_id".lower()}:
        yield "id"


def _is_plain_leaf(declared: Any) -> bool:
    """Return whether a field is a leaf, no list, and can be selected without arguments."""
    plain = is_leaf_type(get_named_type(declared.type))
    listed = is_list_type(get_nullable_type(declared.type))
    return plain and not listed and not any(map(is_required_argument, declared.args.values()))


def _get_possible_types(schema: GraphQLSchema, kind: Any) -> set[Any]:
    return {kind} if is_object_type(kind) else set(schema.get_possible_types(kind))


ArgumentPath = tuple[str, ...]  # an argument, or an argument and a field of its input object
PagingKind = Literal["cursor", "offset", "page", "none"]

OFFSET_NAMES = frozenset({"offset", "skip", "start", "startat", "startindex", "from"})
PAGE_NAMES = frozenset({"page", "pagenumber", "pageno", "pagenum", "pageindex", "currentpage"})
ZERO_BASED_NAMES = frozenset({"pageindex"})
CURSOR_NAMES = frozenset(
    {"after", "cursor", "nexttoken", "pagetoken", "continuationtoken", "startingafter"}
)
# The first ones say by themselves that they bound a list; the others do so beside a position only:
# `size` and `count` may as well be those of a picture or a sample.
LIMIT_NAMES = ("first", "limit", "take", "pagesize", "perpage", "top", "maxresults", "itemsperpage")
SIZE_NAMES = (*LIMIT_NAMES, "size", "count", "max", "rows", "length", "amount", "n", "num")
PAGE_SIZE_NAMES = frozenset({"pagesize", "perpage", "itemsperpage", "size"})  # go with page numbers
# Input objects that hold paging arguments: Strapi, Strawberry's Django library, Neo4j.
HOLDER_NAMES = frozenset({"pagination", "paging", "pageable", "options", "pageinput", "page"})
INTEGER_TYPE = re.compile(r"(?:[A-Z]\w*)?Int(?:eger)?\d*|(?:big|small)?int\d*|integer|Long|Short")


@dataclass(frozen=True, slots=True)
class PageArguments:
    """How the pages of a field are asked for.

    Attributes
    ----------
    kind
        ``"cursor"``: behind a cursor that the page before named. ``"offset"``: behind a number of
        items. ``"page"``: by the number of the page. ``"none"``: the list is bounded, and there is
        no way to ask for more.
    position
        The argument that says where a page begins; empty for kind ``"none"``.
    position_type
        Its type as a variable, without the outermost ``!``.
    size
        The argument for the number of items; empty if there is none.
    default_size
        Items of a page if the argument is not given, as the schema says; None if it does not.
    default_position
        Where the first page begins if the argument is not given; None if the schema does not say.
    """

    kind: PagingKind
    position: ArgumentPath = ()
    position_type: str = "Int"
    size: ArgumentPath = ()
    default_size: int | None = None
    default_position: int | None = None


def find_page_arguments(declared: Any, given: Mapping[str, Any]) -> Iterator[PageArguments]:
    """Yield the ways to ask for pages that the arguments of a field offer, preferred ones first.

    Parameters
    ----------
    declared
        The field, as the schema declares it.
    given
        The values of the arguments in the text: a way that it uses comes before the others.
    """
    arguments = list(_flatten_arguments(declared.args))
    sizes = [
        each
        for each in arguments
        if normalize_name(each[0][-1]) in SIZE_NAMES and _is_integer_type(each[1])
    ]
    found = []
    for path, kind, default in arguments:
        name = normalize_name(path[-1])
        way: PagingKind | None = None
        if (
            name in OFFSET_NAMES
            and _is_integer_type(kind)
            and (sizes or name in {"offset", "skip"})
        ):
            way = "offset"
        elif name in PAGE_NAMES and _is_integer_type(kind):
            way = "page"
        elif name in CURSOR_NAMES and not _is_list(kind):
            way = "cursor"
        if way is None:
            continue
        size, default_size = _choose_size(sizes, path, way, given)
        if path != size:
            start = 0 if name in ZERO_BASED_NAMES else _read_integer_default(default)
            type_ = str(get_nullable_type(kind))
            found.append(PageArguments(way, path, type_, size, default_size, start))
    order: tuple[PagingKind, ...] = ("cursor", "offset", "page")
    found.sort(
        key=lambda each: (
            not _is_given(each.position, given),
            not (each.size and _is_given(each.size, given)),
            order.index(each.kind),
        )
    )
    yield from found


def _choose_size(
    sizes: Sequence[tuple[ArgumentPath, Any, Any]],
    position: ArgumentPath,
    way: PagingKind,
    given: Mapping[str, Any],
) -> tuple[ArgumentPath, int | None]:
    """Return the argument for the size that belongs to a position, and its default value.

    Strapi takes ``page`` with ``pageSize`` and ``start`` with ``limit``, and refuses a mixture.
    """

    def rank_size(each: tuple[ArgumentPath, Any, Any]) -> tuple[Any, ...]:
        name = normalize_name(each[0][-1])
        apart = each[0][:-1] != position[:-1]
        fits = (name in PAGE_SIZE_NAMES) == (way == "page")
        return apart, not fits, not _is_given(each[0], given), SIZE_NAMES.index(name)

    chosen = min(sizes, key=rank_size, default=None)
    return ((), None) if chosen is None else (chosen[0], _read_integer_default(chosen[2]))


def _is_given(path: ArgumentPath, given: Mapping[str, Any]) -> bool:
    """Return whether the text gives an argument, or a field of an input object."""
    value: Any = given
    for name in path:
        if not isinstance(value, Mapping) or name not in value:
            return False
        value = value[name]
    return True


def find_length_limit(declared: Any, given: Mapping[str, Any]) -> PageArguments | None:
    """Return the bound of a list that offers no way to ask for more; None if it has no bound."""
    for path, kind, default in _flatten_arguments(declared.args):
        if normalize_name(path[-1]) in (*LIMIT_NAMES, "last") and _is_integer_type(kind):
            bounded = _is_given(path, given) or not is_required_argument(declared.args[path[0]])
            if bounded:
                return PageArguments("none", size=path, default_size=_read_integer_default(default))
    return None


def _flatten_arguments(arguments: Mapping[str, Any]) -> Iterator[tuple[ArgumentPath, Any, Any]]:
    """Yield path, type and default value of the arguments, also of those in input objects."""
    for name, argument in arguments.items():
        kind = get_nullable_type(argument.type)
        if is_input_object_type(kind):
            assert isinstance(kind, GraphQLInputObjectType)  # noqa: S101 - for the type checker
            if normalize_name(name) in HOLDER_NAMES or _has_paging_fields(kind):
                for inner, field in kind.fields.items():
                    yield (name, inner), field.type, field.default_value
        else:
            yield (name,), argument.type, argument.default_value


def _has_paging_fields(kind: GraphQLInputObjectType) -> bool:
    """Return whether an input object has a field for the position, and one for the size."""
    names = {
        normalize_name(name) for name, field in kind.fields.items() if _is_integer_type(field.type)
    }
    return bool(names & (OFFSET_NAMES | PAGE_NAMES)) and bool(names & {*LIMIT_NAMES, "size"})


def normalize_name(name: str) -> str:
    """Return a name without the differences of spelling: `page_size` and `pageSize` are one."""
    return name.replace("_", "").lower()


def _is_integer_type(kind: Any) -> bool:
    """Return whether a type is that of whole numbers, by its name: `Int`, `BigInt`, `Long` ..."""
    named = get_named_type(kind)
    return not _is_list(kind) and is_scalar_type(named) and bool(INTEGER_TYPE.fullmatch(named.name))


def _is_list(kind: Any) -> bool:
    return is_list_type(get_nullable_type(kind))


def _read_integer_default(default: Any) -> int | None:
    """Return a default value that is a whole number; None for any other, and for no default."""
    if default is Undefined or isinstance(default, bool) or not isinstance(default, int):
        return None
    return default


Path = tuple[str, ...]
MoreMeaning = Literal["", "flag", "last", "pointer", "pages"]

MORE_FLAGS = (
    "hasNextPage",
    "hasNext",
    "hasMore",
    "hasMorePages",
    "has_next_page",
    "has_more",
    "more",
)
LAST_FLAGS = ("isLast", "isLastPage", "last")
NEXT_POINTERS = ("nextPage", "nextOffset", "next")
PAGE_COUNTS = ("lastPage", "totalPages", "pageCount", "pages", "total_pages", "last_page")
NEXT_CURSORS = (
    *("nextToken", "nextCursor", "nextPageToken", "continuationToken", "next_cursor"),
    *("next_token", "next_page_token", "endCursor", "end_cursor", "cursor", "next", "after"),
)
END_CURSORS = ("endCursor", "end_cursor", "cursor")  # they may be there on the last page, too
TOTAL_COUNTS = (
    *("totalCount", "total", "totalItems", "totalResults", "totalElements", "totalDocs"),
    *("total_count", "totalRecords", "filteredCount"),
)
CURRENT_PAGES = ("currentPage", "pageNumber", "current_page", "page", "pageIndex")
# Lighthouse has `paginatorInfo`, API Platform `paginationInfo`, Magento `page_info`.
INFO_HOLDER = re.compile(r"info|meta|.*(?:page|paging|pagin|cursors?).*", re.IGNORECASE)
MAX_INFO_DEPTH = 2  # Strapi has `meta { pagination { ... } }`


@dataclass(frozen=True, slots=True)
class PageInfoPaths:
    """Paths of fields in a page, as field names or as response names.

    Attributes
    ----------
    more
        The field that says whether there is more; empty if there is none.
    meaning
        How it says so. ``"flag"``: true if there is. ``"last"``: true if there is not.
        ``"pointer"``: not null if there is. ``"pages"``: the number of the last page.
    cursor
        The cursor of the next page; empty for pages that are not asked for by a cursor.
    current
        The number of the page; empty if there is none.
    """

    more: Path = ()
    meaning: MoreMeaning = ""
    cursor: Path = ()
    current: Path = ()


def get_at_path(page: Any, path: Path) -> Any:
    """Return the value at a path in a page; None if it is not there."""
    for step in path:
        page = page.get(step) if isinstance(page, Mapping) else None
    return page


def find_page_info(kind: Any, arguments: PageArguments) -> PageInfoPaths | None:
    """Return where pages of a type say whether there is more.

    None if they are asked for by a cursor that no page names.
    """
    leaves = dict(_iterate_leaves(kind))
    by_name = {path[-1]: path for path in reversed(leaves)}
    if arguments.kind == "cursor":
        cursor = next((by_name[n] for n in NEXT_CURSORS if n in by_name), None)
        if cursor is None:
            return None
        flag = next((by_name[n] for n in MORE_FLAGS if n in by_name), ())
        return PageInfoPaths(flag, "flag" if flag else "", cursor)
    current: Path = ()
    if arguments.kind == "page":
        numbers = (by_name[n] for n in CURRENT_PAGES if n in by_name)
        current = next((p for p in numbers if leaves[p] in {"Int", "Long"}), ())
    tests: list[tuple[tuple[str, ...], MoreMeaning, set[str]]] = [
        (MORE_FLAGS, "flag", {"Boolean"}),
        (LAST_FLAGS, "last", {"Boolean"}),
        (NEXT_POINTERS, "pointer", {"Int", "Long", "String"}),
    ]
    if arguments.kind == "page":
        tests.append((PAGE_COUNTS, "pages", {"Int", "Long"}))
    for names, meaning, types in tests:
        for name in names:
            path = by_name.get(name)
            if path is not None and leaves[path] in types:
                return PageInfoPaths(path, meaning, (), current)
    return PageInfoPaths(current=current)


def find_count(kind: Any, arguments: Mapping[str, Any]) -> Path:
    """Return the path of the count of all items in pages of a type; empty if there is none.

    Parameters
    ----------
    kind
        The type of the page.
    arguments
        The values of the field's arguments that are enums, by name: GitHub counts the results of
        each search type apart (``type: ISSUE``, ``issueCount``).
    """
    leaves = {
        path: name for path, name in _iterate_leaves(kind) if name in {"Int", "BigInt", "Long"}
    }
    by_name = {path[-1]: path for path in reversed(leaves)}
    for value in arguments.values():
        if f"{str(value).lower()}Count" in by_name:
            return by_name[f"{str(value).lower()}Count"]
    return next((by_name[name] for name in TOTAL_COUNTS if name in by_name), ())


def _iterate_leaves(kind: Any, above: Path = ()) -> Iterator[tuple[Path, str]]:
    """Yield the leaves of a page and of the objects that describe it: path and type name."""
    below = []
    for name, declared in getattr(kind, "fields", {}).items():
        named = get_named_type(declared.type)
        if is_list_type(get_nullable_type(declared.type)):
            continue
        if any(map(is_required_argument, declared.args.values())):
            continue
        if is_leaf_type(named):
            yield (*above, name), named.name
        elif is_object_type(named) and INFO_HOLDER.fullmatch(name) and len(above) < MAX_INFO_DEPTH:
            below.append((named, (*above, name)))
    for named, path in below:
        yield from _iterate_leaves(named, path)
