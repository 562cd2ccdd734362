"""Completeness of paged results: one service for each case."""

from __future__ import annotations

import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from graphql import GraphQLError

from gqlnb import Client, Schema
from gqlnb.client.paging.crawler import explain_loss
from tests.client.paging import lists
from tests.client.paging.lists import (
    assert_whole,
    build_client,
    build_page,
    build_rows,
    complete_sdl,
    fail,
    read_numbers,
    read_rows,
)
from tests.examples import select_combinations

if TYPE_CHECKING:
    from collections.abc import Mapping


TOTAL = 40
ITEMS = [{"id": str(n), "name": f"n{n}"} for n in range(TOTAL)]
ITEM = "type Item { id: ID! name: String! } "
PLAIN = "items(limit: Int, offset: Int): [Item!]! " + ITEM
CONNECTION = f"""
items(first: Int, last: Int, after: String, before: String): Items! {ITEM}
type PageInfo {{
  hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String
}}
type Items {{ nodes: [Item!]! edges: [Edge!]! pageInfo: PageInfo! groups(by: String): [Group!]! }}
type Group {{ key: String! count: Int! }} type Edge {{ cursor: String! node: Item! }}
"""
fetch = partial(lists.fetch, follow="all")


def cut(items: list[Any], args: Mapping[str, Any], most: int = 100) -> list[Any]:
    """Return a page of items."""
    limit = args.get("limit")
    begin = args.get("offset") or 0
    return items[begin : begin + min(most, most if limit is None else limit)]


