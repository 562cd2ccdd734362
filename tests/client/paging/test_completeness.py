"""Completeness of paged results: one service for each case."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import pytest
from graphql import GraphQLError

from gqlnb import Client, Schema
from gqlnb.client.paging.crawler import explain_loss
from tests.client.paging.lists import build_client, build_page, build_rows, fetch
from tests.examples import select_combinations

if TYPE_CHECKING:
    from collections.abc import Mapping


TOTAL = 40
ITEMS = [{"id": str(n), "name": f"n{n}"} for n in range(TOTAL)]
ITEM = "type Item { id: ID! name: String! } "
PLAIN = ITEM + "type Query { items(limit: Int, offset: Int): [Item!]! }"
CONNECTION = (
    ITEM
    + """
type PageInfo {
  hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String
}
type Group { key: String! count: Int! }
type Items {
  nodes: [Item!]! edges: [Edge!]! pageInfo: PageInfo! groups(by: String): [Group!]!
}
type Edge { cursor: String! node: Item! }
type Query { items(first: Int, last: Int, after: String, before: String): Items! }
"""
)


def execute_all(sdl: str, resolvers: Any, text: str, **options: Any) -> tuple[Any, list[str]]:
    """Return all pages of a query, and the warnings."""
    schema = Schema(sdl, resolvers)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        options = {"follow": "all", **options}
        result = Client(schema, schema=schema).execute_all(text, progress=False, **options)
    return result, [str(each.message) for each in said]


def cut(items: list[Any], args: Mapping[str, Any], most: int = 100) -> list[Any]:
    """Return a page of items."""
    limit = args.get("limit")
    begin = args.get("offset") or 0
    return items[begin : begin + min(most, most if limit is None else limit)]


def serve_items(resolve: Any) -> dict[str, Any]:
    """Return the resolvers of a service whose items come from a function of the arguments."""
    return {"Query": {"items": lambda _, args, __: resolve(args)}}


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
    [('first: 5, before: "17"', ITEMS[:17]), ('last: 5, after: "16"', ITEMS[17:])],
)
def test_a_connection_ends_at_the_bound_in_the_query(arguments, expected):
    """Items beyond a ``before`` bound are not requested."""
    text = f"{{ items({arguments}) {{ nodes {{ id name }} }} }}"
    result, said = execute_all(CONNECTION, serve_items(connect), text)
    assert result.data["items"]["nodes"] == expected
    assert (result.report.complete, said) == (True, [])


@pytest.mark.parametrize("size", ["first: 0", "last: 0"])
def test_a_query_for_zero_items_is_not_complete(size):
    """A page size of zero leaves items out."""
    text = f"{{ items({size}) {{ nodes {{ name }} }} }}"
    result, said = execute_all(CONNECTION, serve_items(connect), text)
    assert not result.report.complete
    assert f"`{size}`" in said[0]


def test_first_and_last_together_are_not_proved_complete():
    """Each page leaves items out."""
    text = "{ items(first: 5, last: 2) { nodes { name } } }"
    result, _ = execute_all(CONNECTION, serve_items(connect), text)
    assert not result.report.complete


def test_lists_beside_the_edges_are_not_paged():
    """Groups refer to all items, so they are in the result once."""
    text = '{ items(first: 5) { groups(by: "x") { key } } }'
    result, _ = execute_all(CONNECTION, serve_items(connect), text)
    assert result.data == {"items": {"groups": [{"key": "a"}]}}
    assert result.report.requests == 1


@pytest.mark.parametrize("name", ["nextToken", "cursor"])
@pytest.mark.parametrize("empty", [{10, 15}, {0, 5}, range(TOTAL)])
@pytest.mark.parametrize("is_member", [False, True])
def test_an_empty_page_with_a_token_is_not_the_end(name, empty, is_member):
    """AppSync filters its pages, and so does Codex, by its documentation."""
    arguments = f"limit: Int, {name}: String"
    sdl = (
        f"{ITEM} type Items {{ items: [Item!]! {name}: String }} "
        f"type Query {{ items({'input: In' if is_member else arguments}): Items! }} "
        f"input In {{ {arguments} }}"
    )

    def resolve(args: Mapping[str, Any]) -> dict[str, Any]:
        begin = int(args.get("input", args).get(name) or 0)
        page = [] if begin in empty else ITEMS[begin : begin + 5]
        token = str(begin + 5) if begin + 5 < TOTAL else None
        return {"items": page, name: token}

    text = "{ items(input: {limit: 5}) { items { name } } }"
    text = text if is_member else text.replace("input: {limit: 5}", "limit: 5")
    result, _ = execute_all(sdl, serve_items(resolve), text)
    count = sum(n - n % 5 not in empty for n in range(TOTAL))
    assert len(result.data["items"]["items"]) == count
    assert result.report.complete


def test_an_empty_list_with_a_limit_is_complete():
    """No limit leaves nothing of a list."""
    sdl = ITEM + "type Query { items(limit: Int): [Item!]! }"
    for text in ("{ items { name } }", "{ items(limit: 10) { name } }"):
        result, said = execute_all(sdl, serve_items(lambda _: []), text)
        assert (result.report.complete, said) == (True, [])


def test_a_date_filter_is_not_a_cursor():
    """A list without paging arguments is complete."""
    sdl = ITEM + "scalar DateTime type Query { items(after: DateTime!): [Item!]! }"
    text = '{ items(after: "2020-01-01T00:00:00Z") { name } }'
    result, said = execute_all(sdl, serve_items(lambda _: ITEMS[:11]), text)
    assert (result.report.complete, said) == (True, [])


def test_a_null_flag_does_not_end_a_connection():
    """`hasNextPage: null` beside a cursor says nothing; the empty page after the last one does."""
    sdl = CONNECTION.replace("hasNextPage: Boolean!", "hasNextPage: Boolean")

    def resolve(args: Mapping[str, Any]) -> dict[str, Any]:
        page = connect(args)
        return page | {"pageInfo": page["pageInfo"] | {"hasNextPage": None}}

    text = "{ items(first: 7) { nodes { id name } } }"
    result, said = execute_all(sdl, serve_items(resolve), text)
    assert result.data["items"]["nodes"] == ITEMS
    assert (result.report.complete, said) == (True, [])


def test_an_incomplete_result_says_so_everywhere():
    """In the report, the repr, the HTML, the attributes of the frame, and in one warning."""
    sdl = ITEM + "type Query { items(limit: Int): [Item!]! }"
    schema = Schema(sdl, serve_items(lambda args: cut(ITEMS, args, 20)))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        text = "{ items(limit: 100) { name } }"
        result = Client(schema, schema=schema).execute_all(text, progress=False)
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
type Item { id: ID name: String! }
type PageInfo { hasNextPage: Boolean! total: Int }
type Page {
  pageInfo: PageInfo! media: [Item!]! users: [Item!]! results: [Item!]!
}
type Query {
  Page(page: Int, perPage: Int): Page! offsets(skip: Int, take: Int): Page!
  search(limit: Int): Page!
}
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
    pages: list[dict[str, Any]] = []

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
        pages.append({"results": [], "users": [], **lists, "pageInfo": info})
        return pages[-1]

    resolvers = {
        "Page": lambda _, args, __: resolve(
            lambda size: ((args.get("page") or 1) - 1) * size, args.get("perPage") or 10
        ),
        "offsets": lambda _, args, __: resolve(lambda _: args.get("skip") or 0, args["take"]),
        "search": lambda _, args, __: resolve(lambda _: 0, args["limit"]),
    }
    return {"Query": resolvers}


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
    result, said = execute_all(PAGE_OBJECT, resolvers, f"{{ page: {field} {{ {lists} }} }}")
    page = result.data["page"]
    assert names(page["media"]) == [f"media{n}" for n in range(lengths[0])]
    assert names(page["users"]) == [f"users{n}" for n in range(lengths[1])]
    assert page.keys() == {"media", "users"}
    assert result.report.complete
    assert result.report.got == sum(lengths)
    assert not said
    assert len(result.frame("page.users")) == lengths[1]


def test_pages_of_a_page_object_have_the_next_items_of_each_list():
    """Without added fields."""
    schema = Schema(PAGE_OBJECT, serve_page_objects({"media": 25, "users": 13}))
    text = "{ Page(page: 1, perPage: 10) { media { name } users { name } } }"
    pages = [page.data["Page"] for page in Client(schema, schema=schema).pages(text)]
    assert [len(page["media"]) for page in pages] == [10, 10, 5]
    assert [len(page["users"]) for page in pages] == [10, 3, 0]
    assert all(row.keys() == {"name"} for page in pages for row in page["users"])


def test_lists_of_a_page_object_with_different_limits_are_not_proved_complete():
    """By offsets, items of the list with the smaller limit are skipped."""
    resolvers = serve_page_objects({"media": 37, "users": 37}, most={"users": 4})
    text = "{ offsets(take: 10) { media { name } users { name } } }"
    result, said = execute_all(PAGE_OBJECT, resolvers, text)
    assert len(result.data["offsets"]["media"]) == 37
    assert not result.report.complete
    assert "offsets: its lists have pages of different lengths" in said[0]


@pytest.mark.parametrize("flag", [None, "media"])
@pytest.mark.parametrize("users", [3, 8, 10, 12])
def test_the_bound_of_a_page_object_applies_to_each_list(users, flag):
    """A list as long as the limit may have more items, also beside a short one that is counted."""
    resolvers = serve_page_objects({"media": 3, "users": users}, flag)
    text = "{ search(limit: 10) { media { name } users { name } } }"
    result, _ = execute_all(PAGE_OBJECT, resolvers, text)
    search = result.data["search"]
    assert (len(search["media"]), len(search["users"])) == (3, users)
    assert result.report.complete is (flag is None or users < 10)
    assert (result.report.requests > 1) is (users >= 10)


def test_max_results_limits_each_list_of_a_page_object():
    """Paging continues until each list has ended or has enough items."""
    resolvers = serve_page_objects({"media": 37, "users": 13})
    text = "{ Page(page: 1, perPage: 10) { media { name } users { name } } }"
    result, _ = execute_all(PAGE_OBJECT, resolvers, text, max_results=15)
    assert len(result.data["Page"]["media"]) == 15
    assert len(result.data["Page"]["users"]) == 13
    assert result.report.ended == "max_results"


@pytest.mark.parametrize("limit", [{"max_results": 12}, {"max_requests": 1}])
def test_a_limit_does_not_hide_other_gaps(limit):
    """The limit itself is expected and needs no warning; an inner list that may be cut does."""
    sdl = """
    type Query { items(limit: Int, offset: Int): [Item!]! }
    type Item { name: String! tags(limit: Int): [String!]! }
    """
    items = [{**item, "tags": list("abcdefghij")} for item in ITEMS]
    resolvers = serve_items(lambda args: cut(items, args))
    text = "{ items(limit: 6) { name } }"
    result, said = execute_all(sdl, resolvers, text, **limit)
    assert (result.report.complete, result.report.doubts, said) == (False, (), [])
    text = "{ items(limit: 6) { name tags(limit: 10) } }"
    result, said = execute_all(sdl, resolvers, text, **limit)
    assert result.report.ended in limit
    if "max_results" in limit:
        assert "items.tags: 10 rows is a usual limit" in said[0]


def test_facets_beside_results_are_not_joined():
    """Next to a list with a usual name for items, other lists stay as on the first page."""
    sdl = PAGE_OBJECT.replace("results: [Item!]!", "results: [Item!]! facets: [Item!]!")
    for lengths, complete in (({"results": 37}, True), ({"results": 37, "facets": 37}, False)):
        resolvers = serve_page_objects({"facets": 0, **lengths}, "results")
        text = "{ Page(page: 1, perPage: 10) { results { name } facets { name } } }"
        result, _ = execute_all(sdl, resolvers, text)
        assert len(result.data["Page"]["results"]) == 37
        assert len(result.data["Page"]["facets"]) == (0 if complete else 10)
        assert result.report.complete is complete
        assert complete or "`facets` differs between pages" in result.report.doubts[0]


TWO_LISTS = (
    ITEM
    + """
