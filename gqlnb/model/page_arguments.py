"""Paging arguments of a field, recognised by their names and types.

Only cursor connections have a specification ("GraphQL Cursor Connections Specification"). The other
ways are conventions; the names below are those of Hasura, PostGraphile, Prisma, Neo4j, Directus,
Contentful, Strapi, HotChocolate, AppSync, The Graph, AniList and of the graphql.org tutorials.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from graphql import (
    GraphQLInputObjectType,
    Undefined,
    get_named_type,
    get_nullable_type,
    is_input_object_type,
    is_list_type,
    is_required_argument,
    is_scalar_type,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = [
    "ArgumentPath",
    "Kind",
    "PageArguments",
    "find_page_arguments",
    "limits_length",
    "normalize_name",
]

ArgumentPath = tuple[str, ...]  # an argument, or an argument and a field of its input object
Kind = Literal["cursor", "offset", "page", "none"]

OFFSETS = frozenset({"offset", "skip", "start", "startat", "startindex", "from"})
PAGES = frozenset({"page", "pagenumber", "pageno", "pagenum", "pageindex", "currentpage"})
ZERO_BASED = frozenset({"pageindex"})
CURSORS = frozenset(
    {"after", "cursor", "nexttoken", "pagetoken", "continuationtoken", "startingafter"}
)
# The first ones say by themselves that they bound a list; the others do so beside a position only:
# `size` and `count` may as well be those of a picture or a sample.
LIMITS = ("first", "limit", "take", "pagesize", "perpage", "top", "maxresults", "itemsperpage")
BOUNDS = (*LIMITS, "size", "count", "max", "rows", "length", "amount", "n", "num")
PAGE_SIZES = frozenset({"pagesize", "perpage", "itemsperpage", "size"})  # go with page numbers
# Input objects that hold paging arguments: Strapi, Strawberry's Django library, Neo4j.
HOLDERS = frozenset({"pagination", "paging", "pageable", "options", "pageinput", "page"})
WHOLE_NUMBER = re.compile(r"(?:[A-Z]\w*)?Int(?:eger)?\d*|(?:big|small)?int\d*|integer|Long|Short")


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

    kind: Kind
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
    arguments = list(_flatten(declared.args))
    sizes = [
        each for each in arguments if normalize_name(each[0][-1]) in BOUNDS and _is_whole(each[1])
    ]
    found = []
    for path, kind, default in arguments:
        name = normalize_name(path[-1])
        way: Kind | None = None
        if name in OFFSETS and _is_whole(kind) and (sizes or name in {"offset", "skip"}):
            way = "offset"
        elif name in PAGES and _is_whole(kind):
            way = "page"
        elif name in CURSORS and not _is_list(kind):
            way = "cursor"
        if way is None:
            continue
        size, default_size = _choose_size(sizes, path, way, given)
        if path != size:
            start = 0 if name in ZERO_BASED else _whole(default)
            type_ = str(get_nullable_type(kind))
            found.append(PageArguments(way, path, type_, size, default_size, start))
    order: tuple[Kind, ...] = ("cursor", "offset", "page")
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
    way: Kind,
    given: Mapping[str, Any],
) -> tuple[ArgumentPath, int | None]:
    """Return the argument for the size that belongs to a position, and its default value.

    Strapi takes ``page`` with ``pageSize`` and ``start`` with ``limit``, and refuses a mixture.
    """

    def rank(each: tuple[ArgumentPath, Any, Any]) -> tuple[Any, ...]:
        name = normalize_name(each[0][-1])
        apart = each[0][:-1] != position[:-1]
        fits = (name in PAGE_SIZES) == (way == "page")
        return apart, not fits, not _is_given(each[0], given), BOUNDS.index(name)

    chosen = min(sizes, key=rank, default=None)
    return ((), None) if chosen is None else (chosen[0], _whole(chosen[2]))


def _is_given(path: ArgumentPath, given: Mapping[str, Any]) -> bool:
    """Return whether the text gives an argument, or a field of an input object."""
    value: Any = given
    for name in path:
        if not isinstance(value, Mapping) or name not in value:
            return False
        value = value[name]
    return True


def limits_length(declared: Any, given: Mapping[str, Any]) -> PageArguments | None:
    """Return the bound of a list that offers no way to ask for more; None if it has no bound."""
    for path, kind, default in _flatten(declared.args):
        if normalize_name(path[-1]) in (*LIMITS, "last") and _is_whole(kind):
            bounded = _is_given(path, given) or not is_required_argument(declared.args[path[0]])
            if bounded:
                return PageArguments("none", size=path, default_size=_whole(default))
    return None


def _flatten(arguments: Mapping[str, Any]) -> Iterator[tuple[ArgumentPath, Any, Any]]:
    """Yield path, type and default value of the arguments, also of those in input objects."""
    for name, argument in arguments.items():
        kind = get_nullable_type(argument.type)
        if is_input_object_type(kind):
            assert isinstance(kind, GraphQLInputObjectType)  # noqa: S101 - for the type checker
            if normalize_name(name) in HOLDERS or _holds_paging(kind):
                for inner, field in kind.fields.items():
                    yield (name, inner), field.type, field.default_value
        else:
            yield (name,), argument.type, argument.default_value


def _holds_paging(kind: GraphQLInputObjectType) -> bool:
    """Return whether an input object has a field for the position, and one for the size."""
    names = {normalize_name(name) for name, field in kind.fields.items() if _is_whole(field.type)}
    return bool(names & (OFFSETS | PAGES)) and bool(names & {*LIMITS, "size"})


def normalize_name(name: str) -> str:
    """Return a name without the differences of spelling: `page_size` and `pageSize` are one."""
    return name.replace("_", "").lower()


def _is_whole(kind: Any) -> bool:
    """Return whether a type is that of whole numbers, by its name: `Int`, `BigInt`, `Long` ..."""
    named = get_named_type(kind)
    return not _is_list(kind) and is_scalar_type(named) and bool(WHOLE_NUMBER.fullmatch(named.name))


def _is_list(kind: Any) -> bool:
    return is_list_type(get_nullable_type(kind))


def _whole(default: Any) -> int | None:
    """Return a default value that is a whole number; None for any other, and for no default."""
    if default is Undefined or isinstance(default, bool) or not isinstance(default, int):
        return None
    return default
