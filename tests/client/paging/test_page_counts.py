"""Counts that are not those of all rows, and cursors that say that a short page is not the last."""

from __future__ import annotations

from typing import Any

import pytest

from gqlnb import Client
from tests.client.paging.lists import build_client, build_page, build_rows, fail, fetch, read_rows
from tests.examples import select_combinations

ROWS = build_rows(137)
COUNTED = """
products(limit: Int, offset: Int, start: Int, page: Int): Products!
type Products { count: Int!, total: Int, results: [Row!]! }
"""
TOKENS = """
rows(filter: String, limit: Int, nextToken: String): Page!
type Page { items: [Row!]!, nextToken: String }
"""


@pytest.mark.parametrize(
    ("rows", "size", "place"),
    select_combinations([1, 7, 23, 24, 40, 137], [20, 23, 24], ["offset", "start", "page"]),
)
def test_a_count_of_the_page_is_no_total(size: int, place: str, rows: int) -> None:
    """As `count` is beside `total` in commercetools' API, where a page has 20 rows by default."""

    def resolve(args: dict[str, Any]) -> Any:
        asked = args.get("limit") or size
        start = args.get("offset") or args.get("start") or ((args.get("page") or 1) - 1) * asked
        results = ROWS[:rows][start : start + asked]
        return {"count": len(results), "total": rows, "results": results}

    sdl = COUNTED.replace("limit: Int, ", "") if place != "offset" else COUNTED
    names = {"offset", "start", "page"} - {place}
    for name in names:
        sdl = sdl.replace(f", {name}: Int", "").replace(f"{name}: Int, ", "")
    client = build_client(sdl, resolve)
    result = client.execute_all("{ products { count results { id } } }", progress=False)
    assert len(read_rows(result)) == rows
    first = client.execute("{ products { count results { id } } }").frame().attrs
    if size != 23 and rows >= size:  # services do not return 23 rows by default
        assert not first["completeness"].startswith("complete")


def test_a_total_beside_it_is_one() -> None:
    """It equals the rows where all came."""
    client = build_client(COUNTED, lambda _: {"count": 20, "total": 20, "results": ROWS[:20]})
    frame = client.execute("{ products { count total results { id } } }").frame()
    assert frame.attrs["completeness"] == "complete: `total` counts as many rows"


def test_elasticsearch_counts_up_to_a_limit() -> None:
    """Without `track_total_hits` it counts 10,000 of more rows, and returns no more of them."""

    def resolve(args: dict[str, Any]) -> Any:
        start, size = args.get("from") or 0, args.get("size") or 10
        if start + size > 10_000:
            fail("Result window is too large")
        return {"total": 10_000, "hits": build_rows(10_100)[start : start + size]}

    sdl = "search(from: Int, size: Int): Hits! type Hits { total: Int!, hits: [Row!]! }"
    for size in (5_000, 10_000):
        result = fetch(sdl, resolve, f"{{ search(size: {size}) {{ total hits {{ id }} }} }}")
        assert len(read_rows(result)) == 10_000
        assert not result.report.complete


@pytest.mark.parametrize(("most", "is_complete"), [(5_000, True), (140, False)])
def test_a_count_may_be_an_estimate_until_the_last_page(most: int, *, is_complete: bool) -> None:
    """AniList counts 5,000; where a count falls less, rows may have left, and moved others."""
    sdl = """rows(page: Int, perPage: Int): Page! type Page { pageInfo: Info! media: [Row!]! }
    type Info { total: Int! hasNextPage: Boolean! }"""

    def resolve(args: dict[str, Any]) -> Any:
        size, page = min(args.get("perPage") or 50, 50), args.get("page") or 1
        is_last = page * size >= len(ROWS)
        info = {"total": len(ROWS) if is_last else most, "hasNextPage": not is_last}
        return {"pageInfo": info, "media": ROWS[(page - 1) * size : page * size]}

    result = fetch(sdl, resolve, "{ rows { media { id } } }")
    assert len(read_rows(result)) == len(ROWS)
    assert result.report.complete == is_complete


@pytest.fixture
def filtered() -> Client:
    """Return a client of a list that is filtered after its pages were cut, as AppSync does."""
    kept = {*range(13), *range(900, 1000)}

    def resolve(args: dict[str, Any]) -> Any:
        start, size = int(args.get("nextToken") or 0), args.get("limit") or 50
        items = [{"id": str(number)} for number in range(start, start + size) if number in kept]
        return {"items": items, "nextToken": str(start + size) if start + size < 1000 else None}

    return build_client(TOKENS, resolve)


