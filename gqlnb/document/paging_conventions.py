"""Names of arguments and fields by which servers page lists and identify objects.

A list below the items of another list is continued by fetching its parent object again: by
``node(id:)`` of Relay's "GraphQL Global Object Identification Specification", by PostGraphile's
``node(nodeId:)``, or by a root field that takes the parent's key, such as ``user(id:)``,
``users_by_pk(id:)``, ``membershipByUserIdAndTeamId(userId:, teamId:)`` or ``user(where: {id:})``;
or by one that returns a list of the objects with some keys, ``nodes(ids:)`` or ``boards(ids:)``.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from binascii import Error
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import msgspec
from graphql import (
    EnumValueNode,
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLNonNull,
    Undefined,
    get_named_type,
    get_nullable_type,
    is_abstract_type,
    is_composite_type,
    is_enum_type,
    is_input_object_type,
    is_leaf_type,
    is_object_type,
    is_required_argument,
    is_required_input_field,
    is_scalar_type,
    value_from_ast_untyped,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphql import (
        GraphQLArgument,
        GraphQLField,
        GraphQLInputField,
        GraphQLInputType,
        GraphQLSchema,
        GraphQLType,
    )

    from gqlnb.document.json_codec import JSON

# Fields of a connection that hold the count of all items, the most specific first. A field that
# ends in Count comes after them: GitHub's repositoryCount.
TOTAL_FIELDS = ("totalCount", "total", "count")

NamedType: TypeAlias = Any  # a named type of graphql-core, with `fields` or without; or None

# Fields that identify an object, preferred ones first.
IDENTIFIERS = ("id", "nodeId", "_id", "rowId", "uuid", "guid", "pk")
MAX_KEYS = 4  # arguments of a composite key


class LookupKey(msgspec.Struct, frozen=True):
    """An argument of a lookup, its type as a variable, and the field with its value.

    `member` is the member of the argument that takes the value, if it is an input object;
    `is_listed` is whether the argument takes a list of values.
    """

    argument: str
    type: str
    field: str
    member: str = ""
    is_listed: bool = False

    def format_argument(self, variable: str) -> str:
        """Return the argument with a variable as its value, in GraphQL."""
        value = f"{{{self.member}: ${variable}}}" if self.member else f"${variable}"
        return f"{self.argument}: [{value}]" if self.is_listed else f"{self.argument}: {value}"

    def convert(self, value: object) -> object:
        """Convert a field's value for the argument: an ID may have to be sent as an Int."""
        if self.type == "Int!" and isinstance(value, str) and value.lstrip("-").isdigit():
            return int(value)
        return str(value) if self.type == "String!" and isinstance(value, int) else value


class Lookup(msgspec.Struct, frozen=True):
    """A field that returns an object by its key.

    Attributes
    ----------
    field
        The field, of the query type or of the object in `around`.
    keys
        The arguments.
    fragment
        Whether the selections must be in a fragment on the object's type.
    is_verified
        Whether the key of the returned object must be compared with the requested one, because the
        meaning of the argument is only inferred from its name.
    around
        The root field around it, as `rdb` in `rdb { run(id: 1) }`; empty for a root field.
    """

    field: str
    keys: tuple[LookupKey, ...]
    fragment: bool
    is_verified: bool
    around: str = ""

    @property
    def is_of_list(self) -> bool:
        """Whether the field returns a list, of one object."""
        return any(key.is_listed for key in self.keys)


# Without a schema, an object with an `id` is assumed to be a node.
GUESSED_LOOKUP = Lookup("node", (LookupKey("id", "ID!", "id"),), fragment=True, is_verified=False)


def find_identifier(kind: NamedType) -> str | None:
    """Return the name of the field that identifies the objects of a type, or None."""
    fields = getattr(kind, "fields", {})
    for name in IDENTIFIERS:
        if name in fields and is_plain_leaf(fields[name]):
            return name
    return None


def find_id_leaves(kind: NamedType) -> list[str]:
    """Return the leaves of type ID of objects that have no identifier by name.

    Rows that differ in them are not the same (as in ``documentId: ID!`` of Strapi 5, its only
    identifier). Equal ones prove nothing: they may be of an owner.
    """
    if find_identifier(kind) is not None:
        return []
    return [
        name
        for name, declared in getattr(kind, "fields", {}).items()
        if is_plain_leaf(declared) and get_named_type(declared.type).name == "ID"
    ]


