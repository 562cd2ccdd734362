"""A count that an endpoint gives only on request shows the rows that its pages leave out."""

from __future__ import annotations

from typing import Any

import pytest

from gqlnb import Client
from tests.client.paging.lists import build_client, build_rows, fetch

SDL = """
rows(count: Boolean, limit: Int, page: Int): Page!
type Page { docs: [Row!]!, hasNextPage: Boolean!, totalDocs: Int }
"""
COUNT = 137


def build_docs(args: dict[str, Any], late: int, count: int = COUNT, size: int = COUNT) -> Any:
    """Return a page of a list in the shape of Payload 3, whose later pages begin late."""
    size, page = args.get("limit") or size, args.get("page") or 1
    start = (page - 1) * (size + late)
    total = count if args.get("count") else None
    docs = build_rows(count)[start : start + size]
    return {"docs": docs, "hasNextPage": start + size < count, "totalDocs": total}


def build_late_client(late: int) -> Client:
    """Return a client of such a list."""
    return build_client(SDL, lambda args: build_docs(args, late))


def test_left_out_rows_are_noticed():
    """Payload 3.90 leaves out a row for each page of a `join` field."""
    with pytest.warns(UserWarning, match="136 of 137 items"):
        result = build_late_client(1).execute_all("{ rows { docs { id } } }")
    assert not result.report.complete


def test_the_count_is_not_part_of_the_result():
    """It is asked for beside the rows."""
    result = build_late_client(0).execute_all("{ rows(limit: 20) { docs { id } } }")
    assert result.report.complete
    assert result.report.expected == COUNT
    assert [*result.data["rows"]] == ["docs"]


def test_an_answer_without_the_count_is_taken_as_it_is():
    """The argument stays as the query gives it."""
    query = "{ rows(count: false, limit: 20) { docs { id } hasNextPage } }"
    assert build_late_client(0).execute_all(query).report.expected is None


NESTED = "people: [Person!]!, person(id: Int!): Person type Person { id: Int! " + SDL.replace(
    "Page!", "Page! }", 1
)


@pytest.mark.parametrize(("late", "got"), [(0, 25), (1, 23)])
def test_left_out_rows_of_lists_in_rows_are_noticed(late: int, got: int) -> None:
    """As of the `join` fields of Payload 3.90, whose counts come on request only."""
    rows = {"rows": lambda root, args, _: build_docs(args, late, 10 * root["id"] + 5, 10)}
    people = {"people": lambda _: [{"id": 2}], "person": lambda args: args}
    text = "{ people { id rows(limit: 10) { docs { id } } } }"
    result = fetch(NESTED, people, text, {"Person": rows})
    (person,) = result.data["people"]
    assert len(person["rows"]["docs"]) == got
    assert [*person["rows"]] == ["docs"]
    assert result.report.complete == (got == 25)


PAGES = """
rows(first: Int, after: String): Page! type Page { pageInfo: PageInfo! %s } type Row { n: Int! }
type PageInfo { count: Int! hasNextPage: Boolean! endCursor: String } type Edge { node: Row! }
"""