type PageInfo { hasNextPage: Boolean! endCursor: String }
type Items { nodes: [Item!]! pageInfo: PageInfo! totalCount: Int! }
type Counted { total: Int! rows: [Item!]! }
type Query {
  a(first: Int, after: String): Items!
  b(first: Int, after: String): Items!
  plain(limit: Int, offset: Int): [Item!]!
  counted(limit: Int, offset: Int): Counted!
}
"""
)


def serve_two_lists(length: int) -> dict[str, Any]:
    """Return the resolvers of 40 items in `a`, and `length` items in each of the other lists."""

    def connect_items(items: list[Any], args: Mapping[str, Any]) -> dict[str, Any]:
        return build_page(items, args.get("after"), args.get("first") or 10)

    items = ITEMS[:length]
    return {
        "Query": {
            "a": lambda _, args, __: connect_items(ITEMS, args),
            "b": lambda _, args, __: connect_items(items, args),
            "plain": lambda _, args, __: cut(items, args, 10),
            "counted": lambda _, args, __: {"total": length, "rows": cut(items, args, 10)},
        }
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
    result, said = execute_all(TWO_LISTS, serve_two_lists(length), text, path="a")
    assert len(result.data["a"]["nodes"]) == TOTAL
    assert result.report.complete is complete
    assert len(result.report.doubts) == (not complete)
    assert len(said) == (not complete)
    assert all(LEFT_OUT in message for message in said)
    assert (LEFT_OUT in repr(result)) is not complete
    assert "pageInfo" not in repr(result.data)


def test_frames_of_a_followed_list_are_complete_beside_a_list_left_out():
    """Report, marks and warnings of a frame concern the list of its rows alone."""
    text = "{ a(first: 10) { nodes { name } } b(first: 10) { nodes { name } } }"
    schema = Schema(TWO_LISTS, serve_two_lists(11))
    client = Client(schema, schema=schema)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
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
    schema = Schema(TWO_LISTS, serve_two_lists(5))
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


def test_a_list_that_an_error_made_null_is_reported():
    """The report names the list, with the message of the endpoint."""

    def refuse(_: Any) -> Any:
        msg = "Not today."
        raise ValueError(msg)

    result, _ = execute_all(
        ITEM + "type Query { items: [Item] }", serve_items(refuse), "{ items { name } }"
    )
    assert not result.report.complete
    assert result.report.doubts[0].startswith("items: not answered")


def test_an_error_that_made_all_data_null_is_reported():
    """An error of a field that is not nullable leaves no data at all."""

    def refuse(*_: Any) -> Any:
        msg = "Only for administrators."
        raise ValueError(msg)

    result, _ = execute_all(CONNECTION, {"Query": {"items": refuse}}, "{ items { nodes { id } } }")
    assert not result.report.complete
    assert result.report.doubts == ("not answered: Only for administrators.",)


def test_a_negative_limit_is_proved_by_an_empty_page():
    """Directus returns all items for -1; one more request proves it."""
    resolvers = serve_items(lambda args: cut(ITEMS, {"offset": args.get("offset")}, 10**6))
    result, _ = execute_all(PLAIN, resolvers, "{ items(limit: -1) { id name } }")
    assert result.data["items"] == ITEMS
    assert result.report.complete
    assert result.report.requests == 2


# -- reasons to doubt


def test_different_items_with_one_id_are_kept_and_reported():
    """Such an id does not tell whether an item came before."""
    items = [{"id": str(n // 3), "name": f"n{n}"} for n in range(TOTAL)]
    result, _ = execute_all(
        PLAIN, serve_items(lambda args: cut(items, args)), "{ items(limit: 7) { id name } }"
    )
    assert result.data["items"] == items
    assert "items: different items have the same id" in result.report.doubts[0]


def test_inner_lists_as_long_as_the_longest_may_have_been_cut():
    """Their objects cannot be requested again, so that the lengths alone are known."""
    sdl = """
    type Query { items(limit: Int, offset: Int): [Item!]! }
    type Item { name: String! tags(limit: Int, offset: Int): [Tag!]! }
    type Tag { name: String! }
    """
    items = [
        {"name": f"n{n}", "tags": [{"name": "t"}] * count} for n, count in enumerate((9, 3, 9))
    ]
    resolvers = serve_items(lambda args: cut(items, args))
    result, _ = execute_all(sdl, resolvers, "{ items(limit: 5) { name tags { name } } }")
    assert result.report.complete
    assert "items.tags: `limit: 8`: 9 rows" in result.report.notes


OWNERS = """
type Query { items(limit: Int, offset: Int): [Owner!]! owner(id: ID!): Owner }
type Owner { id: ID! name: String! pets(first: Int, offset: Int): [Pet!] }
type Pet { id: ID! name: String! }
"""


def serve_owners(find: Any, pets: Any = None) -> Any:
    """Return the resolvers of owners with seven pets each; `find` returns an owner by its id."""

    def serve_pets(root: Any, args: Mapping[str, Any], _: Any) -> Any:
        own = [{"id": f"{root['id']}/{n}", "name": f"p{n}"} for n in range(7)]
        return cut(own, {**args, "limit": args.get("first")})

    return {
        "Query": {
            "items": lambda _, args, __: cut(ITEMS[:6], args),
            "owner": lambda _, args, __: find(int(args["id"])),
        },
        "Owner": {"pets": pets or serve_pets},
    }


PETS = "{ items(limit: 4) { id name pets(first: 3) { id name } } }"


def test_a_different_object_than_the_requested_one_is_not_used():
    """Its list would be added to that of another object."""
    result, said = execute_all(OWNERS, serve_owners(lambda _: ITEMS[0]), PETS)
    assert [len(owner["pets"]) for owner in result.data["items"]] == [7, 6, 6, 6, 6, 6]
    assert all(pet["id"].startswith("1/") for pet in result.data["items"][1]["pets"])
    assert result.report.ended == (
        "the endpoint returned a different object than the one requested"
    )
    assert len(said) == 1


def test_a_page_lost_by_a_transient_error_is_requested_again():
    """Once; the result is then complete."""
    sent: list[int] = []

    def find(number: int) -> Any:
        sent.append(number)
        if sent.count(2) == 1 and number == 2:
            msg = "Something went wrong while executing your query."
            raise ValueError(msg)
        return ITEMS[number]

    result, said = execute_all(OWNERS, serve_owners(find), PETS)
    assert [len(owner["pets"]) for owner in result.data["items"]] == [7] * 6
    assert (result.report.complete, said) == (True, [])


def test_an_error_without_a_message_is_called_so():
    """As vaex-graphql 0.3 sends for an offset behind the last row of a filtered frame."""
    assert explain_loss({"message": "", "path": ["df", "row"]}).endswith("without a message")


def test_an_error_in_a_later_page_is_reported():
    """It made the list of an object null, which the report names."""

    def serve_pets(root: Any, _: Any, __: Any) -> Any:
        if root["id"] == "5":
            msg = "Not today."
            raise ValueError(msg)
        return []

    resolvers = serve_owners(lambda number: ITEMS[number], serve_pets)
    result, _ = execute_all(OWNERS, resolvers, PETS)
    assert [owner["pets"] for owner in result.data["items"]] == [[]] * 5 + [None]
    assert not result.report.complete
    assert result.report.doubts == ("items.pets: not answered: Not today.",)


INNER = """
type PageInfo { hasNextPage: Boolean! endCursor: String }
type Query { items(first: Int, after: String): Items! }
type Items { nodes: [Item!]! pageInfo: PageInfo! }
type Item { id: ID! name: String! parts(first: Int, after: String): Parts! }
type Parts { nodes: [Part!]! pageInfo: PageInfo! totalCount: Int! }
type Part { id: ID! name: String! }
"""


def serve_parts(count: int, *, more: bool) -> Any:
    """Return the resolvers of two items with three parts each, of which `count` are counted."""
    parts = {"nodes": ITEMS[:3], "pageInfo": {"hasNextPage": more}, "totalCount": count}
    page = {"nodes": ITEMS[:2], "pageInfo": {"hasNextPage": False}}
    return {"Query": {"items": lambda *_: page}, "Item": {"parts": lambda *_: parts}}


@pytest.mark.parametrize(("count", "word"), [(4, "fewer"), (2, "more"), (3, None)])
def test_the_items_of_inner_connections_are_counted(count, word):
    """If the query selects their count, it is compared for each connection."""
    text = "{ items(first: 5) { nodes { parts(first: 5) { totalCount nodes { name } } } } }"
    result, _ = execute_all(INNER, serve_parts(count, more=False), text)
    reason = f"items.parts: {word} items were returned than the endpoint's total count. (2 times)"
    assert result.report.doubts == (() if word is None else (reason,))


def test_inner_lists_of_a_list_left_out_by_path_are_checked():
    """The list itself may be complete without them."""
    parts = "nodes { name parts(first: 3) { nodes { name } } }"
    text = f"{{ a: items(first: 5) {{ nodes {{ name }} }} b: items(first: 5) {{ {parts} }} }}"
    result, _ = execute_all(INNER, serve_parts(3, more=True), text, path="a")
    assert result.report.doubts == (f"b.parts: {LEFT_OUT} (2 times)",)


def test_rows_that_move_to_another_offset_are_not_proved_complete():
    """Their cursors are offsets, which do not identify them, and they have no id."""
    sdl = """
    type Query { items(first: Int, after: String): Items! }
    type Items { edges: [Edge!]! pageInfo: PageInfo! }
    type PageInfo { hasNextPage: Boolean! endCursor: String }
    type Edge { cursor: String! node: Row! }
    type Row { name: String! }
    """
    rows = [{"name": f"n{n}"} for n in range(8)]

    def resolve(args: Mapping[str, Any]) -> dict[str, Any]:
        begin = int(args.get("after") or 0)
        if begin:
            rows.insert(0, {"name": "new"})
        end = min(begin + 4, 8)
        edges = [{"cursor": str(n + 1), "node": rows[n]} for n in range(begin, end)]
        return {"edges": edges, "pageInfo": {"hasNextPage": not begin, "endCursor": str(end)}}

    text = "{ items(first: 4) { edges { cursor node { name } } } }"
    result, said = execute_all(sdl, serve_items(resolve), text)
    assert not result.report.complete
    assert "no selected field tells the rows apart" in said[0]


def test_a_repeated_page_with_equal_items_ends_paging():
    """Equal items within a page are kept, but not those of a page that came before."""
    items = [ITEMS[0], ITEMS[0], ITEMS[1]]
    result, _ = execute_all(PLAIN, serve_items(lambda _: items[:]), "{ items(limit: 3) { id } }")
    assert [item["id"] for item in result.data["items"]] == ["0", "0", "1"]
    assert result.report.complete


def test_lists_of_objects_in_a_plain_list_are_not_requested_again():
    """The object around the plain list has a lookup, but its objects have none."""
    sdl = """
    type Query { owner(id: ID!): Owner }
    type Owner { id: ID! tags: [Tag!]! }
    type Tag { name: String! parts(first: Int, offset: Int): [Part!]! }
    type Part { name: String! }
    """
    parts = [{"name": str(n)} for n in range(40)]
    tags = [{"name": name} for name in "xy"]
    text = '{ owner(id: "1") { tags { name parts(first: 10) { name } } } }'
    resolvers = {
        "Query": {"owner": lambda *_: {"id": "1", "tags": tags}},
        "Tag": {"parts": lambda _, args, __: cut(parts, {**args, "limit": args["first"]}, 10)},
    }
    result, _ = execute_all(sdl, resolvers, text)
    assert "its object cannot be requested again" in result.report.doubts[0]


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
    sdl = f"""
    {ITEM}
    type Query {{ items(page: Int, perPage: Int): Page! }}
    type Page {{ data: [Item!]! {declared} }}
    type Links {{ nextPage: Int }}
    """
    items = ITEMS[:count]

    def resolve(args: Mapping[str, Any]) -> dict[str, Any]:
        page = args.get("page")
        number = base if page is None else page
        begin = max(0, number - base) * 10
        last = base + count // 10 - 1
        return {"data": items[begin : begin + 10], "lastPage": last, "currentPage": number}

    result, _ = execute_all(sdl, serve_items(resolve), "{ items(perPage: 10) { data { id } } }")
    assert [item["id"] for item in result.data["items"]["data"]] == [item["id"] for item in items]
    assert result.report.complete
    assert result.report.requests == requests


@pytest.mark.parametrize("cursor", ["", "endCursor", "at: endCursor"])
def test_an_end_cursor_on_an_empty_page_is_the_end(cursor):
    """Whether the query selects it or not, and by any name."""
    sdl = ITEM + (
        "type Query { items(after: String, limit: Int): Page! } "
        "type Page { items: [Item!]! endCursor: String }"
    )

    def resolve(args: Mapping[str, Any]) -> dict[str, Any]:
        begin = int(args.get("after") or 0)
        page = ITEMS[begin : begin + 10]
        return {"items": page, "endCursor": str(begin + len(page))}

    text = f"{{ items(limit: 10) {{ items {{ id }} {cursor} }} }}"
    result, said = execute_all(sdl, serve_items(resolve), text)
    assert len(result.data["items"]["items"]) == TOTAL
    assert (result.report.complete, said) == (True, [])


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


UNION = (
    ITEM
    + """