def test_a_short_page_with_a_token_is_not_the_last(filtered: Client) -> None:
    """It is 13 of 113 rows; without the token nobody knows."""
    frame = filtered.execute("{ rows(limit: 50) { items { id } nextToken } }").frame()
    assert frame.attrs["partial"]
    assert frame.attrs["completeness"] == "more: `nextToken` is not null"
    frame = filtered.execute("{ rows(limit: 50) { items { id } } }").frame()
    assert frame.attrs["completeness"] == "unknown: `nextToken` is not selected"
    text = '{ rows(limit: 50, nextToken: "600") { items { id } } }'
    assert filtered.execute(text).frame().attrs["completeness"].startswith("unknown")
    text = '{ rows(limit: 51, nextToken: "951") { items { id } nextToken } }'
    assert filtered.execute(text).frame().attrs["completeness"] == "complete: `nextToken` is null"


@pytest.mark.parametrize("arguments", ["cursor: String", "input: In"])
def test_a_cursor_beside_rows_may_be_that_of_the_next_page(arguments: str) -> None:
    """Which Codex documents, for pages without rows too; others have one at the end of a list."""
    sdl = f"""rows({arguments}): Page! input In {{ cursor: String }}
      type Page {{ items: [Row!]!, cursor: String }}"""
    page = {"items": [{"id": "1"}], "cursor": "a"}
    client = build_client(sdl, lambda _: page)
    for text, verdict in {
        "{ rows { items { id } cursor } }": "unknown: `cursor` is not null",
        "{ rows { items { id } } }": "complete: no sign suggests that rows are missing",
    }.items():
        assert client.execute(text).frame().attrs["completeness"] == verdict
    page["items"] = []
    frame = client.execute("{ rows { items { id } } }").frame()
    assert frame.attrs["completeness"] == "unknown: `cursor` is not selected"


@pytest.mark.parametrize("size", ["", "(limit: 10)"])
def test_pages_that_lack_the_row_itself_are_enlarged(size: str) -> None:
    """Balboa 2.0 takes an entry out of the aliases of its address after it has cut them."""
    names = [{"name": f"host{number}"} for number in range(1200)]
    sdl = """entry: [Entry] type Entry { aliases(limit: Int = 1000): [Alias] }
      type Alias { name: String! }"""
    aliases = {"aliases": lambda _root, args, _context: names[1 : args["limit"]]}
    client = build_client(sdl, lambda _: [{}], {"Entry": aliases})
    text = f"{{ entry {{ aliases{size} {{ name }} }} }}"
    frame = client.execute(text).frame("entry.aliases")
    assert len(frame) == (9 if size else 999)
    is_long = frame.attrs["completeness"].startswith("unknown: 1 of 1 lists: one row less")
    assert is_long is not bool(size)
    result = client.execute_all(text, progress=False)
    assert len(result.data["entry"][0]["aliases"]) == 1199
    assert result.report.complete


@pytest.mark.parametrize("holder", ["pageInfo", "info", "meta", "pagination"])
def test_the_next_page_may_stand_in_an_object(holder: str) -> None:
    """As `pageInfo { next }` of Lens, and `info { next }` of the Rick and Morty API."""
    sdl = f"""rows(cursor: String): Page!
      type Page {{ items: [Row!]!, {holder}: Info }} type Info {{ next: String }}"""
    page: dict[str, Any] = {"items": ROWS[:13], holder: {"next": "a"}}
    client = build_client(sdl, lambda _: page)

    def judge(text: str) -> str:
        verdict: str = client.execute(text).frame().attrs["completeness"]
        return verdict

    text = f"{{ rows {{ items {{ id }} {holder} {{ next }} }} }}"
    assert judge(text) == f"more: `{holder}.next` is not null"
    assert judge("{ rows { items { id } } }") == f"unknown: `{holder}.next` is not selected"
    page[holder]["next"] = None
    assert judge(text) == f"complete: `{holder}.next` is null"


def test_the_cursor_of_an_object_that_describes_the_page_is_selected() -> None:
    """As `pageInfo { next }` of Lens, whose cursors are a scalar within an input object."""

    def resolve(args: dict[str, Any]) -> Any:
        page = build_page(ROWS, args["request"].get("cursor"), 50)
        info = page["pageInfo"]
        return {**page, "pageInfo": {"next": info["endCursor"] if info["hasNextPage"] else None}}

    sdl = """posts(request: Asked!): Posts! scalar Cursor
      input Asked { cursor: Cursor, forFeed: String } type Info { next: Cursor, prev: Cursor }
      type Posts { items: [Row!]!, pageInfo: Info! }"""
    result = fetch(sdl, resolve, "{ posts(request: {}) { items { id } } }")
    assert result.data == {"posts": {"items": ROWS}}
    assert result.report.complete