def build_page_client(alike: int, counts: str, rows: str = "edges: [Edge!]!") -> Client:
    """Return a client of rows in an order that several of them share, as in graphql-db 1.0."""

    def resolve(args: dict[str, Any]) -> Any:
        after, size = args.get("after"), args.get("first") or 200
        rest = [n for n in range(200) if after is None or n // alike > int(after)]
        page = rest[:size]
        info = {
            "count": {"rest": len(rest), "page": len(page)}[counts],
            "hasNextPage": len(page) < len(rest),
            "endCursor": str(page[-1] // alike) if page else None,
        }
        items = [{"n": n} for n in page]
        return {"pageInfo": info, "items": items, "edges": [{"node": item} for item in items]}

    return build_client(PAGES % rows, resolve)


@pytest.mark.parametrize("selection", ["", "pageInfo { count hasNextPage } "])
@pytest.mark.parametrize("size", [30, 50])
@pytest.mark.parametrize("counts", ["rest", "page"])
@pytest.mark.parametrize(
    ("rows", "fields"),
    [("edges: [Edge!]!", "edges { node { n } }"), ("items: [Row!]!", "items { n }")],
)
def test_a_count_in_page_info_may_be_of_the_page_or_of_the_rest(
    selection, size, counts, rows, fields
):
    """Grapple 0.31 counts the page, and graphql-db 1.0 the rows behind the cursor."""
    text = f"{{ rows(first: {size}) {{ {selection}{fields} }} }}"
    result = build_page_client(1, counts, rows).execute_all(text)
    assert len(result.data["rows"][rows[:5]]) == 200
    assert result.report.complete, result.report.doubts


def test_a_total_in_the_page_info_of_lists_in_rows_is_compared():
    """As sqlalchemy-relay-pagination 0.1 has it."""
    sdl = """people: [Person!]! type Person { rows(first: Int, after: String): Nodes! }
      type PageInfo { totalCount: Int hasNextPage: Boolean! endCursor: String }"""
    info = {"totalCount": 130, "hasNextPage": False, "endCursor": "49"}
    page = {"nodes": build_rows(50), "pageInfo": info}
    text = "{ people { rows(first: 50) { nodes { id } pageInfo { totalCount } } } }"
    result = fetch(sdl, lambda _args: [{"rows": page}, {"rows": page}], text)
    assert result.data["people"][0]["rows"]["pageInfo"] == {"totalCount": 130}
    assert "people.rows: fewer items" in result.report.doubts[0]


def test_rows_behind_a_value_that_others_share_are_noticed():
    """A cursor of graphql-db 1.0 has only the values of the order, which may be alike."""
    text = "{ rows(first: 80) { edges { node { n } } } }"
    result = build_page_client(70, "rest").execute_all(text, progress=False)
    assert len(result.data["rows"]["edges"]) < 200
    assert not result.report.complete


@pytest.mark.parametrize("facets", [3, 20])
@pytest.mark.parametrize("key", ["id: ID! ", ""])
@pytest.mark.parametrize("args", ["limit: Int = 20, offset: Int = 0", "page: Int = 1"])
@pytest.mark.parametrize(
    "fields", ["items { name } facets { name }", "facets { name } items { name }"]
)
def test_a_count_is_of_the_list_that_goes_on(fields, args, key, facets):
    """And not of a short list beside it, such as the facets of a search."""
    sdl = f"""rows({args}): Page! type Row {{ {key}name: String! }}
    type Page {{ total: Int! items: [Row!]! facets: [Row!]! }}"""

    def resolve(args: dict[str, Any]) -> dict[str, Any]:
        size = args.get("limit", 20)
        start = args["offset"] if "offset" in args else (args["page"] - 1) * 20
        made = [{"id": f"r{n}", "name": f"n{n}"} for n in range(230)]
        return {"total": 230, "items": made[start : start + size], "facets": made[:facets]}

    result = fetch(sdl, resolve, f"{{ rows {{ total {fields} }} }}")
    assert len(result.data["rows"]["facets"]) == facets
    assert len(result.data["rows"]["items"]) == 230 or not result.report.complete
    if facets == 3 and "limit" in args:
        assert len(result.data["rows"]["items"]) == 230
        assert result.report.complete, result.report.doubts


@pytest.mark.parametrize("facets", [1, 3, 7])
@pytest.mark.parametrize("args", ["", "(search: String)", "(limit: Int = 9, offset: Int = 0)"])
@pytest.mark.parametrize("cap", [4, 9])
@pytest.mark.parametrize("made", [5, 8])
def test_a_count_is_not_of_the_facets_where_a_size_allows_all_rows(made, cap, args, facets):
    """Where none does, it may be of either list, as of the cut one here."""
    sdl = f"""rows{args}: Page! type Row {{ id: ID! name: String! }}
    type Page {{ total: Int! items: [Row!]! facets: [Row!]! }}"""
    rows = [{"id": f"r{n}", "name": f"n{n}"} for n in range(10)]

    def resolve(given: dict[str, Any]) -> dict[str, Any]:
        start = given.get("offset", 0)
        page = rows[start : min(made, start + min(cap, given.get("limit", cap)))]
        return {"total": made, "items": page, "facets": rows[:facets]}

    client = build_client(sdl, resolve)
    text = "{ rows { total items { id } facets { name } } }"
    result = client.execute_all(text, progress=False)
    is_whole = len(result.data["rows"]["items"]) == made
    assert is_whole or not result.report.complete
    assert is_whole is (cap == 9 or "limit" in args)
    if cap == 9 and "limit" in args and facets < made:
        assert result.report.complete, result.report.doubts
    first = client.execute(text)
    is_cut = len(first.data["rows"]["items"]) < made
    verdict = first.frames["rows.items"].attrs["completeness"]
    assert verdict.startswith(("more: ", "unknown: ") if is_cut else "complete: ")