def find_lookup(schema: GraphQLSchema, kind: NamedType) -> Lookup | None:
    """Return the preferred lookup of objects of a type, or None.

    ``node`` is preferred, then lookups by one identifier, then those that take it as an argument
    and not within an input object, then those with the shortest name; those that return lists last,
    and fields of an object that a root field returns without arguments behind all others. Only an
    identifier is a key there, since other values may be those of another object elsewhere.
    """
    root = schema.query_type
    if root is None or not hasattr(kind, "fields"):
        return None
    order = {name: number for number, name in enumerate(IDENTIFIERS)}

    def rank(lookup: Lookup) -> tuple[object, ...]:
        keys = [order.get(key.field, len(order)) for key in lookup.keys]
        members = [key.member != "" for key in lookup.keys]
        return (
            lookup.around != "",
            lookup.is_of_list,
            lookup.is_verified,
            len(keys),
            keys,
            members,
            len(lookup.field),
            lookup.field,
        )

    candidates = [
        _build_lookup(schema, name, declared, kind) for name, declared in root.fields.items()
    ]
    for around, outer in root.fields.items():
        holder = get_nullable_type(outer.type)
        for name, declared in holder.fields.items() if is_object_type(holder) else ():
            found = None if outer.args else _build_lookup(schema, name, declared, kind)
            if found and all(key.field in IDENTIFIERS for key in found.keys):
                candidates.append(msgspec.structs.replace(found, around=around))
    return min(filter(None, candidates), key=rank, default=None)


def _build_lookup(
    schema: GraphQLSchema, name: str, declared: GraphQLField, kind: NamedType
) -> Lookup | None:
    """Return a field as a lookup of objects of a type, or None."""
    returned = get_named_type(declared.type)
    if not is_composite_type(returned):
        return None
    required = [n for n, argument in declared.args.items() if is_required_argument(argument)]
    is_node = name in {"node", "nodes"} and is_abstract_type(returned) and len(required) == 1
    if is_node:
        kinds = _get_possible_types(schema, returned)
        is_node = _get_possible_types(schema, kind) <= kinds
    if not is_node and returned is not kind:
        return None
    if is_list(declared.type):
        key = _build_listed_key(required, declared, returned if is_node else kind)
        return Lookup(name, (key,), fragment=is_node, is_verified=True) if key else None
    if not is_node:
        names = required or [n for n in IDENTIFIERS if n in declared.args][:1]
        keys = [_build_key(n, declared.args[n].type, kind) for n in names[: MAX_KEYS + 1]]
        known = tuple(key for key in keys if key is not None)
        whole = 0 < len(known) == len(names) <= MAX_KEYS
        return Lookup(name, known, fragment=False, is_verified=True) if whole else None
    if required[0] not in getattr(returned, "fields", {}):
        return None
    key = LookupKey(required[0], str(declared.args[required[0]].type), required[0])
    return Lookup(name, (key,), fragment=True, is_verified=False)


def _build_listed_key(
    required: list[str], declared: GraphQLField, kind: NamedType
) -> LookupKey | None:
    """Return the argument of a list that takes identifiers of its objects, or None.

    monday.com has ``boards(ids: [ID!], limit: Int)``, and no field that returns one board.
    """
    for name in (required or declared.args) if len(required) < 2 and kind is not None else ():
        type_: NamedType = get_nullable_type(declared.args[name].type)
        key = _build_key(name.removesuffix("s"), type_.of_type, kind) if is_list(type_) else None
        if key is not None and key.field in IDENTIFIERS:
            return msgspec.structs.replace(key, argument=name, is_listed=True)
    return None


def _build_key(name: str, type_: GraphQLInputType, kind: NamedType) -> LookupKey | None:
    """Return an argument as a key if the objects have a field of its name and type, or None."""
    named = get_named_type(type_)
    if is_list(type_):
        return None
    if is_input_object_type(named):
        return _build_member_key(name, named, kind)
    variable_type = f"{str(type_).rstrip('!')}!"  # a key is never null
    own = kind.name.lower()
    # `pk` is the `id` in Django: strawberry-django has `author(pk: ID!)`, and types with `id`.
    is_id = name.lower() in {f"{own}id", f"{own}_id", "pk"}
    fields = [name, "id"] if is_id else [name]
    for field in fields:
        declared = kind.fields.get(field)
        is_leaf = declared is not None and is_plain_leaf(declared)
        if is_leaf and _holds_same_values(named, get_named_type(declared.type)):
            return LookupKey(name, variable_type, field)
    return None