def connect(args: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of a connection whose ``hasNextPage`` ignores the bound of ``before``."""
    low = int(args["after"]) + 1 if args.get("after") else 0
    high = int(args["before"]) if args.get("before") else TOTAL
    if args.get("first") is not None:
        high = min(high, low + args["first"])
    if args.get("last") is not None:
        low = max(low, high - args["last"])
    nodes = ITEMS[low:high]
    info = {
        "hasNextPage": high < TOTAL,
        "hasPreviousPage": low > 0,
        "startCursor": nodes[0]["id"] if nodes else None,
        "endCursor": nodes[-1]["id"] if nodes else None,
    }
    edges = [{"cursor": each["id"], "node": each} for each in nodes]
    groups = [{"key": "a", "count": TOTAL}]
    return {"nodes": nodes, "edges": edges, "pageInfo": info, "groups": groups}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [('first: 5, before: "17"', range(17)), ('last: 5, after: "16"', range(17, TOTAL))],
)
def test_a_connection_ends_at_the_bound_in_the_query(arguments, expected):
    """Items beyond a ``before`` bound are not requested."""
    text = f"{{ items({arguments}) {{ nodes {{ id name }} }} }}"
    assert_whole(fetch(CONNECTION, connect, text), expected)


@pytest.mark.parametrize("sizes", ["first: 0", "last: 0", "first: 5, last: 2"])
def test_a_query_for_zero_items_or_for_both_ends_is_not_complete(sizes):
    """The sizes leave items out; that of zero is named."""
    report = fetch(CONNECTION, connect, f"{{ items({sizes}) {{ nodes {{ name }} }} }}").report
    assert not report.complete
    assert f"`{sizes}`" in report.doubts[0] or "," in sizes


def test_lists_beside_the_edges_are_not_paged():
    """Groups refer to all items, so they are in the result once."""
    result = fetch(CONNECTION, connect, '{ items(first: 5) { groups(by: "x") { key } } }')
    assert result.data == {"items": {"groups": [{"key": "a"}]}}
    assert result.report.requests == 1


def test_the_cursors_of_edges_continue_a_connection_without_an_end_cursor():
    """So it is in Twitch; they are selected for it."""
    sdl = f"""items(first: Int, after: String): Items! {ITEM} type Info {{ hasNextPage: Boolean! }}
    type Items {{ edges: [Edge!]! pageInfo: Info! }} type Edge {{ cursor: String! node: Item! }}"""
    text = "{ items(first: 10) { edges { node { name } } } }"
    result = fetch(sdl, lambda args: connect({**args, "first": min(args["first"], 15)}), text)
    assert_whole(result, range(TOTAL))


@pytest.mark.parametrize("name", ["nextToken", "cursor"])
@pytest.mark.parametrize("empty", [{10, 15}, {0, 5}, range(TOTAL)])
@pytest.mark.parametrize("is_member", [False, True])
def test_an_empty_page_with_a_token_is_not_the_end(name, empty, is_member):
    """AppSync filters its pages, and so does Codex, by its documentation."""
    arguments = f"limit: Int, {name}: String"
    sdl = f"items({'input: In' if is_member else arguments}): Page! input In {{ {arguments} }}"

    def resolve(args: Mapping[str, Any]) -> dict[str, Any]:
        begin = int(args.get("input", args).get(name) or 0)
        page = [] if begin in empty else ITEMS[begin : begin + 5]
        return {"items": page, name: str(begin + 5) if begin + 5 < TOTAL else None}

    given = "input: {limit: 5}" if is_member else "limit: 5"
    sdl += f" type Page {{ items: [Item!]! {name}: String }} {ITEM}"
    result = fetch(sdl, resolve, f"{{ items({given}) {{ items {{ name }} }} }}")
    assert_whole(result, [n for n in range(TOTAL) if n - n % 5 not in empty])


@pytest.mark.parametrize(
    ("arguments", "given", "count"),
    [
        ("(limit: Int)", "", 0),  # no limit leaves nothing of a list
        ("(limit: Int)", "(limit: 10)", 0),
        ("(after: DateTime!)", '(after: "2020-01-01T00:00:00Z")', 11),  # no cursor
    ],
)
def test_a_list_that_no_argument_can_cut_is_complete(arguments, given, count):
    sdl = f"items{arguments}: [Item!]! scalar DateTime {ITEM}"
    result = fetch(sdl, lambda _: ITEMS[:count], f"{{ items{given} {{ name }} }}")
    assert_whole(result, range(count))


def test_a_null_flag_does_not_end_a_connection():
    """`hasNextPage: null` beside a cursor says nothing; the empty page after the last one does."""
    sdl = CONNECTION.replace("hasNextPage: Boolean!", "hasNextPage: Boolean")

    def resolve(args: Mapping[str, Any]) -> dict[str, Any]:
        page = connect(args)
        return page | {"pageInfo": page["pageInfo"] | {"hasNextPage": None}}

    assert_whole(fetch(sdl, resolve, "{ items(first: 7) { nodes { id name } } }"), range(TOTAL))


def test_an_incomplete_result_says_so_everywhere():
    """In the report, the repr, the HTML, the attributes of the frame, and in one warning."""
    sdl = f"items(limit: Int): [Item!]! {ITEM}"
    client = build_client(sdl, lambda args: cut(ITEMS, args, 20))
    with warnings.catch_warnings(record=True, action="always") as said:
        result = client.execute_all("{ items(limit: 100) { name } }", progress=False)
        frame = result.frame()
    reason = "`limit` allows no more than 20 rows"
    assert not result.report.complete
    assert reason in result.report.doubts[0]
    assert reason in repr(result)
    assert reason in result._repr_mimebundle_()[0]["text/html"]
    assert frame.attrs["partial"]
    assert frame.attrs["report"] == result.report.to_dict()
    assert reason in frame.attrs["report"]["notes"][0]
    assert len(said) == 1
    assert reason in str(said[0].message)


PAGE_OBJECT = """
Page(page: Int, perPage: Int): Page! offsets(skip: Int, take: Int): Page! search(limit: Int): Page!
type Page { pageInfo: PageInfo! media: [Item!]! users: [Item!]! results: [Item!]! }
type PageInfo { hasNextPage: Boolean! total: Int } type Item { id: ID name: String! }
"""


def serve_page_objects(
    lengths: Mapping[str, int], flag: str | None = None, most: Mapping[str, int] | None = None
) -> Any:
    """Return the resolvers of pages with several lists.

    Parameters
    ----------
    lengths
        The length of each list.
    flag
        The list that ``hasNextPage`` describes; None for the longest.
    most
        The endpoint's largest page of each list.
    """

    def resolve(begin: Any, size: int) -> dict[str, Any]:
        sizes = {name: min(size, (most or {}).get(name, size)) for name in lengths}
        begins = {name: begin(sizes[name]) for name in lengths}
        lists = {
            name: [{"id": f"{n}", "name": f"{name}{n}"} for n in range(length)][
                begins[name] : begins[name] + sizes[name]
            ]
            for name, length in lengths.items()
        }
        described = flag or max(lengths, key=lambda name: lengths[name])
        more = begins[described] + sizes[described] < lengths[described]
        info = {"hasNextPage": more, "total": lengths[described]}
        return {"results": [], "users": [], **lists, "pageInfo": info}

    return {
        "Page": lambda args: resolve(
            lambda size: ((args.get("page") or 1) - 1) * size, args.get("perPage") or 10
        ),
        "offsets": lambda args: resolve(lambda _: args.get("skip") or 0, args["take"]),
        "search": lambda args: resolve(lambda _: 0, args["limit"]),
    }


def names(rows: list[dict[str, Any]]) -> list[str]:
    """Return the names in rows."""
    return [row["name"] for row in rows]


@pytest.mark.parametrize(
    ("lengths", "field", "flag", "selection"),
    select_combinations(
        [(37, 13), (13, 37), (20, 20), (30, 0), (3, 2), (10, 5)],
        ["Page(page: 1, perPage: 10)", "offsets(take: 10)"],
        ["media", "users"],
        ["id name", "name"],
    ),
)
def test_all_lists_of_a_page_object_are_continued(field, flag, lengths, selection):
    """Paging continues until all lists have ended, whichever the page info describes."""
    resolvers = serve_page_objects({"media": lengths[0], "users": lengths[1]}, flag)
    lists = f"media {{ {selection} }} users {{ {selection} }}"
    result = fetch(PAGE_OBJECT, resolvers, f"{{ page: {field} {{ {lists} }} }}")
    page = result.data["page"]
    assert names(page["media"]) == [f"media{n}" for n in range(lengths[0])]
    assert names(page["users"]) == [f"users{n}" for n in range(lengths[1])]
    assert page.keys() == {"media", "users"}
    assert result.report.complete
    assert result.report.got == sum(lengths)
    assert len(result.frame("page.users")) == lengths[1]


def test_pages_of_a_page_object_have_the_next_items_of_each_list():
    """Without added fields."""
    client = build_client(PAGE_OBJECT, serve_page_objects({"media": 25, "users": 13}))
    text = "{ Page(page: 1, perPage: 10) { media { name } users { name } } }"
    pages = [page.data["Page"] for page in client.pages(text)]
    assert [len(page["media"]) for page in pages] == [10, 10, 5]
    assert [len(page["users"]) for page in pages] == [10, 3, 0]
    assert all(row.keys() == {"name"} for page in pages for row in page["users"])


def test_lists_of_a_page_object_with_different_limits_are_not_proved_complete():
    """By offsets, items of the list with the smaller limit are skipped."""
    resolvers = serve_page_objects({"media": 37, "users": 37}, most={"users": 4})
    text = "{ offsets(take: 10) { media { name } users { name } } }"
    result = fetch(PAGE_OBJECT, resolvers, text)
    assert len(result.data["offsets"]["media"]) == 37
    assert "offsets: its lists have pages of different lengths" in result.report.doubts[0]


@pytest.mark.parametrize("flag", [None, "media"])
@pytest.mark.parametrize("users", [3, 8, 10, 12])
def test_the_bound_of_a_page_object_applies_to_each_list(users, flag):
    """A list as long as the limit may have more items, also beside a short one that is counted."""
    resolvers = serve_page_objects({"media": 3, "users": users}, flag)
    text = "{ search(limit: 10) { media { name } users { name } } }"
    result = fetch(PAGE_OBJECT, resolvers, text)
    search = result.data["search"]
    assert (len(search["media"]), len(search["users"])) == (3, users)
    assert result.report.complete is (flag is None or users < 10)
    assert (result.report.requests > 1) is (users >= 10)


def test_max_results_limits_each_list_of_a_page_object():
    """Paging continues until each list has ended or has enough items."""
    resolvers = serve_page_objects({"media": 37, "users": 13})
    text = "{ Page(page: 1, perPage: 10) { media { name } users { name } } }"
    result = fetch(PAGE_OBJECT, resolvers, text, max_results=15)
    assert len(result.data["Page"]["media"]) == 15
    assert len(result.data["Page"]["users"]) == 13
    assert result.report.ended == "max_results"


@pytest.mark.parametrize("limit", [{"max_results": 12}, {"max_requests": 1}])
def test_a_limit_does_not_hide_other_gaps(limit):
    """The limit itself is expected and needs no warning; an inner list that may be cut does."""
    sdl = PLAIN.replace("name:", "tags(limit: Int): [String!]! name:")
    items = [{**item, "tags": list("abcdefghij")} for item in ITEMS]
    client = build_client(sdl, lambda args: cut(items, args))
    with warnings.catch_warnings(action="error"):
        report = client.execute_all("{ items(limit: 6) { name } }", **limit).report
    assert (report.complete, report.doubts) == (False, ())
    with warnings.catch_warnings(record=True, action="always") as said:
        text = "{ items(limit: 6) { name tags(limit: 10) } }"
        assert client.execute_all(text, follow="all", **limit).report.ended in limit
    if "max_results" in limit:
        assert "items.tags: 10 rows is a usual limit" in str(said[0].message)


def test_facets_beside_results_are_not_joined():
    """Next to a list with a usual name for items, other lists stay as on the first page."""
    sdl = PAGE_OBJECT.replace("results: [Item!]!", "results: [Item!]! facets: [Item!]!")
    for lengths, complete in (({"results": 37}, True), ({"results": 37, "facets": 37}, False)):
        resolvers = serve_page_objects({"facets": 0, **lengths}, "results")
        text = "{ Page(page: 1, perPage: 10) { results { name } facets { name } } }"
        result = fetch(sdl, resolvers, text)
        assert len(result.data["Page"]["results"]) == 37
        assert len(result.data["Page"]["facets"]) == (0 if complete else 10)
        assert result.report.complete is complete
        assert complete or "`facets` differs between pages" in result.report.doubts[0]


TWO_LISTS = f"""
a(first: Int, after: String): Page! b(first: Int, after: String): Page!
plain(limit: Int, offset: Int): [Item!]! counted(limit: Int, offset: Int): Counted! {ITEM}
type Page {{ nodes: [Item!]! pageInfo: PageInfo! totalCount: Int! }}
type Counted {{ total: Int! rows: [Item!]! }}
"""


def serve_two_lists(length: int) -> dict[str, Any]:
    """Return the resolvers of 40 items in `a`, and `length` items in each of the other lists."""
    items = ITEMS[:length]
    return {
        "a": lambda args: build_page(ITEMS, args.get("after"), args.get("first") or 10),
        "b": lambda args: build_page(items, args.get("after"), args.get("first") or 10),
        "plain": lambda args: cut(items, args, 10),
        "counted": lambda args: {"total": length, "rows": cut(items, args, 10)},
    }


LEFT_OUT = "`path` leaves it out, so no further pages were requested; it may have more items."


@pytest.mark.parametrize(
    ("other", "length", "complete"),
    [
        ("b(first: 10) { nodes { name } }", 11, False),
        ("b(first: 10) { nodes { name } }", 10, True),
        ("plain(limit: 10) { name }", 10, False),
        ("plain(limit: 10) { name }", 7, True),
        ("plain { name }", 9, False),
        ("counted(limit: 20) { rows { name } }", 10, True),
        ("counted(limit: 20) { total rows { name } }", 10, True),
        ("counted(limit: 20) { total rows { name } }", 11, False),
    ],
)
def test_a_list_left_out_by_path_is_complete_only_if_its_first_page_is_all(other, length, complete):
    """The page info, a count, or a page shorter than requested proves it."""
    text = f"{{ a(first: 10) {{ nodes {{ name }} }} {other} }}"
    result = fetch(TWO_LISTS, serve_two_lists(length), text, path="a")
    assert len(result.data["a"]["nodes"]) == TOTAL
    assert result.report.complete is complete
    assert len(result.report.doubts) == (not complete)
    assert (LEFT_OUT in repr(result)) is not complete
    assert "pageInfo" not in repr(result.data)


def test_frames_of_a_followed_list_are_complete_beside_a_list_left_out():
    """Report, marks and warnings of a frame concern the list of its rows alone."""
    text = "{ a(first: 10) { nodes { name } } b(first: 10) { nodes { name } } }"
    client = build_client(TWO_LISTS, serve_two_lists(11))
    with warnings.catch_warnings(action="error"):
        frame = client.frame(text, path="a", pages="all")
        result = client._collect_pages(text, None, path="a")
        for each in (frame, result.frame("a"), result.frames["a"]):
            assert len(each) == TOTAL
            assert each.attrs["partial"] is False
            assert each.attrs["report"]["complete"] is True
            assert each.attrs["report"]["notes"] == []
        assert result.arrow("a").num_rows == TOTAL
    with pytest.warns(UserWarning, match="b: `path` leaves it out"):
        other = result.frame("b")
    assert other.attrs["partial"] is True
    assert other.attrs["report"]["complete"] is False
    assert result.frames["b"].attrs["partial"] is True


@pytest.mark.parametrize("count", [" gqlnb_totalCount: totalCount", ""])
def test_recordings_without_page_info_of_lists_left_out_are_replayed(tmp_path, count):
    """The request is looked up without the added fields, one kind after the other."""
    text = "{ a(first: 40) { nodes { name } } b(first: 10) { nodes { name } } }"
    schema = build_client(TWO_LISTS, serve_two_lists(5)).schema
    file = tmp_path / "old.jsonl"
    with Client(schema, schema=schema, recording=file, mode="record") as client:
        client.execute_all(text, path="a", progress=False)
    info = " gqlnb_pageInfo: pageInfo { hasNextPage endCursor }"
    head, b, rest = file.read_text().partition(" b(first: 10)")
    assert info in rest
    rest = rest.replace(info, "", 1)
    before, _, after = rest.rpartition(',"gqlnb_pageInfo":{')
    rest = before + after.partition("}")[2]
    file.write_text(head.replace(" gqlnb_totalCount: totalCount", count) + b + rest)
    client = Client(schema, schema=schema, recording=file, mode="replay")
    with pytest.warns(UserWarning, match="b: `path` leaves it out"):
        result = client.execute_all(text, path="a", progress=False)
    assert len(result.data["a"]["nodes"]) == TOTAL
    assert len(result.data["b"]["nodes"]) == 5


@pytest.mark.parametrize(
    ("sdl", "text", "doubts"),
    [
        ("items: [Row]", "{ items { id } }", ("items: not answered: Not today.",)),
        (CONNECTION, "{ items { nodes { id } } }", ("not answered: Not today.",)),
    ],
)
def test_an_error_that_made_a_list_or_all_data_null_is_reported(sdl, text, doubts):
    """The report names the list, if one is null, with the message of the endpoint."""
    report = fetch(sdl, lambda _: fail("Not today."), text).report
    assert (report.complete, report.doubts) == (False, doubts)


def test_a_negative_limit_is_proved_by_an_empty_page():
    """Directus returns all items for -1; one more request proves it."""
    result = fetch(
        PLAIN,
        lambda args: cut(ITEMS, {"offset": args.get("offset")}, 10**6),
        "{ items(limit: -1) { id name } }",
    )
    assert_whole(result, range(TOTAL))
    assert result.report.requests == 2


# -- reasons to doubt


def test_different_items_with_one_id_are_kept_and_reported():
    """Such an id does not tell whether an item came before."""
    items = [{"id": str(n // 3), "name": f"n{n}"} for n in range(TOTAL)]
    result = fetch(PLAIN, lambda args: cut(items, args), "{ items(limit: 7) { id name } }")
    assert result.data["items"] == items
    assert "items: different items have the same id" in result.report.doubts[0]


def test_inner_lists_as_long_as_the_longest_may_have_been_cut():
    """Their objects cannot be requested again, so that the lengths alone are known."""
    sdl = PLAIN.replace("id: ID!", "tags(limit: Int, offset: Int): [Tag!]!")
    items = [{"name": f"n{n}", "tags": [{"name": "t"}] * n} for n in (9, 3, 9)]
    text = "{ items(limit: 5) { name tags { name } } }"
    report = fetch(
        f"{sdl} type Tag {{ name: String! }}", lambda args: cut(items, args), text
    ).report
    assert report.complete
    assert "items.tags: `limit: 8`: 9 rows" in report.notes


OWNERS = """
items(limit: Int, offset: Int): [Owner!]! owner(id: ID!): Owner type Pet { id: ID! name: String! }
type Owner { id: ID! name: String! pets(first: Int, offset: Int): [Pet!] }
"""


def fetch_pets(find: Any, pets: Any = None) -> Any:
    """Return the pets of owners with seven pets each; `find` returns an owner by its id."""

    def serve_pets(root: Any, args: Mapping[str, Any], _: Any) -> Any:
        own = [{"id": f"{root['id']}/{n}", "name": f"p{n}"} for n in range(7)]
        return cut(own, {**args, "limit": args.get("first")})

    owners = {"items": lambda args: cut(ITEMS[:6], args), "owner": lambda a: find(int(a["id"]))}
    text = "{ items(limit: 4) { id name pets(first: 3) { id name } } }"
    return fetch(OWNERS, owners, text, {"Owner": {"pets": pets or serve_pets}})


def test_a_different_object_than_the_requested_one_is_not_used():
    """Its list would be added to that of another object."""
    result = fetch_pets(lambda _: ITEMS[0])
    assert [len(owner["pets"]) for owner in result.data["items"]] == [7, 6, 6, 6, 6, 6]
    assert all(pet["id"].startswith("1/") for pet in result.data["items"][1]["pets"])
    ended = "the endpoint returned a different object than the one requested"
    assert result.report.ended == ended


def test_a_page_lost_by_a_transient_error_is_requested_again():
    """Once; the result is then complete."""
    sent: list[int] = []

    def find(number: int) -> Any:
        sent.append(number)
        is_second = sent.count(2) == 1 and number == 2
        return fail("Something went wrong while executing.") if is_second else ITEMS[number]

    result = fetch_pets(find)
    assert [len(owner["pets"]) for owner in result.data["items"]] == [7] * 6
    assert result.report.complete


def test_an_error_without_a_message_is_called_so():
    """As vaex-graphql 0.3 sends for an offset behind the last row of a filtered frame."""
    assert explain_loss({"message": "", "path": ["df", "row"]}).endswith("without a message")


def test_an_error_in_a_later_page_is_reported():
    """It made the list of an object null, which the report names."""
    result = fetch_pets(
        lambda number: ITEMS[number],
        lambda owner, *_: fail("Not today.") if owner["id"] == "5" else [],
    )
    assert [owner["pets"] for owner in result.data["items"]] == [[]] * 5 + [None]
    assert not result.report.complete
    assert result.report.doubts == ("items.pets: not answered: Not today.",)


INNER = """
items(first: Int, after: String): Items! type Items { nodes: [Item!]! pageInfo: PageInfo! }
type Item { id: ID! name: String! parts(first: Int, after: String): Parts! }
type Parts { nodes: [Part!]! pageInfo: PageInfo! totalCount: Int! }
type Part { id: ID! name: String! }
"""


def fetch_parts(text: str, count: int, *, more: bool, **options: Any) -> Any:
    """Return the result of two items with three parts each, of which `count` are counted."""
    parts = {"nodes": ITEMS[:3], "pageInfo": {"hasNextPage": more}, "totalCount": count}
    page = {"nodes": ITEMS[:2], "pageInfo": {"hasNextPage": False}}
    return fetch(INNER, lambda _: page, text, {"Item": {"parts": lambda *_: parts}}, **options)


@pytest.mark.parametrize(("count", "word"), [(4, "fewer"), (2, "more"), (3, None)])
def test_the_items_of_inner_connections_are_counted(count, word):
    """If the query selects their count, it is compared for each connection."""
    text = "{ items(first: 5) { nodes { parts(first: 5) { totalCount nodes { name } } } } }"
    report = fetch_parts(text, count, more=False).report
    reason = f"items.parts: {word} items were returned than the endpoint's total count. (2 times)"
    assert report.doubts == (() if word is None else (reason,))


def test_inner_lists_of_a_list_left_out_by_path_are_checked():
    """The list itself may be complete without them."""
    parts = "nodes { name parts(first: 3) { nodes { name } } }"
    text = f"{{ a: items(first: 5) {{ nodes {{ name }} }} b: items(first: 5) {{ {parts} }} }}"
    report = fetch_parts(text, 3, more=True, path="a").report
    assert report.doubts == (f"b.parts: {LEFT_OUT} (2 times)",)


def test_rows_that_move_to_another_offset_are_not_proved_complete():
    """Their cursors are offsets, which do not identify them, and they have no id."""
    sdl = "items(first: Int, after: String): Edges! type Row { name: String! }"
    rows = [{"name": f"n{n}"} for n in range(8)]

    def resolve(args: Mapping[str, Any]) -> dict[str, Any]:
        begin = int(args.get("after") or 0)
        if begin:
            rows.insert(0, {"name": "new"})
        end = min(begin + 4, 8)
        edges = [{"cursor": str(n + 1), "node": rows[n]} for n in range(begin, end)]
        return {"edges": edges, "pageInfo": {"hasNextPage": not begin, "endCursor": str(end)}}

    text = "{ items(first: 4) { edges { cursor node { name } } } }"
    assert "no selected field tells the rows apart" in fetch(sdl, resolve, text).report.doubts[0]


def test_a_repeated_page_with_equal_items_ends_paging():
    """Equal items within a page are kept, but not those of a page that came before."""
    items = [ITEMS[0], ITEMS[0], ITEMS[1]]
    assert_whole(fetch(PLAIN, lambda _: items[:], "{ items(limit: 3) { id } }"), [0, 0, 1])


def test_lists_of_objects_in_a_plain_list_are_not_requested_again():
    """The object around the plain list has a lookup, but its objects have none."""
    sdl = """owner(id: ID!): Owner type Owner { id: ID! tags: [Tag!]! } type Part { name: String! }
    type Tag { name: String! parts(first: Int, offset: Int): [Part!]! }"""
    owner = {"id": "1", "tags": [{"name": name} for name in "xy"]}
    parts = {"parts": lambda _, args, __: cut(ITEMS, {**args, "limit": args["first"]}, 10)}
    text = '{ owner(id: "1") { tags { name parts(first: 10) { name } } } }'
    report = fetch(sdl, lambda _: owner, text, {"Tag": parts}).report
    assert "its object cannot be requested again" in report.doubts[0]


@pytest.mark.parametrize(
    ("base", "declared", "count", "requests"),
    [
        (0, "links: Links", 40, 10),  # null, so that only an empty page shows the end
        (0, "lastPage: Int", 40, 4),  # a number that is understood from the second page on
        (0, "lastPage: Int", 20, 2),
        (1, "lastPage: Int currentPage: Int", 40, 4),
        (1, "currentPage: Int", 40, 11),
    ],
)
def test_page_numbers_begin_where_the_endpoint_begins(base, declared, count, requests):
    """If the endpoint returns the number of the page, no request is needed to find out."""
    sdl = f"""items(page: Int, perPage: Int): Page! type Page {{ data: [Row!]! {declared} }}
    type Links {{ nextPage: Int }}"""
    items = ITEMS[:count]

    def resolve(args: Mapping[str, Any]) -> dict[str, Any]:
        page = args.get("page")
        number = base if page is None else page
        begin = max(0, number - base) * 10
        last = base + count // 10 - 1
        return {"data": items[begin : begin + 10], "lastPage": last, "currentPage": number}

    result = fetch(sdl, resolve, "{ items(perPage: 10) { data { id } } }")
    assert_whole(result, range(count))
    assert result.report.requests == requests


@pytest.mark.parametrize("cursor", ["", "endCursor", "at: endCursor"])
def test_an_end_cursor_on_an_empty_page_is_the_end(cursor):
    """Whether the query selects it or not, and by any name."""
    sdl = "items(after: String, limit: Int): Page! type Page { items: [Row!]! endCursor: String }"

    def resolve(args: Mapping[str, Any]) -> dict[str, Any]:
        begin = int(args.get("after") or 0)
        page = ITEMS[begin : begin + 10]
        return {"items": page, "endCursor": str(begin + len(page))}

    text = f"{{ items(limit: 10) {{ items {{ id }} {cursor} }} }}"
    assert_whole(fetch(sdl, resolve, text), range(TOTAL))


def test_a_search_that_ends_at_the_cap_names_the_harvest():
    """GitHub returns 1,000 items of a search, and the rows beyond them need several searches."""
    query = (
        '{ search(query: "stars:>20000", type: REPOSITORY) { nodes { ... on Repository { id } } } }'
    )
    with Client("demo") as client, pytest.warns(UserWarning, match="at most 1,000 items"):
        report = client.execute_all(query).report
    assert report.got == 1000
    assert report.expected > 1000
    assert "gqlnb.github.harvest()" in report.doubts[1]
    assert len(report.doubts) == 2


UNION = f"""
connection(first: Int, after: String): ConnectionOrError!
events(limit: Int, afterCursor: String): EventsOrError!
rows(limit: Int, offset: Int): RowsOrError!
type Connection {{ nodes: [Item!]! pageInfo: PageInfo! totalCount: Int! }} {ITEM}
type Events {{ results: [Item!]! cursor: String! hasMore: Boolean! }}
type Rows {{ rows: [Item!]! total: Int! }} type Failure {{ message: String! }}
union ConnectionOrError = Connection | Failure
union EventsOrError = Failure | Events union RowsOrError = Rows | Failure
"""
UNION_PAGES = {
    "connection": "{ connection(first: 10) { ... on Failure { message } ...Page } } "
    "fragment Page on Connection { nodes { name } }",
    "events": "{ events(limit: 10) { ... on Failure { message } ... on Events { results { name } }"
    " ... on Events { hasMore } } }",
    "rows": "{ rows(limit: 10) { __typename ... on Rows { rows { name } } } }",
}


def fetch_union(field: str, *, fails: bool) -> Any:
    """Return the result of a list in a union, as Dagster has them; or of an error in its place."""

    def serve(args: Mapping[str, Any]) -> dict[str, Any]:
        if fails:
            return {"__typename": "Failure", "message": "no"}
        begin = args.get("offset") or args.get("after") or args.get("afterCursor")
        page = build_page(ITEMS, begin, args.get("first") or args.get("limit") or 10)
        end, more = page["pageInfo"]["endCursor"] or "", page["pageInfo"]["hasNextPage"]
        lists = {"results": page["nodes"], "rows": page["nodes"]}
        return {"__typename": field.title(), **page, **lists, "cursor": end, "hasMore": more}

    return fetch(UNION, serve, UNION_PAGES[field])


@pytest.mark.parametrize("field", UNION_PAGES)
def test_pages_in_a_union_are_followed(field):
    """The fields that describe a page are added to the fragment with the list."""
    result = fetch_union(field, fails=False)
    assert_whole(result, range(TOTAL))
    assert len(result.frame()) == TOTAL
    assert "gqlnb_" not in str(result.data)


@pytest.mark.parametrize("field", UNION_PAGES)
def test_another_type_in_place_of_a_page_is_reported(field):
    """An error that is data is not an empty list."""
    (doubt,) = fetch_union(field, fails=True).report.doubts
    assert doubt.endswith(": the endpoint returned an object of another type, without the list.")


@pytest.mark.parametrize(
    "text",
    [
        "{ items(first: 9) { nodes { id } } items(first: 9) { pageInfo { endCursor } } }",
        "{ items(first: 9) { pageInfo { endCursor } } items(first: 9) { nodes { id } } }",
        "{ items(first: 9) { pageInfo { endCursor } } ...F } "
        "fragment F on Query { items(first: 9) { edges { node { name } } } }",
    ],
)
def test_a_field_selected_twice_may_have_its_list_once(text):
    """Fragments of several components often select parts of one connection."""
    result = fetch(CONNECTION, connect, text)
    assert len(result.frame("items")) == TOTAL
    assert result.report.complete


def test_pages_are_described_by_integers_of_any_name():
    """Wagtail names them PositiveInt, and returns its last page again for any later one."""
    sdl = """items(page: PositiveInt, perPage: PositiveInt): Page! scalar PositiveInt
    type Page { items: [Row!]! pagination: Pagination! }
    type Pagination { total: PositiveInt! currentPage: PositiveInt! nextPage: PositiveInt }"""

    def serve(args: Mapping[str, Any]) -> dict[str, Any]:
        number = min(args.get("page") or 1, TOTAL // 10)  # at most 10, whatever is asked for
        following = number + 1 if number * 10 < TOTAL else None
        info = {"total": TOTAL, "currentPage": number, "nextPage": following}
        return {"items": ITEMS[(number - 1) * 10 : number * 10], "pagination": info}

    result = fetch(sdl, serve, "{ items { items { id } } }")
    assert_whole(result, range(TOTAL))
    assert result.report.requests == TOTAL // 10


NESTJS = """
items(paging: CursorPaging! = {first: 10}): Items! owners: [Owner!]! scalar ConnectionCursor
input CursorPaging { first: Int after: ConnectionCursor before: ConnectionCursor last: Int }
type Owner { id: ID! items(paging: CursorPaging! = {first: 5}): Items! }
type Items { pageInfo: PageInfo! edges: [Edge!]! }
type PageInfo { hasNextPage: Boolean endCursor: ConnectionCursor }
type Edge { node: Row! cursor: ConnectionCursor! }
"""


def connect_items(items: list[Any], args: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page like nestjs-query, with paging arguments in an input object."""
    size = args["paging"].get("first") or 10
    after = args["paging"].get("after")
    begin = 0 if after is None else int(str(after).removeprefix("c=="))
    rows = items[begin : begin + size]
    info = {"hasNextPage": begin + size < len(items), "endCursor": f"c=={begin + len(rows)}"}
    return {"edges": [{"node": row, "cursor": "c"} for row in rows], "pageInfo": info}


@pytest.mark.parametrize(
    ("count", "after", "start"), [("", "", 0), ("totalCount: Int!", ', after: "c==7"', 7)]
)
def test_a_cursor_in_an_input_object_is_sent_as_a_variable(count, after, start):
    """As text it would have to be quoted, and its type may be a scalar of any name.

    A count includes the rows before it in nestjs-query 9.5, which is no reason to doubt.
    """
    sdl = NESTJS.replace("type Items {", f"type Items {{ {count}")
    text = f"{{ items(paging: {{first: 7{after}}}) {{ edges {{ node {{ id }} }} }} }}"
    result = fetch(sdl, lambda args: {**connect_items(ITEMS, args), "totalCount": TOTAL}, text)
    assert_whole(result, range(start, TOTAL))


@pytest.mark.parametrize(
    ("lengths", "complete"),
    [
        *[([3, 8, 10], False), ([3, 8, 9], False), ([3, 8, 8], True), ([3, 8, 11], True)],
        *[([20, 0, 0], False), ([21, 0], False), ([20, 2], True), ([21], True)],
    ],
)
def test_lists_that_were_cut_together_are_reported(lengths, complete):
    """A limit of the query for all objects leaves its number of rows, or one more.

    strawberry-sqlalchemy-mapper gives them all to the first object.
    """
    text = "{ owners { id items(paging: {first: 20}) { edges { node { id } } } } }"
    owners = [{"id": n} for n in range(len(lengths))]
    items = {"items": lambda root, args, _: connect_items(ITEMS[: lengths[root["id"]]], args)}
    result = fetch(NESTJS, lambda _: owners, text, {"Owner": items})
    assert result.report.complete == complete
    assert any("cut them" in doubt for doubt in result.report.doubts) == (not complete)


@pytest.mark.parametrize("follow", ["all", ()])
@pytest.mark.parametrize("total", [0, 2, 3, 4, 5])
def test_few_rows_in_each_answer_are_reported(total, follow):
    """nestjs-query 9.5 limits the query for all objects, also to three rows and one more."""
    sdl = NESTJS.replace("owners:", "owners(limit: Int, offset: Int = 0):")

    def list_owners(args: Mapping[str, Any]) -> list[dict[str, int]]:
        numbers = range(300)[args["offset"] :][: args["limit"]]
        is_third = args["offset"] == numbers.start > 20
        rows = total if is_third else 3
        lengths = [max(rows - 3, 0), min(rows, 3)] + [0] * 300
        return [{"id": n, "length": lengths[n - numbers.start]} for n in numbers]

    def list_items(root: Any, args: Mapping[str, Any], _: Any) -> dict[str, Any]:
        return connect_items(ITEMS[: root["length"]], args)

    text = "{ owners(limit: 10) { id items(paging: {first: 3}) { edges { node { id } } } } }"
    resolve = {"owners": list_owners}
    report = fetch(sdl, resolve, text, {"Owner": {"items": list_items}}, follow=follow).report
    assert any("cut them" in doubt for doubt in report.doubts) == (total in {3, 4})


def test_a_limit_that_only_the_extensions_of_an_error_state_is_kept():
    """NestJS has the message "Bad Request Exception", and the reason below `originalError`."""
    text = "{ owners { id items { edges { node { id } } } } }"
    asked = []

    def serve(_: Any, args: Mapping[str, Any], __: Any) -> dict[str, Any]:
        asked.append(args["paging"]["first"])
        if args["paging"]["first"] > 20:
            limit = {"PropertyMax": "Field paging.first max allowed value is `20`."}
            extensions = {"originalError": {"message": [{"constraints": limit}]}}
            msg = "Bad Request Exception"
            raise GraphQLError(msg, extensions={"code": "BAD_REQUEST", **extensions})
        return connect_items(ITEMS[:3], args)

    result = fetch(NESTJS, lambda _: [{"id": 1}], text, {"Owner": {"items": serve}})
    assert asked[-1] == 20
    assert len(result.data["owners"][0]["items"]["edges"]) == 3
    assert result.report.complete


def fetch_with_estimate(total: int, estimate: int, *, failure: str = "", **limits: Any) -> Any:
    """Return all pages of a connection that computes ``hasNextPage`` from an estimated count."""

    def resolve(args: Mapping[str, Any]) -> dict[str, Any]:
        begin = int(args.get("after") or 0)
        if failure and begin >= total:
            fail(failure)
        end = min(total, begin + args["first"])
        info = {"hasNextPage": end < estimate, "endCursor": str(end)}
        return {"nodes": build_rows(total)[begin:end], "pageInfo": info}

    sdl, text = "items(first: Int, after: String): Nodes!", "{ items(first: 7) { nodes { id } } }"
    return fetch(sdl, resolve, text, page_size=7, **limits)


def test_items_after_a_wrong_end_are_fetched_and_reported():
    """Parse Server on PostgreSQL computes ``hasNextPage`` from the planner's estimate."""
    result = fetch_with_estimate(93, 61)
    assert read_rows(result) == build_rows(93)
    reason = "the endpoint reported the end of the list, but more items followed."
    assert reason in result.report.doubts[0]


@pytest.mark.parametrize("failure", ["", "no such cursor"])
@pytest.mark.parametrize(
    ("total", "requests", "limits"),
    [(20, 3, {}), (21, 4, {}), (1, 1, {}), (7, 2, {}), (14, 2, {"max_requests": 2})],
)
def test_the_end_after_a_full_page_is_verified(total, requests, limits, failure):
    """One more request shows that nothing follows; if it fails, the reported end counts.

    So it does where no further request is allowed.
    """
    result = fetch_with_estimate(total, total, failure=failure, **limits)
    assert_whole(result, range(total))
    assert (result.report.requests, result.errors) == (requests, ())


def test_a_total_below_the_number_of_items_does_not_end_the_list():
    """Vendure's job queue in memory counts the items of the page."""
    sdl = "jobs(skip: Int, take: Int): Jobs! type Jobs { items: [Row!]! totalItems: Int! }"

    def resolve(args: Mapping[str, Any]) -> dict[str, Any]:
        page = build_page(build_rows(47), args.get("skip"), args["take"])
        return {**page, "totalItems": len(page["items"])}

    result = fetch(sdl, resolve, "{ jobs(take: 10) { items { id } } }", page_size=10)
    assert len(result.data["jobs"]["items"]) == 47
    assert not result.report.complete


GROUPS = """
groups(skip: Int, limit: Int): [Group!]! type Group { name: String! total: Int! rows: [Int!]! }
"""


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_an_ignored_offset_of_a_short_list_is_noticed_at_once(count):
    """A page that does not reach its limit is the whole list."""
    rows = [{"name": f"g{n % 2}", "total": 1, "rows": [1]} for n in range(count)]
    result = fetch(GROUPS, lambda _: rows, "{ groups { name total rows } }")
    assert result.data["groups"] == rows
    assert result.report.complete


def test_an_offset_for_the_lists_in_the_items_does_not_repeat_the_items():
    """Gatsby's groups take it for the nodes of each group."""

    def resolve(args: Mapping[str, Any]) -> list[dict[str, Any]]:
        begin = args.get("skip") or 0
        rows = list(range(begin, min(471, begin + (args.get("limit") or 471))))
        return [{"name": name, "total": 471, "rows": rows} for name in "ab"]

    result = fetch(GROUPS, resolve, "{ groups { name total rows } }")
    assert [each["name"] for each in result.data["groups"]] == ["a", "b"]
    assert result.report.complete


OWNED = """
all: [Board!]! {root} scalar UUID
interface Node {{ id: ID! }}
type Board implements Node {{ id: {type}! rows(limit: Int! = 10, cursor: String): Page! }}
type Page {{ cursor: String items: [Row!]! }}
type Row {{ id: ID! secret: String }}
input Unique {{ id: ID email: String }}
input Filter {{ id: Other }} input Other {{ equals: ID }} input Plain {{ id: ID }}
"""
# Root fields that return an object again; the arguments that lead to its id.
ROOTS = {
    "board(id: ID): Board": lambda args: args["id"],
    "board(pk: ID!): Board!": lambda args: args["pk"],
    "first(where: Filter!): Board board(where: Unique!): Board": lambda args: args["where"]["id"],
    "board(where: Plain!): Board byId(id: ID!): Board": lambda args: args["id"],
    "boards(ids: [ID!], limit: Int): [Board]": lambda args: args["ids"],
    "nodes(ids: [ID!]!): [Node]!": lambda args: args["ids"],
}


def fetch_owned(root: str, sdl: str, fields: str = "id", prefix: str = "") -> Any:
    """Return an object with 57 rows and one with a row; ids may get a prefix."""
    lengths = {"1": 57, "2": 1}

    def page(board: Any, args: Mapping[str, Any], _: Any) -> dict[str, Any]:
        begin, length = int(args.get("cursor") or 0), lengths[board["id"].removeprefix(prefix)]
        end = min(length, begin + min(10, args["limit"]))
        cursor = str(end) if end < length else None
        return {"items": [{"id": f"r{n}"} for n in range(begin, end)], "cursor": cursor}

    def build(name: Any) -> Any:
        if isinstance(name, list):
            return [build(each) for each in name]
        return {"__typename": "Board", "id": prefix + name}

    boards = [{"__typename": "Board", "id": name} for name in lengths]
    names = ("board", "boards", "nodes") if "byId" not in root else ("byId",)
    found = {name: lambda args: build(ROOTS[root](args)) for name in names if f"{name}(" in root}
    secret = {"secret": lambda row, *_: fail("Not yours.") if row["id"] == "r30" else "s"}
    text = f"{{ all {{ rows(limit: 10) {{ items {{ {fields} }} }} }} }}"
    types = {"Board": {"rows": page}, "Row": secret}
    return fetch(sdl, {"all": lambda _: boards, **found}, text, types)


@pytest.mark.parametrize("type_", ["ID", "UUID"])
@pytest.mark.parametrize("root", ROOTS)
def test_objects_are_requested_again_by_a_root_field(root, type_):
    """Nautobot has ``id: UUID!`` with ``id: ID``, strawberry-django ``pk:``, Keystone ``where:``.

    monday.com has ``boards(ids:)``, and no field that returns one board.
    """
    sdl = OWNED.format(root=root, type=type_)
    if type_ == "UUID":
        sdl = sdl.replace(" implements Node", "").replace("[Node]", "[Board]")
    result = fetch_owned(root, sdl, "id secret")
    rows = [[row["id"] for row in board["rows"]["items"]] for board in result.data["all"]]
    assert rows == [[f"r{n}" for n in range(57)], ["r0"]]
    assert [each["path"] for each in result.errors] == [["all", 0, "rows", "items", 30, "secret"]]


@pytest.mark.parametrize(
    ("field", "key", "got"),
    [
        ("run(id: Int!): Run", "id", 57),
        ("runs(ids: [Int!]!): [Run]", "ids", 57),
        ("run(name: String!): Run", "name", 10),  # elsewhere, one of this name may be another
    ],
)
def test_objects_are_requested_again_in_an_object_of_the_root(field, key, got):
    """All fields of nextline-rdb 0.7 are in ``rdb``; only an identifier is a key there."""
    sdl = f"""rdb: Base! type Base {{ all: [Run!]! {field} }}
    type Run {{ id: Int! name: String! rows(first: Int, after: String): Nodes! }}"""
    runs = [{"id": n, "name": f"run {n}"} for n in range(3)]

    def find(_root: Any, args: Mapping[str, Any], _context: Any) -> Any:
        value = args[key]
        return [runs[n] for n in value] if key == "ids" else runs[int(str(value)[-1])]

    rows = {
        "rows": lambda _, args, __: build_page(
            build_rows(57), args.get("after"), min(10, args["first"])
        )
    }
    base = {"all": lambda *_: runs, field.partition("(")[0]: find}
    text = "{ rdb { all { name rows(first: 10) { nodes { id } } } } }"
    result = fetch(sdl, lambda _: {}, text, {"Base": base, "Run": rows})
    assert [len(run["rows"]["nodes"]) for run in result.data["rdb"]["all"]] == [got] * 3
    assert result.report.complete == (got == 57)


def test_an_object_with_another_id_is_not_the_same_one():
    """The argument may have another meaning than its name."""
    root = "board(pk: ID!): Board!"
    result = fetch_owned(root, OWNED.format(root=root, type="ID"), prefix="global-")
    assert [len(board["rows"]["items"]) for board in result.data["all"]] == [10, 1]
    assert not result.report.complete


@pytest.mark.parametrize("type_", ["Int", "Time"])
@pytest.mark.parametrize(("low", "high"), [("from", "to"), ("start", "end"), ("startAt", "until")])
def test_the_lower_end_of_a_range_is_kept_on_all_pages(type_, low, high):
    """Without an upper end beside them, `from: Int` and `start: Int` are offsets."""
    sdl = f"items({low}: {type_}, {high}: {type_}, first: Int, after: String): Nodes! scalar Time"
    sdl += f" type Row {{ id: ID! at: {type_} }}"

    def resolve(args: Mapping[str, Any]) -> dict[str, Any]:
        ends = int(args.get(low) or 0), int(args[high])
        rows = [{"id": str(n), "at": n} for n in range(*ends)]
        return build_page(rows, args.get("after"), args["first"])

    text = f"{{ items({low}: 30, {high}: 70, first: 7) {{ nodes {{ id at }} }} }}"
    assert_whole(fetch(sdl, resolve, text, page_size=7), range(30, 70))


def test_a_limited_list_of_a_range_is_not_continued_by_its_lower_end():
    """It is not the number of rows before a page."""
    result = fetch(
        "items(from: Int, to: Int, limit: Int): [Row!]!",
        lambda args: build_rows(1_000)[args["from"] * 10 : args["to"] * 10][: args["limit"]],
        "{ items(from: 10, to: 90, limit: 50) { id } }",
    )
    assert read_numbers(result) == list(range(100, 900))
    assert "`limit: 1600` brought 800 rows" in result.report.doubts[0]


@pytest.mark.parametrize(
    ("declared", "given"),
    [
        ("size: Int, page: Int, pageSize: Int", "size: 4"),
        ("min: Int, max: Int, page: Int", "min: 2, max: 4"),
        ("count: Int, offset: Int, limit: Int", "count: 4"),
    ],
)
def test_a_filter_with_the_name_of_a_size_is_kept(declared, given):
    """It is not a page size where another argument is, or beside `min`."""
    sdl = f"shoes({declared}): [Shoe!]! type Shoe {{ id: ID! size: Int! }}"
    asked: list[Mapping[str, Any]] = []

    def resolve(args: Mapping[str, Any]) -> list[dict[str, Any]]:
        asked.append(args)
        most = args.get("size", args.get("max", args.get("count")))
        rows = [{"id": str(n), "size": n % 6} for n in range(300) if n % 6 <= most]
        size = args.get("pageSize") or args.get("limit") or 20
        begin = args.get("offset") or (args.get("page") or 0) * size
        return rows[begin : begin + size]

    result = fetch(sdl, resolve, f"{{ shoes({given}) {{ id size }} }}")
    assert {key for args in asked for key in args if args[key] != asked[0].get(key)} <= {
        *("page", "offset", "limit", "pageSize")
    }
    assert len(result.data["shoes"]) == 250


def test_an_empty_page_that_promises_more_is_not_the_end():
    """The report says that more items follow."""
    sdl = "items(offset: Int, limit: Int): Page! type Page { items: [Row!]! hasMore: Boolean! }"
    text = "{ items(limit: 10) { items { id } hasMore } }"
    result = fetch(sdl, lambda args: {"items": cut(ITEMS, args), "hasMore": True}, text)
    assert read_numbers(result) == list(range(TOTAL))
    assert result.report.ended == "a page is empty, but the endpoint reports more items"


def test_many_small_inner_lists_take_few_requests():
    """Pages of inner lists grow together, and more of them share a request."""
    sdl = """
    type Query { posts(first: Int, offset: Int): [Post!]! post(id: ID!): Post }
    type Post { id: ID! comments(first: Int, offset: Int): [Row!]! }
    """
    comments = {str(n): [{"id": f"{n}-{m}"} for m in range(n * 7 % 13)] for n in range(400)}

    def page(items: list[Any], args: Mapping[str, Any]) -> list[Any]:
        return cut(items, {**args, "limit": args.get("first")}, most=400)

    posts = [{"id": n} for n in comments]
    resolvers = {
        "Query": {"posts": lambda _, args, __: page(posts, args), "post": lambda _, args, __: args},
        "Post": {"comments": lambda root, args, _: page(comments[root["id"]], args)},
    }
    client = Client(Schema(complete_sdl(sdl), resolvers))
    result = client.execute_all("{ posts { id comments(first: 2) { id } } }", follow="all")
    assert {post["id"]: post["comments"] for post in result.data["posts"]} == comments
    assert result.report.complete
    assert result.report.requests < 40


@pytest.mark.parametrize(
    ("arguments", "count", "is_complete"),
    [("", 5, False), ("", 0, True), ("(takeTexts: 3)", 5, True)],
)
def test_the_size_of_lists_in_rows_may_stand_on_the_field_of_the_rows(
    arguments, count, is_complete
):
    """@favware/graphql-pokemon 8.8 has `takeFlavorTexts: 1` on the list of the Pokémon.

    The number of a row is no count of its texts, and a small size that is written is meant.
    """
    sdl = """rows(takeTexts: Int = 1): [Row!]! type Text { text: String! }
    type Row { id: ID! num: Int! texts: [Text!]! }"""

    def resolve(args: dict[str, Any]) -> list[dict[str, Any]]:
        texts = [{"text": "a"}] * min(count, args["takeTexts"])
        return [{"id": "1", "num": 43, "texts": texts}, {"id": "2", "num": 44, "texts": []}]

    text = f"{{ rows{arguments} {{ num texts {{ text }} }} }}"
    report = lists.fetch(sdl, resolve, text).report
    reason = "rows.texts: it is as long as `takeTexts: 1` of the list around it."
    assert report.complete == is_complete
    assert report.doubts == (() if is_complete else (reason,))
    verdict = build_client(sdl, resolve).execute(text).frames["rows.texts"].attrs["completeness"]
    assert ("`takeTexts: 1` is reached" in verdict) == (not is_complete), verdict


@pytest.mark.parametrize("options", [{}, {"max_results": 2}, {"page_size": 20}])
def test_rows_without_pages_come_once_with_their_lists(options):
    """Pages are those of the outermost lists: the lists in the rows come with them, whole."""
    people = {"people": lambda _: [{"id": 1}, {"id": 2}], "person": lambda args: args}

    def resolve_rows(_root: Any, args: Mapping[str, Any], _: Any) -> Any:
        return build_page(build_rows(25), args.get("after"), args["first"])

    sdl = "people: [Person!]! person(id: Int!): Person "
    sdl += "type Person { id: Int! rows(first: Int, after: String): Nodes! }"
    client = build_client(sdl, people, {"Person": {"rows": resolve_rows}})
    text = "{ people { id rows(first: 10) { nodes { id } } } }"
    pages = list(client.pages(text, progress=False, **options))
    got = [(it["id"], len(it["rows"]["nodes"])) for page in pages for it in page.data["people"]]
    assert got == [(1, 25), (2, 25)]
    assert pages[-1].report.complete


@pytest.mark.parametrize("below", ["", "tags(first: 10) { id }"])
def test_a_row_number_as_text_continues_a_list(below):
    """Gel's GraphQL takes the number of the row before, also where rows have lists of their own."""

    def cut_rows(args: Mapping[str, Any]) -> Any:
        start = int(args.get("after") or -1) + 1
        return build_rows(137)[start : start + (args.get("first") or 137)]

    sdl = "books(first: Int, after: String): [Book!]! type Book { id: ID! "
    sdl += "tags(first: Int, after: String): [Row!]! }"
    tags = {"Book": {"tags": lambda *_: build_rows(3)}}
    result = fetch(sdl, cut_rows, f"{{ books(first: 10) {{ id {below} }} }}", tags)
    assert_whole(result, range(137))