type Failure { message: String! }
type PageInfo { hasNextPage: Boolean! endCursor: String }
type Connection { nodes: [Item!]! pageInfo: PageInfo! totalCount: Int! }
type Events { results: [Item!]! cursor: String! hasMore: Boolean! }
type Rows { rows: [Item!]! total: Int! }
union ConnectionOrError = Connection | Failure
union EventsOrError = Failure | Events
union RowsOrError = Rows | Failure
type Query {
  connection(first: Int, after: String): ConnectionOrError!
  events(limit: Int, afterCursor: String): EventsOrError!
  rows(limit: Int, offset: Int): RowsOrError!
}
"""
)
UNION_PAGES = {
    "connection": "{ connection(first: 10) { ... on Failure { message } ...Page } } "
    "fragment Page on Connection { nodes { name } }",
    "events": "{ events(limit: 10) { ... on Failure { message } ... on Events { results { name } }"
    " ... on Events { hasMore } } }",
    "rows": "{ rows(limit: 10) { __typename ... on Rows { rows { name } } } }",
}


def serve_unions(*, fails: bool) -> dict[str, Any]:
    """Return resolvers of lists in a union, like those of Dagster; or of errors in their place."""

    def serve(kind: str, args: Mapping[str, Any]) -> dict[str, Any]:
        if fails:
            return {"__typename": "Failure", "message": "no"}
        begin = args.get("offset") or args.get("after") or args.get("afterCursor")
        page = build_page(ITEMS, begin, args.get("first") or args.get("limit") or 10)
        end, more = page["pageInfo"]["endCursor"] or "", page["pageInfo"]["hasNextPage"]
        lists = {"results": page["nodes"], "rows": page["nodes"]}
        return {"__typename": kind, **page, **lists, "cursor": end, "hasMore": more}

    return {
        "Query": {
            "connection": lambda _, args, __: serve("Connection", args),
            "events": lambda _, args, __: serve("Events", args),
            "rows": lambda _, args, __: serve("Rows", args),
        }
    }


@pytest.mark.parametrize("field", UNION_PAGES)
def test_pages_in_a_union_are_followed(field):
    """The fields that describe a page are added to the fragment with the list."""
    result, said = execute_all(UNION, serve_unions(fails=False), UNION_PAGES[field])
    assert len(result.frame()) == TOTAL
    assert (result.report.complete, said) == (True, [])
    assert "gqlnb_" not in str(result.data)


@pytest.mark.parametrize("field", UNION_PAGES)
def test_another_type_in_place_of_a_page_is_reported(field):
    """An error that is data is not an empty list."""
    result, said = execute_all(UNION, serve_unions(fails=True), UNION_PAGES[field])
    assert len(said) == 1
    assert not result.report.complete
    reason = "the endpoint returned an object of another type, without the list."
    assert result.report.doubts[0].endswith(f": {reason}")


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
    serve = serve_items(lambda args: build_page(ITEMS, args.get("after"), args["first"]))
    result, said = execute_all(CONNECTION, serve, text)
    assert len(result.frame("items")) == TOTAL
    assert (result.report.complete, said) == (True, [])


WAGTAIL = (
    ITEM
    + """