def _build_member_key(
    name: str, argument: GraphQLInputObjectType, kind: NamedType
) -> LookupKey | None:
    """Return a member of an input object as a key; None without an identifier of its own.

    Keystone and other servers on Prisma have ``author(where: AuthorWhereUniqueInput!)``, of which
    one of several members, such as ``id`` and ``email``, selects the object.
    """
    for member in IDENTIFIERS:
        declared = argument.fields.get(member)
        others = [field for other, field in argument.fields.items() if other != member]
        if declared is None or any(map(is_required_input_field, others)):
            continue
        is_object = is_input_object_type(get_named_type(declared.type))  # such as `id: IDFilter`
        key = None if is_object else _build_key(member, declared.type, kind)
        if key is not None:
            return msgspec.structs.replace(key, argument=name, member=member)
    return None


def _holds_same_values(argument: NamedType, field: NamedType) -> bool:
    """Return whether an argument probably takes the values of a field, by their types."""
    names = {argument.name, field.name}
    if argument is field or names <= {"ID", "String", "Int"}:
        return True
    # Graphene's Django types have `id: UUID!`, which root fields take as `id: ID`.
    is_text = bool(names & {"ID", "String"}) and not names & {"Int", "Float", "Boolean"}
    return is_text and is_scalar_type(argument) and is_scalar_type(field)


def is_plain_leaf(declared: GraphQLField) -> bool:
    """Return whether a field is a single leaf that can be selected without arguments."""
    is_leaf = is_leaf_type(get_named_type(declared.type)) and not is_list(declared.type)
    return is_leaf and not any(map(is_required_argument, declared.args.values()))


def _get_possible_types(schema: GraphQLSchema, kind: NamedType) -> set[Any]:
    return {kind} if is_object_type(kind) else set(schema.get_possible_types(kind))


# An argument, followed by the members and indices of input objects and lists in it.
ArgumentPath = tuple["str | int", ...]


def format_argument(path: ArgumentPath) -> str:
    """Return the path of an argument as dotted names, without the places in lists."""
    return ".".join(step for step in path if isinstance(step, str))


PagingKind = Literal["cursor", "offset", "page", "none"]

OFFSET_NAMES = frozenset({"offset", "skip", "start", "startat", "startindex", "from"})
# Beside one of these, `from` and `start` are the lower end of a range of values.
RANGE_STARTS = frozenset({"from", "start", "startat", "startindex"})
RANGE_ENDS = frozenset({"to", "until", "till", "through", "end", "endat", "stop", "upto"})
PAGE_NAMES = frozenset({"page", "pagenumber", "pageno", "pagenum", "pageindex", "currentpage"})
ZERO_BASED_NAMES = frozenset({"pageindex"})
CURSOR_NAMES = frozenset(
    {
        "after",
        "aftercursor",
        "cursor",
        "nexttoken",
        "pagetoken",
        "continuationtoken",
        "startingafter",
    }
)
# The first ones limit a list by themselves; the others only together with a position argument,
# because `size` and `count` may also be those of a picture or a sample.
LIMIT_NAMES = ("first", "limit", "take", "pagesize", "perpage", "top", "maxresults", "itemsperpage")
SIZE_NAMES = (*LIMIT_NAMES, "size", "count", "max", "rows", "length", "amount", "n", "num")
PAGE_SIZE_NAMES = frozenset({"pagesize", "perpage", "itemsperpage", "size"})  # with page numbers
# Input objects with paging arguments: Strapi, Strawberry's Django library, Neo4j.
HOLDER_NAMES = frozenset({"pagination", "paging", "pageable", "options", "pageinput", "page"})
INTEGER_TYPE = re.compile(r"(?:[A-Z]\w*)?Int(?:eger)?\d*|(?:big|small)?int\d*|integer|Long|Short")


