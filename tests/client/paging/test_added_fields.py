"""Lists whose server fails for what is added to their query, and pages that mislead."""

from __future__ import annotations

from typing import Any

import pytest

from tests.client.paging.lists import build_page, fail, read_rows
from tests.client.paging.lists import fetch as fetch_result

ROWS = [{"id": f"n{n}", "name": f"n{n}"} for n in range(130)]
INFO = "pageInfo: Info! } type Info { hasNextPage: Boolean endCursor: String }"
NUMBERED = "rows(page: Int, perPage: Int): Page"
FOLLOWED = "rows(first: Int, after: String, last: Int): Page"
ROW = "type Row { id: ID! name: String }"
PAGE_TEXT = "{ rows(perPage: 20) { items { name } } }"
NODES_TEXT = "{ rows(first: 20) { nodes { name } } }"


def deny(*_: Any) -> Any:
    """Fail for a field."""
    fail("not allowed")


def fetch(sdl: str, resolve: Any, text: str, types: Any = None) -> tuple[list[str], Any]:
    """Return the names of all rows of `rows`, and the result."""
    result = fetch_result(sdl, resolve, text, types)
    return [row["name"] for row in read_rows(result)], result


def cut_from(args: dict[str, Any], rows: list[dict[str, str]] = ROWS) -> dict[str, Any]:
    """Return a page behind a cursor that is an offset."""
    return build_page(rows, args.get("after"), 20)


def test_pages_are_numbered_by_their_rows_without_identifiers():
    """The service counts from 1, and the first page is not taken twice."""

    def resolve(args: dict[str, Any]) -> dict[str, Any]:
        start = ((args.get("page") or 1) - 1) * 20
        return build_page(ROWS, start, 20, hasNextPage=start + 20 < 130)

    sdl = f"{NUMBERED} type Page {{ items: [Row!]! hasNextPage: Boolean }} {ROW}"
    names, result = fetch(sdl, resolve, PAGE_TEXT, {"Row": {"id": deny}})
    assert len(set(names)) == len(names) == 130
    assert result.report.complete


@pytest.mark.parametrize("key", ["id: ID", "id: ID!"])
def test_a_page_that_comes_again_ends_a_list_without_identifiers(key):
    """A service that ignores the number of the page, and always promises another one."""
    sdl = f"{NUMBERED} type Page {{ items: [Row] hasNextPage: Boolean }}"
    sdl += f" type Row {{ {key} name: String }}"
    page = {"items": ROWS[:20], "hasNextPage": True}
    names, result = fetch(sdl, lambda _args: page, PAGE_TEXT, {"Row": {"id": deny}})
    assert len(set(names)) == 20
    assert not result.report.complete


def test_rows_that_move_are_noticed_without_identifiers():
    """The order changes while pages are requested."""
    asked: list[Any] = []

    def resolve(args: dict[str, Any]) -> dict[str, Any]:
        asked.append(args)
        return cut_from(args, ROWS if len(asked) < 4 else ROWS[::-1])

    sdl = f"{FOLLOWED} type Page {{ nodes: [Row!]! {INFO} {ROW}"
    names, result = fetch(sdl, resolve, NODES_TEXT, {"Row": {"id": deny}})
    assert len(set(names)) < 130
    assert not result.report.complete


def test_an_added_field_that_fails_on_a_later_page_costs_no_row():
    """The page is requested again without it."""
    sdl = f"{FOLLOWED} type Page {{ nodes: [Row!]! {INFO} type Row {{ name: String ref: ID! }}"
    ref = {"ref": lambda row, *_: deny() if row["name"] == "n77" else row["id"]}
    names, result = fetch(sdl, cut_from, NODES_TEXT, {"Row": ref})
    assert names == [row["name"] for row in ROWS]
    assert result.report.complete
    assert not result.errors


def test_what_says_whether_pages_follow_is_requested_although_it_fails():
    """The cursor beside it brings the other pages."""
    sdl = f"{FOLLOWED} type Page {{ nodes: [Row!]! {INFO} {ROW}"

    def resolve(args: dict[str, Any]) -> dict[str, Any]:
        return {**cut_from(args), "pageInfo": {"endCursor": str(int(args.get("after") or 0) + 20)}}

    names, result = fetch(sdl, resolve, NODES_TEXT, {"Info": {"hasNextPage": deny}})
    assert names == [row["name"] for row in ROWS]
    assert not result.report.complete


@pytest.mark.parametrize("size", ["(take: 20)", ""])
@pytest.mark.parametrize("share", [3, 7])
def test_rows_that_come_again_behind_a_short_page_are_no_rounded_offset(share, size):
    """The service filters its rows after it has cut the page."""

    def resolve(args: dict[str, Any]) -> dict[str, Any]:
        start = args.get("skip") or 0
        page = enumerate(ROWS[start : start + (args.get("take") or 20)], start)
        return {"items": [row for number, row in page if number % share]}

    sdl = f"rows(skip: Int, take: Int): Page type Page {{ items: [Row] }} {ROW}"
    names, result = fetch(sdl, resolve, f"{{ rows{size} {{ items {{ name }} }} }}")
    assert set(names) == {row["name"] for n, row in enumerate(ROWS) if n % share} or not (
        result.report.complete
    )