scalar PositiveInt
type Pagination { total: PositiveInt! currentPage: PositiveInt! nextPage: PositiveInt }
type Page { items: [Item!]! pagination: Pagination! }
type Query { items(page: PositiveInt, perPage: PositiveInt): Page! }
"""
)


def test_pages_are_described_by_integers_of_any_name():
    """Wagtail names them PositiveInt, and returns its last page again for any later one."""

    def serve(_: Any, args: Mapping[str, Any], __: Any) -> dict[str, Any]:
        size = 10  # at most, whatever is asked for
        number = min(args.get("page") or 1, TOTAL // size)
        following = number + 1 if number * size < TOTAL else None
        info = {"total": TOTAL, "currentPage": number, "nextPage": following}
        return {"items": ITEMS[(number - 1) * size : number * size], "pagination": info}

    result, said = execute_all(WAGTAIL, {"Query": {"items": serve}}, "{ items { items { id } } }")
    assert len(result.frame()) == TOTAL
    assert (result.report.complete, result.report.requests, said) == (True, TOTAL // 10, [])


NESTJS = (
    ITEM
    + """
scalar ConnectionCursor
input CursorPaging { first: Int after: ConnectionCursor before: ConnectionCursor last: Int }
type PageInfo { hasNextPage: Boolean endCursor: ConnectionCursor }
type Owner { id: ID! items(paging: CursorPaging! = {first: 5}): Items! }
type Items { pageInfo: PageInfo! edges: [Edge!]! }
type Edge { node: Item! cursor: ConnectionCursor! }
type Query { items(paging: CursorPaging! = {first: 10}): Items! owners: [Owner!]! }
"""
)


def connect_items(items: list[Any], args: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page like nestjs-query, with paging arguments in an input object."""
    size = args["paging"].get("first") or 10
    after = args["paging"].get("after")
    begin = 0 if after is None else int(str(after).removeprefix("c=="))
    rows = items[begin : begin + size]
    info = {"hasNextPage": begin + size < len(items), "endCursor": f"c=={begin + len(rows)}"}
    return {"edges": [{"node": row, "cursor": "c"} for row in rows], "pageInfo": info}


