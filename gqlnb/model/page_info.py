"""Where a page says whether there is more: field names that services use beside the items.

Only ``pageInfo`` of cursor connections is specified. The names below are those of HotChocolate and
Strawberry (``pageInfo``), AniList (``pageInfo { lastPage hasNextPage }``), the Rick and Morty API
(``info { pages next }``), Strapi (``meta { pagination { pageCount } }``), AppSync (``nextToken``),
Contentful (``total``) and of Apollo's tutorials (``cursor hasMore``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from graphql import (
    get_named_type,
    get_nullable_type,
    is_leaf_type,
    is_list_type,
    is_object_type,
    is_required_argument,
)

if TYPE_CHECKING:
    from gqlnb.model.page_arguments import PageArguments

__all__ = ["ENDS", "PageInfoPaths", "find_count", "find_page_info", "get_path"]

Path = tuple[str, ...]
More = Literal["", "flag", "last", "pointer", "pages"]

FLAGS = ("hasNextPage", "hasNext", "hasMore", "hasMorePages", "has_next_page", "has_more", "more")
LAST_FLAGS = ("isLast", "isLastPage", "last")
POINTERS = ("nextPage", "nextOffset", "next")
PAGE_COUNTS = ("lastPage", "totalPages", "pageCount", "pages", "total_pages", "last_page")
NEXT_CURSORS = (
    *("nextToken", "nextCursor", "nextPageToken", "continuationToken", "next_cursor"),
    *("next_token", "next_page_token", "endCursor", "end_cursor", "cursor", "next", "after"),
)
ENDS = ("endCursor", "end_cursor", "cursor")  # they may be there on the last page, too
TOTALS = (
    *("totalCount", "total", "totalItems", "totalResults", "totalElements", "totalDocs"),
    *("total_count", "totalRecords", "filteredCount"),
)
CURRENT_PAGES = ("currentPage", "pageNumber", "current_page", "page", "pageIndex")
# Lighthouse has `paginatorInfo`, API Platform `paginationInfo`, Magento `page_info`.
HOLDER = re.compile(r"info|meta|.*(?:page|paging|pagin|cursors?).*", re.IGNORECASE)
DEPTH = 2  # Strapi has `meta { pagination { ... } }`


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
    meaning: More = ""
    cursor: Path = ()
    current: Path = ()


def get_path(page: Any, path: Path) -> Any:
    """Return the value at a path in a page; None if it is not there."""
    for step in path:
        page = page.get(step) if isinstance(page, Mapping) else None
    return page


def find_page_info(kind: Any, arguments: PageArguments) -> PageInfoPaths | None:
    """Return where pages of a type say whether there is more.

    None if they are asked for by a cursor that no page names.
    """
    leaves = dict(_leaves(kind))
    by_name = {path[-1]: path for path in reversed(leaves)}
    if arguments.kind == "cursor":
        cursor = next((by_name[n] for n in NEXT_CURSORS if n in by_name), None)
        if cursor is None:
            return None
        flag = next((by_name[n] for n in FLAGS if n in by_name), ())
        return PageInfoPaths(flag, "flag" if flag else "", cursor)
    current: Path = ()
    if arguments.kind == "page":
        numbers = (by_name[n] for n in CURRENT_PAGES if n in by_name)
        current = next((p for p in numbers if leaves[p] in {"Int", "Long"}), ())
    tests: list[tuple[tuple[str, ...], More, set[str]]] = [
        (FLAGS, "flag", {"Boolean"}),
        (LAST_FLAGS, "last", {"Boolean"}),
        (POINTERS, "pointer", {"Int", "Long", "String"}),
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
    leaves = {path: name for path, name in _leaves(kind) if name in {"Int", "BigInt", "Long"}}
    by_name = {path[-1]: path for path in reversed(leaves)}
    for value in arguments.values():
        if f"{str(value).lower()}Count" in by_name:
            return by_name[f"{str(value).lower()}Count"]
    return next((by_name[name] for name in TOTALS if name in by_name), ())


def _leaves(kind: Any, above: Path = ()) -> Iterator[tuple[Path, str]]:
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
        elif is_object_type(named) and HOLDER.fullmatch(name) and len(above) < DEPTH:
            below.append((named, (*above, name)))
    for named, path in below:
        yield from _leaves(named, path)