class PageArguments(msgspec.Struct, frozen=True):
    """The arguments by which the pages of a field are requested.

    Attributes
    ----------
    kind
        ``"cursor"``: after a cursor of the previous page. ``"offset"``: after a number of items.
        ``"page"``: by page number. ``"none"``: the list is limited and cannot be continued.
    position
        The argument for the start of a page; empty for kind ``"none"``.
    position_type
        Its type as a variable, without the outermost ``!``.
    size
        The argument for the number of items, or empty.
    default_size
        The default of the size argument in the schema; None if unknown.
    default_position
        The default of the position argument; None if unknown.
    found_size
        A size that the endpoint accepted in an experiment; None without experiments.
    quoted
        Which of `position` and `size` take numbers as text.
    is_number
        Whether an experiment found that cursors are sent as numbers.
    """

    kind: PagingKind
    position: ArgumentPath = ()
    position_type: str = "Int"
    size: ArgumentPath = ()
    default_size: int | None = None
    default_position: int | None = None
    found_size: int | None = None
    quoted: frozenset[ArgumentPath] = frozenset()
    is_number: bool = False

    def format_number(self, path: ArgumentPath, number: int) -> str:
        """Return a size, or an offset or page number, as a literal."""
        return f'"{number}"' if path in self.quoted else str(number)


def find_page_arguments(declared: GraphQLField, given: Mapping[str, object]) -> list[PageArguments]:
    """Return the ways to request pages of a field, preferred ones first.

    Parameters
    ----------
    declared
        The definition of the field in the schema.
    given
        The argument values in the document; the arguments in use are preferred.
    """
    arguments = list(_flatten_arguments(declared.args))
    sizes = _find_sizes(arguments)
    found = []
    for each in arguments:
        beside = {other.name for other in arguments if other.path[:-1] == each.path[:-1]}
        way: PagingKind
        if each.is_offset(beside) and (sizes or each.name in {"offset", "skip"}):
            way = "offset"
        elif each.name in PAGE_NAMES and each.is_integer:
            way = "page"
        elif each.name in CURSOR_NAMES and not is_list(each.type):
            way = "cursor"
        else:
            continue
        size, default_size = _choose_size(sizes, each.path, way, given)
        if each.path != size and _can_begin_by_size(declared, each.path, size, given):
            start = 0 if each.name in ZERO_BASED_NAMES else read_integer(each.default)
            type_ = str(get_nullable_type(each.type))
            found.append(PageArguments(way, each.path, type_, size, default_size, start))
    order: tuple[PagingKind, ...] = ("cursor", "offset", "page")
    return sorted(
        found,
        key=lambda way: (
            not is_given(way.position, given),
            not (way.size and is_given(way.size, given)),
            order.index(way.kind),
        ),
    )


def _find_sizes(arguments: Sequence[FlatArgument]) -> list[FlatArgument]:
    """Return the arguments that may be page sizes; beside a certain one no others."""
    # Beside `min`, `max` is the upper end of a range of values.
    has_range = any(each.name == "min" for each in arguments)
    usual = [name for name in SIZE_NAMES if not (has_range and name == "max")]
    sizes = [each for each in arguments if each.name in usual and each.is_integer]
    certain = {each.path[:-1] for each in sizes if each.name in LIMIT_NAMES}
    return [e for e in sizes if e.path[:-1] not in certain or e.name in LIMIT_NAMES]


def is_position(declared: GraphQLField | None, name: str) -> bool:
    """Return whether an argument is an offset or a page number; by its name without a schema."""
    if declared is None:
        return normalize_name(name) in {"offset", "skip"} | PAGE_NAMES
    argument = declared.args.get(name)
    if argument is None or not _is_integer_type(argument.type):
        return False
    found = FlatArgument((name,), argument.type)
    return found.name in PAGE_NAMES or found.is_offset(map(normalize_name, declared.args))


def _choose_size(
    sizes: Sequence[FlatArgument],
    position: ArgumentPath,
    way: PagingKind,
    given: Mapping[str, object],
) -> tuple[ArgumentPath, int | None]:
    """Return the size argument that belongs to a position argument, and its default."""
    # Strapi accepts `page` with `pageSize` and `start` with `limit`, and rejects a mixture.

    def rank_size(argument: FlatArgument) -> tuple[object, ...]:
        path, name = argument.path, argument.name
        apart = path[:-1] != position[:-1]
        fits = (name in PAGE_SIZE_NAMES) == (way == "page")
        return apart, not fits, not is_given(path, given), SIZE_NAMES.index(name)

    chosen = min(sizes, key=rank_size, default=None)
    return ((), None) if chosen is None else (chosen.path, read_integer(chosen.default))