def test_a_cursor_in_an_input_object_is_sent_as_a_variable():
    """As text it would have to be quoted, and its type may be a scalar of any name."""
    serve = {"Query": {"items": lambda _, args, __: connect_items(ITEMS, args)}}
    text = "{ items(paging: {first: 7}) { edges { node { id } } } }"
    result, said = execute_all(NESTJS, serve, text)
    assert [row["node"]["id"] for row in result.data["items"]["edges"]] == [r["id"] for r in ITEMS]
    assert (result.report.complete, said) == (True, [])


def test_a_count_includes_the_rows_before_a_cursor_in_an_input_object():
    """So it is in nestjs-query 9.5, and no reason to doubt."""
    sdl = NESTJS.replace("type Items {", "type Items { totalCount: Int!")

    def serve(_: Any, args: Mapping[str, Any], __: Any) -> dict[str, Any]:
        return {**connect_items(ITEMS, args), "totalCount": len(ITEMS)}

    text = '{ items(paging: {first: 7, after: "c==7"}) { edges { node { id } } } }'
    result, said = execute_all(sdl, {"Query": {"items": serve}}, text)
    rows = [row["node"]["id"] for row in result.data["items"]["edges"]]
    assert (rows, said) == ([row["id"] for row in ITEMS[7:]], [])


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
    resolvers = {
        "Query": {"owners": lambda *_: [{"id": n} for n in range(len(lengths))]},
        "Owner": {"items": lambda root, args, _: connect_items(ITEMS[: lengths[root["id"]]], args)},
    }
    result, _ = execute_all(NESTJS, resolvers, text)
    assert result.report.complete == (complete and len(lengths) > 1)
    assert any("cut them" in doubt for doubt in result.report.doubts) == (not complete)