@pytest.mark.parametrize("start", [3, 5, 10])
def test_a_written_offset_that_is_rounded_down_loses_no_row_silently(start):
    """As remult 3.3 rounds them, so that the first page begins before it."""

    def resolve(args: dict[str, Any]) -> dict[str, Any]:
        size = args.get("take") or 20
        begin = (args.get("skip") or 0) // size * size
        return build_page(ROWS, begin, size, hasNextPage=begin + size < 130)

    sdl = "rows(skip: Int, take: Int): Page type Page { items: [Row] hasNextPage: Boolean }"
    text = f"{{ rows(take: 20, skip: {start}) {{ items {{ name }} }} }}"
    names, result = fetch(f"{sdl} {ROW}", resolve, text)
    assert set(names) >= {row["name"] for row in ROWS[start:]} or not result.report.complete


def test_counts_of_two_objects_are_not_one_count():
    """Aliases of one field with other arguments."""
    sdl = f"rows(word: String, page: Int): Page type Page {{ total: Int items: [Row] }} {ROW}"

    def resolve(args: dict[str, Any]) -> dict[str, Any]:
        rows = [{"id": f"{args['word']}{n}", "name": f"{args['word']}{n}"} for n in range(100)]
        return build_page(rows, ((args.get("page") or 1) - 1) * 20, 20)

    text = '{ a: rows(word: "x") { items { name } } b: rows(word: "y") { items { name } } }'
    result = fetch_result(sdl, resolve, text)
    assert [len(result.data[name]["items"]) for name in "ab"] == [100, 100]
    assert result.report.complete


def test_a_variable_without_a_value_keeps_the_default_of_its_argument():
    """All of it: the size is no more than a part."""
    sdl = """rows(paging: Paging = { first: 20, tag: "a" }): Page
    input Paging { first: Int after: String tag: String }"""

    def resolve(args: dict[str, Any]) -> dict[str, Any]:
        paging = args.get("paging") or {}
        rows = [{"id": str(n), "name": f"{paging.get('tag')}{n}"} for n in range(130)]
        return build_page(rows, paging.get("after"), paging.get("first") or 20)

    text = "query ($p: Paging) { rows(paging: $p) { nodes { name } } }"
    names, _ = fetch(f"{sdl} type Page {{ nodes: [Row!]! {INFO} {ROW}", resolve, text)
    assert names == [f"a{n}" for n in range(130)]


def test_an_empty_page_behind_a_number_that_is_no_offset_is_doubted():
    """The number is a value of the order, and rows without one are lost."""
    ages = {row["id"]: 1000 + 7 * n if n < 60 else None for n, row in enumerate(ROWS)}

    def resolve(args: dict[str, Any]) -> dict[str, Any]:
        least = int(args.get("after") or 0)
        late = [r for r in ROWS if (ages[r["id"]] or 0) > least or not args.get("after")][:20]
        info = {
            "hasNextPage": bool(late) and late[-1] is not ROWS[-1],
            "endCursor": str(ages[late[-1]["id"]]) if late else None,
        }
        return {"nodes": late, "pageInfo": info}

    sdl = f"{FOLLOWED} type Page {{ nodes: [Row!]! {INFO} {ROW}"
    names, result = fetch(sdl, resolve, NODES_TEXT)
    assert len(names) < 130
    assert not result.report.complete


EDGES = f"{FOLLOWED.replace('Page', 'Edges')} {ROW}"
EDGES_TEXT = "{ rows(first: 20) { edges { node { name } } } }"


def cut_edges(args: dict[str, Any]) -> dict[str, Any]:
    """Return a page behind the cursor of a row."""
    after = args.get("after")
    start = len(ROWS) - 1 if args.get("last") else int(after[1:]) + 1 if after else 0
    page = enumerate(ROWS[start : start + 20], start)
    edges = [{"cursor": f"c{n}", "node": row} for n, row in page]
    info = {"hasNextPage": start + 20 < len(ROWS), "endCursor": edges[-1]["cursor"]}
    return {"edges": edges, "pageInfo": info}


def test_an_endpoint_that_takes_end_cursors_alone_is_read_to_its_end():
    """A page that repeats the last row begins behind another one, which is refused."""
    ends: set[str | None] = {None}

    def resolve(args: dict[str, Any]) -> dict[str, Any]:
        page = cut_edges(args) if args.get("after") in ends else deny()
        ends.add(page["pageInfo"]["endCursor"])
        return page

    names, result = fetch(EDGES, resolve, EDGES_TEXT)
    assert names == [row["name"] for row in ROWS]
    assert result.report.complete


def test_a_list_that_fails_later_does_not_go_back_to_its_second_page():
    """The end cursor of the first page was needed for the second one alone."""
    asked: list[str] = []

    def resolve(args: dict[str, Any]) -> dict[str, Any]:
        asked.append(args.get("after") or "")
        return deny() if len(asked) == 5 else cut_edges(args)

    names, result = fetch(EDGES, resolve, EDGES_TEXT)
    assert names == [row["name"] for row in ROWS[: len(names)]]
    assert not result.report.complete
    assert "not allowed" in result.report.doubts[0]
    assert len(set(filter(None, asked))) == len([at for at in asked if at])


def test_an_alias_in_another_selection_of_page_info_stays_apart():
    """What is added to one selection would be another field than its name in the other."""
    sdl = "rows(first: Int, after: String): Page type Page { nodes: [Row!]! "
    sdl += INFO.replace("endCursor", "startCursor: String endCursor") + ROW
    text = """{ rows { nodes { name } pageInfo { hasNextPage } ...more } }
      fragment more on Page { pageInfo { endCursor: startCursor } }"""
    names, result = fetch(sdl, cut_from, text)
    assert len(names) == len(ROWS)
    assert result.report.complete