def _can_begin_by_size(
    declared: GraphQLField, position: ArgumentPath, size: ArgumentPath, given: Mapping[str, object]
) -> bool:
    """Return whether the first page can be requested by its size alone."""
    if len(position) == 1 or is_given(position[:1], given):
        return True
    holder: NamedType = get_named_type(declared.args[str(position[0])].type)
    needed = {
        (position[0], n) for n, field in holder.fields.items() if is_required_input_field(field)
    }
    return needed <= {size}


def is_given(path: ArgumentPath, given: Mapping[str, object]) -> bool:
    """Return whether the document sets an argument, or a field of an input object."""
    value: object = given
    for name in path:
        if not isinstance(value, Mapping) or name not in value:
            return False
        value = value[name]
    return True


def find_length_limit(declared: GraphQLField, given: Mapping[str, object]) -> PageArguments | None:
    """Return the limit argument of a list that cannot be continued, or None."""
    for each in _flatten_arguments(declared.args):
        if each.name in {*LIMIT_NAMES, "last"} and each.is_integer:
            optional = not is_required_argument(declared.args[str(each.path[0])])
            if optional or is_given(each.path, given):
                default = read_integer(each.default)
                return PageArguments("none", size=each.path, default_size=default)
    return None


def _flatten_arguments(arguments: Mapping[str, GraphQLArgument]) -> Iterator[FlatArgument]:
    """Yield the arguments, those in input objects too."""
    for name, argument in arguments.items():
        kind = get_nullable_type(argument.type)
        if is_input_object_type(kind):
            assert isinstance(kind, GraphQLInputObjectType)  # noqa: S101 - for the type checker
            if normalize_name(name) in HOLDER_NAMES or _has_paging_fields(kind):
                for inner, field in kind.fields.items():
                    yield FlatArgument((name, inner), field.type, read_default(field))
        else:
            yield FlatArgument((name,), argument.type, read_default(argument))


def read_default(argument: GraphQLArgument | GraphQLInputField) -> JSON:
    """Return the default of an argument or a member of an input object; None without one."""
    # graphql-core 3.3 keeps the literals of a schema in `default`; `default_value` is Undefined.
    default = getattr(argument, "default", None)
    if default is None:
        return None if argument.default_value is Undefined else argument.default_value
    if default.literal is None:
        return default.value
    # Servers in Python may write their None as it is, which reads as the name of an enum value.
    is_name = isinstance(default.literal, EnumValueNode)
    if is_name and not is_enum_type(get_named_type(argument.type)):
        return None
    return value_from_ast_untyped(default.literal)


def _has_paging_fields(kind: GraphQLInputObjectType) -> bool:
    """Return whether an input object has fields for the position and the size of a page."""
    names = {
        normalize_name(name) for name, field in kind.fields.items() if _is_integer_type(field.type)
    }
    return bool(names & (OFFSET_NAMES | PAGE_NAMES)) and bool(names & {*LIMIT_NAMES, "size"})


def normalize_name(name: str) -> str:
    """Return a name in lower case without underscores: `page_size` and `pageSize` are equal."""
    return name.replace("_", "").lower()


def is_limit_name(name: str) -> bool:
    """Return whether a name, perhaps dotted, is certainly that of the size of a page."""
    return normalize_name(name.rpartition(".")[2]) in LIMIT_NAMES


def _is_integer_type(kind: GraphQLType) -> bool:
    """Return whether a type is a scalar with the name of an integer: `Int`, `BigInt`, `Long` ..."""
    named = get_named_type(kind)
    return not is_list(kind) and is_scalar_type(named) and bool(INTEGER_TYPE.fullmatch(named.name))


def is_list(kind: GraphQLType) -> bool:
    """Return whether a type is a list, nullable or not."""
    return isinstance(kind.of_type if isinstance(kind, GraphQLNonNull) else kind, GraphQLList)