@pytest.mark.parametrize("follow", ["all", ()])
@pytest.mark.parametrize("total", [0, 2, 3, 4, 5])
def test_few_rows_in_each_answer_are_reported(total, follow):
    """nestjs-query 9.5 limits the query for all objects, also to three rows and one more."""
    sdl = NESTJS.replace("owners:", "owners(limit: Int, offset: Int = 0):")

    def list_owners(_: Any, args: Mapping[str, Any], __: Any) -> list[dict[str, int]]:
        numbers = range(300)[args["offset"] :][: args["limit"]]
        is_third = args["offset"] == numbers.start > 20
        rows = total if is_third else 3
        lengths = [max(rows - 3, 0), min(rows, 3)] + [0] * 300
        return [{"id": n, "length": lengths[n - numbers.start]} for n in numbers]

    def list_items(root: Any, args: Mapping[str, Any], _: Any) -> dict[str, Any]:
        return connect_items(ITEMS[: root["length"]], args)

    text = "{ owners(limit: 10) { id items(paging: {first: 3}) { edges { node { id } } } } }"
    resolvers = {"Query": {"owners": list_owners}, "Owner": {"items": list_items}}
    result, _ = execute_all(sdl, resolvers, text, follow=follow)
    is_likely = total in {3, 4}
    assert any("cut them" in doubt for doubt in result.report.doubts) == is_likely


def test_a_limit_that_only_the_extensions_of_an_error_state_is_kept():
    """NestJS has the message "Bad Request Exception", and the reason below `originalError`."""
    text = "{ owners { id items { edges { node { id } } } } }"
    asked = []

    def serve(_: Any, args: Mapping[str, Any], __: Any) -> dict[str, Any]:
        asked.append(args["paging"]["first"])
        if args["paging"]["first"] > 20:
            reason = {
                "constraints": {"PropertyMax": "Field paging.first max allowed value is `20`."}
            }
            extensions = {"code": "BAD_REQUEST", "originalError": {"message": [reason]}}
            msg = "Bad Request Exception"
            raise GraphQLError(msg, extensions=extensions)
        return connect_items(ITEMS[:3], args)

    resolvers = {"Query": {"owners": lambda *_: [{"id": 1}]}, "Owner": {"items": serve}}
    result, said = execute_all(NESTJS, resolvers, text)
    assert asked[-1] == 20
    assert len(result.data["owners"][0]["items"]["edges"]) == 3
    assert (result.report.complete, said) == (True, [])


WRONG_END = """
type Query { items(first: Int, after: String): Items! }
type Items { nodes: [Item!]! pageInfo: PageInfo! }
type PageInfo { hasNextPage: Boolean! endCursor: String }
type Item { id: ID! }
"""


def connect_with_estimate(total: int, estimate: int, *, failure: str = "") -> Any:
    """Return a resolver of a connection that computes ``hasNextPage`` from an estimated count."""

    def resolve(args: Mapping[str, Any]) -> dict[str, Any]:
        begin = int(args.get("after") or 0)
        if failure and begin >= total:
            raise ValueError(failure)
        end = min(total, begin + args["first"])
        nodes = [{"id": str(n)} for n in range(begin, end)]
        return {"nodes": nodes, "pageInfo": {"hasNextPage": end < estimate, "endCursor": str(end)}}

    return resolve


def test_items_after_a_wrong_end_are_fetched_and_reported():
    """Parse Server on PostgreSQL computes ``hasNextPage`` from the planner's estimate."""
    text = "{ items(first: 7) { nodes { id } } }"
    resolvers = serve_items(connect_with_estimate(93, 61))
    result, said = execute_all(WRONG_END, resolvers, text, page_size=7)
    assert [each["id"] for each in result.data["items"]["nodes"]] == [str(n) for n in range(93)]
    assert not result.report.complete
    assert "the endpoint reported the end of the list, but more items followed." in said[0]


@pytest.mark.parametrize("failure", ["", "no such cursor"])
@pytest.mark.parametrize(("total", "requests"), [(20, 3), (21, 4), (1, 1), (7, 2)])
def test_the_end_after_a_full_page_is_verified(total, requests, failure):
    """One more request shows that nothing follows; if it fails, the reported end counts."""
    text = "{ items(first: 7) { nodes { id } } }"
    resolvers = serve_items(connect_with_estimate(total, total, failure=failure))
    result, said = execute_all(WRONG_END, resolvers, text, page_size=7)
    assert len(result.data["items"]["nodes"]) == total
    assert (result.report.complete, result.report.requests) == (True, requests)
    assert not said
    assert not result.errors


