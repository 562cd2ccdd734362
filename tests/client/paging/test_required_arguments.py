"""Arguments of pages that are required: what is sent for a page has their types and members."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gqlnb import Access, Client, Schema, serve
from tests.client.paging.lists import assert_whole, build_page, build_rows, complete_sdl, fetch

if TYPE_CHECKING:
    from collections.abc import Mapping

ROWS = build_rows(60)
PAGE_INPUT = "input In { page: Int! perPage: Int! } type Page { total: Int! items: [Row!]! }"
REQUIRED = {
    "page number": ("rows(page: Int!, limit: Int!): [Row!]!", "(page: 1, limit: 10)", "{ id }"),
    "page number, counted": (
        "rows(page: Int!, pageSize: Int!): Page! type Page { total: Int! items: [Row!]! }",
        "(page: 1, pageSize: 10)",
        "{ items { id } }",
    ),
    "offset": ("rows(offset: Int!, limit: Int!): [Row!]!", "(offset: 0, limit: 10)", "{ id }"),
    "connection": (
        "rows(first: Int!, after: String!): Nodes!",
        '(first: 10, after: "")',
        "{ nodes { id } }",
    ),
    "connection with a last row": (
        "rows(first: Int!, after: String, last: Int): Edges! type Edge { node: Row! }",
        "(first: 10)",
        "{ edges { node { id } } }",
    ),
    "input object": (
        f"rows(pagination: In!): Page! {PAGE_INPUT}",
        "(pagination: {page: 1, perPage: 10})",
        "{ items { id } }",
    ),
}
# Open Targets has `page: {index: Int!, size: Int!}`.
WITH_BOTH = {
    "index": "rows(page: In): Page! type Page { count: Int! rows: [Row!]! } "
    "input In { index: Int! size: Int! }",
    "page": f"rows(pagination: In): Page! {PAGE_INPUT.replace('items', 'rows')}",
    "offset": "rows(paging: In): Page! type Page { rows: [Row!]! } "
    "input In { offset: Int! limit: Int! }",
}


def cut(args: Mapping[str, Any]) -> dict[str, Any] | list[Any]:
    """Return the page for arguments, which may be in an input object."""
    args = next((value for value in args.values() if isinstance(value, dict)), args)
    size = args.get("limit") or args.get("perPage") or args.get("pageSize") or args.get("first")
    size = size or args.get("size") or 10
    start = args.get("offset") or args.get("after") or args.get("index", 0) * size
    page = build_page(ROWS, start or (args.get("page", 1) - 1) * size, size)
    return {**page, "rows": page["items"], "count": len(ROWS)}


def resolve_plain(args: Mapping[str, Any]) -> Any:
    """Return the rows of a page alone."""
    return cut(args)["rows"]


@pytest.mark.parametrize("name", REQUIRED)
def test_required_arguments_are_followed(name):
    sdl, arguments, selection = REQUIRED[name]
    resolve = resolve_plain if selection == "{ id }" else cut
    result = fetch(sdl, resolve, f"{{ rows{arguments} {selection} }}")
    assert_whole(result, range(60))
    assert result.report.requests <= 10  # none of which is refused


@pytest.mark.parametrize("name", ["page number", "offset", "connection"])
def test_required_arguments_of_an_unknown_schema_are_followed(name):
    """Their types are not known."""
    sdl, arguments, selection = REQUIRED[name]
    resolve = resolve_plain if selection == "{ id }" else cut
    schema = Schema(complete_sdl(sdl), {"Query": {"rows": lambda _root, args, _: resolve(args)}})
    with serve(schema, port=0, access=Access(introspection=False)) as server:
        text = f"{{ rows{arguments} {selection} }}"
        assert_whole(Client(server.url).execute_all(text, progress=False), range(60))


@pytest.mark.parametrize("name", WITH_BOTH)
def test_a_new_input_object_has_all_required_members(name):
    """A size alone would be refused, as would a place alone."""
    for text in ("{ rows { rows { id } } }", "{ rows { page: rows { id } } }"):
        assert_whole(fetch(WITH_BOTH[name], cut, text), range(60))


def test_new_input_objects_of_lists_in_rows_have_all_required_members():
    """Their size is the one that an experiment found, since the query has none."""
    sdl = """owners: [Owner!]! owner(id: ID!): Owner type Owner { id: ID! rows(page: In): Page! }
    input In { index: Int! size: Int! } type Page { rows: [Row!]! }"""
    owners = build_rows(3)
    find = {"owners": lambda _: owners, "owner": lambda args: owners[int(args["id"])]}
    types = {"Owner": {"rows": lambda _root, args, _: cut(args)}}
    result = fetch(sdl, find, "{ owners { id rows { rows { id } } } }", types)
    assert [len(owner["rows"]["rows"]) for owner in result.data["owners"]] == [60] * 3
    assert result.report.complete


@pytest.mark.parametrize("mark", ["", "!"])
def test_a_cursor_in_a_new_input_object_stands_beside_its_size(mark):
    """The first page has the size alone, and no request is refused for what the other lacks."""
    sdl = f"""rows(opts: In): Page! type Page {{ rows: [Row!]! marker: String }}
    input In {{ most: Int{mark} marker: String }}"""

    def resolve(args: Mapping[str, Any]) -> Any:
        given = args.get("opts") or {}
        start, size = int(given.get("marker") or 0), min(given.get("most") or 10, 50)
        return {
            "rows": ROWS[start : start + size],
            "marker": str(start + size) if start + size < len(ROWS) else None,
        }

    result = fetch(sdl, resolve, "{ rows { rows { id } } }")
    assert_whole(result, range(60))
    assert result.report.requests <= 8


def test_a_cursor_of_several_members_is_doubtful():
    """What else it requires is not known."""
    sdl = """rows(first: Int, after: In): Page! type Page { rows: [Row!]! }
    input In { id: ID! rank: Int! }"""

    def resolve(args: Mapping[str, Any]) -> Any:
        start = int(args["after"]["id"]) + 1 if args.get("after") else 0
        return {"rows": ROWS[start : start + min(args.get("first") or 20, 30)]}

    assert not fetch(sdl, resolve, "{ rows { rows { id } } }").report.complete