def read_integer(value: object) -> int | None:
    """Return a value if it is an integer; else None."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


class FlatArgument(NamedTuple):
    """The path, type and default value of an argument."""

    path: ArgumentPath
    type: GraphQLInputType
    default: object = None

    @property
    def name(self) -> str:
        """The last name of the path in lower case, without underscores."""
        return normalize_name(str(self.path[-1]))

    @property
    def is_integer(self) -> bool:
        """Whether it takes an integer."""
        return _is_integer_type(self.type)

    def is_offset(self, beside: Iterable[str]) -> bool:
        """Return whether it is the number of items before a page, by its name and type."""
        is_range = self.name in RANGE_STARTS and not RANGE_ENDS.isdisjoint(beside)
        return self.name in OFFSET_NAMES and self.is_integer and not is_range


Path = tuple[str, ...]
MoreMeaning = Literal["", "flag", "last", "pointer", "number", "pages"]

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
# Other names of flags that are true where rows are missing, as `isMoreAvailable` and `truncated`.
LACK_NAME = re.compile(r"(?:has|is|are)?_?(?:more|truncated|incomplete)\w*", re.IGNORECASE)
NEXT_POINTERS = ("nextPage", "nextOffset", "next")
LAST_NUMBERS = ("lastPage", "last_page")  # a page number; the others count the pages
PAGE_COUNTS = ("totalPages", "pageCount", "pages", "total_pages")
# Their meaning, the type that they have, and the kinds of paging of which they tell something.
MORE_FIELDS: tuple[tuple[tuple[str, ...], MoreMeaning, str, str], ...] = (
    (MORE_FLAGS, "flag", "Boolean", "cursor offset page"),
    (LAST_FLAGS, "last", "Boolean", "cursor offset page"),
    (NEXT_POINTERS, "pointer", f"{INTEGER_TYPE.pattern}|String", "offset page"),
    (LAST_NUMBERS, "number", INTEGER_TYPE.pattern, "page"),
    (PAGE_COUNTS, "pages", INTEGER_TYPE.pattern, "page"),
)
NEXT_CURSORS = (
    *("nextToken", "nextCursor", "nextPageToken", "continuationToken", "next_cursor"),
    *("next_token", "next_page_token", "endCursor", "end_cursor", "cursor", "next", "after"),
)
# Cursors of the next page, null where there is none; those without a word for it only in an object
# that describes the page.
TOKENS = tuple(name for name in NEXT_CURSORS if re.search("next.|continuation", name))
END_CURSORS = ("endCursor", "end_cursor", "cursor")  # not null on the last page either
TOTAL_COUNTS = (
    *("totalCount", "total", "totalItems", "totalResults", "totalElements", "totalDocs"),
    *("total_count", "totalRecords", "totalEdges", "filteredCount"),
)
PLAIN_COUNT = "count"  # perhaps of the page
# Without it, Payload 3 counts no items of a `join` field; its pages by number leave some out.
COUNT_FLAG = "count"
CURRENT_PAGES = ("currentPage", "pageNumber", "current_page", "page", "pageIndex")
# Lighthouse has `paginatorInfo`, API Platform `paginationInfo`, Magento `page_info`.
INFO_HOLDER = re.compile(r"info|meta|.*(?:page|paging|pagin|cursors?).*", re.IGNORECASE)
MAX_INFO_DEPTH = 2  # Strapi has `meta { pagination { ... } }`


def find_last_step(name: str) -> str:
    """Return the last part of a dotted name, if the others describe a page; else empty.

    Examples
    --------
    >>> find_last_step("hasMore"), find_last_step("meta.pagination.total"), find_last_step("a.b")
    ('hasMore', 'total', '')
    """
    *holders, last = name.split(".")
    is_info = len(holders) <= MAX_INFO_DEPTH and all(map(INFO_HOLDER.fullmatch, holders))
    return last if is_info else ""


def is_pointer(name: str) -> bool:
    """Return whether a value beside a list is null where no page follows."""
    step = find_last_step(name)
    return step in TOKENS or (step in NEXT_POINTERS and step != name)


def read_sign(name: str, value: object) -> bool | None:
    """Return whether a value beside a list says that rows follow; None if it says nothing.

    Examples
    --------
    >>> read_sign("hasMore", True), read_sign("page.isLast", True), read_sign("total", 7)
    (True, False, None)
    >>> read_sign("nextToken", "abc"), read_sign("nextToken", None)
    (True, None)
    """
    step = find_last_step(name)
    if isinstance(value, int) and step in MORE_FLAGS:  # in Codex the number of further rows
        return value > 0
    if isinstance(value, bool) and step in LAST_FLAGS:
        return not value
    if value is True and LACK_NAME.fullmatch(step):  # false may be said of a text
        return True
    return True if value and is_pointer(name) else None


class PageInfoPaths(msgspec.Struct, frozen=True):
    """Paths of fields that describe a page, as field names or as response names.

    Attributes
    ----------
    more
        The field that tells whether there is a next page; empty if unknown.
    meaning
        The meaning of its value. ``"flag"``: true if there is one. ``"last"``: true if there is
        not. ``"pointer"``: not null if there is one. ``"number"``: the number of the last page.
        ``"pages"``: how many pages there are.
    cursor
        The cursor of the next page; empty for pages without cursors.
    current
        The number of the page; empty if unknown.
    is_end_cursor
        Whether the last page has a cursor, too.
    is_of_row
        Whether the path of the cursor begins at the last row of a page.
    """

    more: Path = ()
    meaning: MoreMeaning = ""
    cursor: Path = ()
    current: Path = ()
    is_end_cursor: bool = False
    is_of_row: bool = False


def get_at_path(page: object, path: ArgumentPath) -> Any:  # noqa: ANN401 - a JSON value
    """Return the value at a path of names and indices in a page, or None."""
    for step in path:
        if isinstance(step, int):
            items = page if isinstance(page, list) else [page]  # one item is read as a list of it
            page = items[step] if step < len(items) else None
        else:
            page = page.get(step) if isinstance(page, Mapping) else None
    return page


def is_null(data: object, steps: Sequence[str]) -> bool:
    """Return whether a value is null, or an object around it, outside of any list."""
    # GitLab so hides a project that may not be read; AppSync's simulator returns null for a list
    # with a number above 2**53.
    for step in steps:
        # A fragment on another type leaves no key.
        data = data.get(step, "") if isinstance(data, dict) else data
    return data is None


def find_page_info(kind: NamedType, arguments: PageArguments) -> PageInfoPaths | None:
    """Return the paths of fields that describe pages of a type.

    Returns
    -------
    PageInfoPaths or None
        None if the arguments require a cursor that the pages do not have.
    """
    leaves = dict(iterate_leaves(kind))
    by_name = {path[-1]: path for path in reversed(leaves)}
    cursor: Path = ()
    if arguments.kind == "cursor":
        cursor = next((by_name[n] for n in NEXT_CURSORS if n in by_name), ())
        if not cursor:
            return None
    is_end = bool(cursor) and cursor[-1] in END_CURSORS
    current: Path = ()
    if arguments.kind == "page":
        numbers = (by_name[n] for n in CURRENT_PAGES if n in by_name)
        current = next((p for p in numbers if INTEGER_TYPE.fullmatch(leaves[p])), ())
    for names, meaning, types, kinds in MORE_FIELDS:
        for path in (by_name[name] for name in names if name in by_name):
            if arguments.kind in kinds and re.fullmatch(types, leaves[path]):
                return PageInfoPaths(path, meaning, cursor, current, is_end_cursor=is_end)
    return PageInfoPaths(cursor=cursor, current=current, is_end_cursor=is_end)


def find_count(kind: NamedType, arguments: Mapping[str, Any]) -> Path:
    """Return the path of the total count in pages of a type, or empty.

    Parameters
    ----------
    kind
        The type of the page.
    arguments
        The values of enum arguments by name: GitHub has a count for each type of a search (``type:
        ISSUE``, ``issueCount``).
    """
    leaves = {path: name for path, name in iterate_leaves(kind) if INTEGER_TYPE.fullmatch(name)}
    by_name = {path[-1]: path for path in reversed(leaves)}
    for value in arguments.values():
        if f"{str(value).lower()}Count" in by_name:
            return by_name[f"{str(value).lower()}Count"]
    return next((by_name[name] for name in (*TOTAL_COUNTS, PLAIN_COUNT) if name in by_name), ())


def has_count_flag(declared: GraphQLField | None) -> bool:
    """Return whether a field counts its items only if an argument says so."""
    argument = None if declared is None else declared.args.get(COUNT_FLAG)
    return argument is not None and str(argument.type) == "Boolean"


def iterate_leaves(kind: NamedType, above: Path = ()) -> Iterator[tuple[Path, str]]:
    """Yield path and type name of the leaves of a page and of the objects that describe it."""
    below = []
    for name, declared in getattr(kind, "fields", {}).items():
        named = get_named_type(declared.type)
        if is_list(declared.type) or any(map(is_required_argument, declared.args.values())):
            continue
        if is_leaf_type(named):
            yield (*above, name), named.name
        elif is_object_type(named) and INFO_HOLDER.fullmatch(name) and len(above) < MAX_INFO_DEPTH:
            below.append((named, (*above, name)))
    for named, path in below:
        yield from iterate_leaves(named, path)


# -- cursors that are offsets

# From them the cursors of all further pages can be computed. Relay's array connections write
# `arrayconnection:N` in base64, counted from 0; GitHub's searches write `cursor:N`, counted from 1;
# other servers write only the number. A cursor is taken for an offset if it fits the number of
# items so far. That remains a guess: a page is used only if the page before it ends with the cursor
# that was computed.
OFFSET_PATTERN = re.compile(r"(|cursor:|arrayconnection:|offset:)(0|[1-9][0-9]{0,14})")
# GitHub: "only the first 1,000 search results are available", also if their count is higher.
REACHABLE_ITEMS = {"cursor:": 1000}


class OffsetFormat(NamedTuple):
    """The format of cursors that are offsets.

    Attributes
    ----------
    prefix
        Text before the number.
    shift
        Number in a cursor minus the number of items up to it: 0 or -1.
    is_base64
        Whether the text is encoded in base64.
    """

    prefix: str
    shift: int
    is_base64: bool

    @property
    def max_items(self) -> int | None:
        """Number of items that can be fetched; None for no limit."""
        return REACHABLE_ITEMS.get(self.prefix)

    def format_cursor(self, count: int) -> str:
        """Return the cursor after `count` items."""
        text = f"{self.prefix}{count + self.shift}"
        return b64encode(text.encode()).decode() if self.is_base64 else text


def parse_offset(cursor: object) -> tuple[str, int, bool] | None:
    """Return the prefix and the number of an offset, and whether it is in base64; None for others.

    Examples
    --------
    >>> parse_offset("Y3Vyc29yOjEwMA=="), parse_offset("page-19")
    (('cursor:', 100, True), None)
    """
    texts = (cursor, decode_base64(cursor)) if isinstance(cursor, str) else ()
    matches = map(OFFSET_PATTERN.fullmatch, texts)
    return next(((m[1], int(m[2]), m.string != cursor) for m in matches if m is not None), None)


def detect_offset_format(cursor: object, count: int) -> OffsetFormat | None:
    """Return the format of the cursor after `count` items; None if it is not an offset.

    Examples
    --------
    >>> detect_offset_format("Y3Vyc29yOjEwMA==", 100)
    OffsetFormat(prefix='cursor:', shift=0, is_base64=True)
    >>> detect_offset_format("20", 10)
    """
    prefix, number, is_base64 = parse_offset(cursor) or ("", 0, False)
    found = OffsetFormat(prefix, number - count, is_base64)
    is_offset = bool(count) and found.shift in {0, -1} and found.format_cursor(count) == cursor
    return found if is_offset else None


def are_offsets(cursors: Sequence[object]) -> bool:
    """Return whether the cursors of a page's items are consecutive offsets.

    Examples
    --------
    >>> are_offsets(["41", "42", "43"]), are_offsets(["41", "57"])
    (True, False)
    """
    offsets = [*map(parse_offset, cursors)]
    numbers = [offset[1] for offset in offsets if offset is not None]
    consecutive = [*range(numbers[0], numbers[0] + len(cursors))] if numbers else None
    return numbers == consecutive


def contains_offset(cursor: object, count: int) -> bool:
    """Return whether a cursor after `count` items contains that number, or the one before it.

    A cursor made of the last item's key may contain it by chance.

    Examples
    --------
    >>> contains_offset("eyJvZmZzZXQiOiAyMH0=", 20), contains_offset("page-19-of-search", 20)
    (True, True)
    """
    text = str(cursor)
    numbers = re.findall(r"[0-9]{1,15}", f"{text} {decode_base64(text)}")
    return count > 0 and any(count - int(number) in {0, 1} for number in numbers)


def decode_base64(cursor: str) -> str:
    """Return the ASCII text of a base64 cursor; an empty text for other cursors."""
    try:
        return b64decode(cursor, validate=True).decode("ascii")
    except (Error, ValueError):
        return ""