def test_the_end_is_not_verified_beyond_the_limit_of_requests():
    """The list is complete by what the endpoint reported."""
    text = "{ items(first: 7) { nodes { id } } }"
    resolvers = serve_items(connect_with_estimate(14, 14))
    result, _ = execute_all(WRONG_END, resolvers, text, page_size=7, max_requests=2)
    assert (result.report.complete, result.report.requests) == (True, 2)


def test_a_total_below_the_number_of_items_does_not_end_the_list():
    """Vendure's job queue in memory counts the items of the page."""
    sdl = """
    type Query { jobs(skip: Int, take: Int): Jobs! }
    type Jobs { items: [Item!]! totalItems: Int! }
    type Item { id: ID! }
    """

    def resolve(args: Mapping[str, Any]) -> dict[str, Any]:
        page = build_page(build_rows(47), args.get("skip"), args["take"])
        return {**page, "totalItems": len(page["items"])}

    resolvers = {"Query": {"jobs": lambda _, args, __: resolve(args)}}
    result, said = execute_all(sdl, resolvers, "{ jobs(take: 10) { items { id } } }", page_size=10)
    assert len(result.data["jobs"]["items"]) == 47
    assert not result.report.complete
    assert said


GROUPS = """
type Query { groups(skip: Int, limit: Int): [Group!]! }
type Group { name: String! total: Int! rows: [Int!]! }
"""


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_an_ignored_offset_of_a_short_list_is_noticed_at_once(count):
    """A page that does not reach its limit is the whole list."""
    rows = [{"name": f"g{n % 2}", "total": 1, "rows": [1]} for n in range(count)]
    resolvers = {"Query": {"groups": lambda *_: rows}}
    result, said = execute_all(GROUPS, resolvers, "{ groups { name total rows } }")
    assert result.data["groups"] == rows
    assert (result.report.complete, said) == (True, [])


def test_an_offset_for_the_lists_in_the_items_does_not_repeat_the_items():
    """Gatsby's groups take it for the nodes of each group."""

    def resolve(_: object, args: Mapping[str, Any], __: object) -> list[dict[str, Any]]:
        begin = args.get("skip") or 0
        rows = list(range(begin, min(471, begin + (args.get("limit") or 471))))
        return [{"name": name, "total": 471, "rows": rows} for name in "ab"]

    text = "{ groups { name total rows } }"
    result, said = execute_all(GROUPS, {"Query": {"groups": resolve}}, text)
    assert [each["name"] for each in result.data["groups"]] == ["a", "b"]
    assert (result.report.complete, said) == (True, [])


OWNED = """
scalar UUID
interface Node {{ id: ID! }}
type Query {{ all: [Board!]! {root} }}
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


def serve_owned(root: str, prefix: str = "") -> dict[str, Any]:
    """Return resolvers of an object with 57 rows and one with a row; ids may get a prefix."""
    lengths = {"1": 57, "2": 1}

    def page(board: Any, args: Mapping[str, Any], _: Any) -> dict[str, Any]:
        begin, length = int(args.get("cursor") or 0), lengths[board["id"].removeprefix(prefix)]
        end = min(length, begin + args["limit"])
        cursor = str(end) if end < length else None
        return {"items": [{"id": f"r{n}"} for n in range(begin, end)], "cursor": cursor}

    def build(name: Any) -> Any:
        if isinstance(name, list):
            return [build(each) for each in name]
        return {"__typename": "Board", "id": prefix + name}

    def refuse(row: Any, _: Any, __: Any) -> str:
        if row["id"] == "r30":
            msg = "Not yours."
            raise ValueError(msg)
        return "s"

    boards = [{"__typename": "Board", "id": name} for name in lengths]
    names = ("board", "boards", "nodes", "byId") if "byId" not in root else ("byId",)
    fields = {name: lambda _, args, __: build(ROOTS[root](args)) for name in names if name in root}
    query = {"all": lambda *_: boards, **{n: f for n, f in fields.items() if f"{n}(" in root}}
    return {"Query": query, "Board": {"rows": page}, "Row": {"secret": refuse}}


@pytest.mark.parametrize("type_", ["ID", "UUID"])
@pytest.mark.parametrize("root", ROOTS)
def test_objects_are_requested_again_by_a_root_field(root, type_):
    """Nautobot has ``id: UUID!`` with ``id: ID``, strawberry-django ``pk:``, Keystone ``where:``.

    monday.com has ``boards(ids:)``, and no field that returns one board.
    """
    sdl = OWNED.format(root=root, type=type_)
    if type_ == "UUID":
        sdl = sdl.replace(" implements Node", "").replace("[Node]", "[Board]")
    result, _ = execute_all(
        sdl, serve_owned(root), "{ all { rows(limit: 10) { items { id secret } } } }"
    )
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
    sdl = f"""
    type Query {{ rdb: Base! }} type Base {{ all: [Run!]! {field} }}
    type Run {{ id: Int! name: String! rows(first: Int, after: String): Rows! }}
    type Rows {{ nodes: [Row!]! pageInfo: PageInfo! }} type Row {{ id: ID! }}
    type PageInfo {{ hasNextPage: Boolean! endCursor: String }}
    """
    runs = [{"id": n, "name": f"run {n}"} for n in range(3)]

    def find(_root: Any, args: Mapping[str, Any], _context: Any) -> Any:
        value = args[key]
        return [runs[n] for n in value] if key == "ids" else runs[int(str(value)[-1])]

    rows = build_rows(57)
    resolvers = {
        "Query": {"rdb": lambda *_: {}},
        "Base": {"all": lambda *_: runs, field.partition("(")[0]: find},
        "Run": {"rows": lambda _, args, __: build_page(rows, args.get("after"), args["first"])},
    }
    text = "{ rdb { all { name rows(first: 10) { nodes { id } } } } }"
    result, _ = execute_all(sdl, resolvers, text)
    assert [len(run["rows"]["nodes"]) for run in result.data["rdb"]["all"]] == [got] * 3
    assert result.report.complete == (got == 57)


def test_an_object_with_another_id_is_not_the_same_one():
    """The argument may have another meaning than its name."""
    root = "board(pk: ID!): Board!"
    sdl = OWNED.format(root=root, type="ID")
    result, _ = execute_all(
        sdl, serve_owned(root, "global-"), "{ all { rows(limit: 10) { items { id } } } }"
    )
    assert [len(board["rows"]["items"]) for board in result.data["all"]] == [10, 1]
    assert not result.report.complete


@pytest.mark.parametrize("type_", ["Int", "Time"])
@pytest.mark.parametrize(("low", "high"), [("from", "to"), ("start", "end"), ("startAt", "until")])
def test_the_lower_end_of_a_range_is_kept_on_all_pages(type_, low, high):
    """Without an upper end beside them, `from: Int` and `start: Int` are offsets."""
    sdl = f"""
    scalar Time
    type Query {{ items({low}: {type_}, {high}: {type_}, first: Int, after: String): Items! }}
    type Items {{ nodes: [Item!]! pageInfo: PageInfo! }}
    type PageInfo {{ hasNextPage: Boolean! endCursor: String }}
    type Item {{ id: ID! at: {type_} }}
    """

    def resolve(args: Mapping[str, Any]) -> dict[str, Any]:
        ends = int(args.get(low) or 0), int(args[high])
        rows = [{"id": str(n), "at": n} for n in range(*ends)]
        return build_page(rows, args.get("after"), args["first"])

    text = f"{{ items({low}: 30, {high}: 70, first: 7) {{ nodes {{ id at }} }} }}"
    result, said = execute_all(sdl, serve_items(resolve), text, page_size=7)
    assert [each["at"] for each in result.data["items"]["nodes"]] == list(range(30, 70))
    assert (result.report.complete, said) == (True, [])


def test_a_limited_list_of_a_range_is_not_continued_by_its_lower_end():
    """It is not the number of rows before a page."""
    sdl = "type Query { items(from: Int, to: Int, limit: Int): [Item!]! } type Item { id: ID! }"

    def resolve(args: Mapping[str, Any]) -> list[dict[str, str]]:
        rows = [{"id": str(n)} for n in range(1_000) if args["from"] <= n // 10 < args["to"]]
        return rows[: args["limit"]]

    text = "{ items(from: 10, to: 90, limit: 50) { id } }"
    result, said = execute_all(sdl, serve_items(resolve), text)
    assert [item["id"] for item in result.data["items"]] == [str(n) for n in range(100, 900)]
    assert "`limit: 1600` brought 800 rows" in said[0]


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
    sdl = f"type Query {{ shoes({declared}): [Shoe!]! }} type Shoe {{ id: ID! size: Int! }}"
    asked: list[Mapping[str, Any]] = []

    def resolve(args: Mapping[str, Any]) -> list[dict[str, Any]]:
        asked.append(args)
        most = args.get("size", args.get("max", args.get("count")))
        rows = [{"id": str(n), "size": n % 6} for n in range(300) if n % 6 <= most]
        size = args.get("pageSize") or args.get("limit") or 20
        begin = args.get("offset") or (args.get("page") or 0) * size
        return rows[begin : begin + size]

    text = f"{{ shoes({given}) {{ id size }} }}"
    resolvers = {"Query": {"shoes": lambda _, args, __: resolve(args)}}
    result, _ = execute_all(sdl, resolvers, text)
    assert {key for args in asked for key in args if args[key] != asked[0].get(key)} <= {
        *("page", "offset", "limit", "pageSize")
    }
    assert len(result.data["shoes"]) == 250


def test_an_empty_page_that_promises_more_is_not_the_end():
    """The report says that more items follow."""
    sdl = ITEM + (
        "type Page { items: [Item!]! hasMore: Boolean! } "
        "type Query { items(offset: Int, limit: Int): Page! }"
    )
    resolvers = serve_items(lambda args: {"items": cut(ITEMS, args), "hasMore": True})
    result, _ = execute_all(sdl, resolvers, "{ items(limit: 10) { items { name } hasMore } }")
    assert len(result.data["items"]["items"]) == TOTAL
    assert result.report.ended == "a page is empty, but the endpoint reports more items"


def test_many_small_inner_lists_take_few_requests():
    """Pages of inner lists grow together, and more of them share a request."""
    sdl = """
    type Query { posts(first: Int, offset: Int): [Post!]! post(id: ID!): Post }
    type Post { id: ID! comments(first: Int, offset: Int): [Comment!]! }
    type Comment { id: ID! }
    """
    comments = {str(n): [{"id": f"{n}-{m}"} for m in range(n * 7 % 13)] for n in range(400)}

    def page(items: list[Any], args: Mapping[str, Any]) -> list[Any]:
        begin, first = args.get("offset") or 0, args.get("first")
        return items[begin:] if first is None else items[begin : begin + first]

    posts = [{"id": n} for n in comments]
    resolvers = {
        "Query": {"posts": lambda _, args, __: page(posts, args), "post": lambda _, args, __: args},
        "Post": {"comments": lambda root, args, _: page(comments[root["id"]], args)},
    }
    result, _ = execute_all(sdl, resolvers, "{ posts { id comments(first: 2) { id } } }")
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
    sdl = "type Query { rows(takeTexts: Int = 1): [Row!]! } type Row { id: ID! num: Int! "
    sdl += "texts: [Text!]! } type Text { text: String! }"

    def resolve(args: dict[str, Any]) -> list[dict[str, Any]]:
        texts = [{"text": "a"}] * min(count, args["takeTexts"])
        return [{"id": "1", "num": 43, "texts": texts}, {"id": "2", "num": 44, "texts": []}]

    text = f"{{ rows{arguments} {{ num texts {{ text }} }} }}"
    report = fetch(sdl, resolve, text).report
    reason = "rows.texts: it is as long as `takeTexts: 1` of the list around it."
    assert report.complete == is_complete
    assert report.doubts == (() if is_complete else (reason,))
    verdict = build_client(sdl, resolve).execute(text).frames["rows.texts"].attrs["completeness"]
    assert ("`takeTexts: 1` is reached" in verdict) == (not is_complete), verdict
