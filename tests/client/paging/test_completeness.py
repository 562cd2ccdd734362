"""Answers that prove that all items came, and answers that do not: one service for each case."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import pytest

from gqlnb import Client, Schema
from gqlnb.client.transports import InProcessTransport

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gqlnb import Result

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


class Counting(InProcessTransport):
    """Executes in this process and counts the requests."""

    sent = 0

    def send(self, request: Any) -> Any:
        """Execute a request."""
        self.sent += 1
        return super().send(request)


def execute_all(sdl: str, resolvers: Any, text: str, **options: Any) -> tuple[Result, list[str]]:
    """Return all pages of a query, and the warnings."""
    schema = Schema(sdl, resolvers)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
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
def test_a_connection_ends_at_the_bound_in_the_query(
    arguments: str, expected: list[dict[str, Any]]
) -> None:
    """Items beyond a ``before`` bound are not requested."""
    text = f"{{ items({arguments}) {{ nodes {{ id name }} }} }}"
    result, said = execute_all(CONNECTION, serve_items(connect), text)
    assert result.data["items"]["nodes"] == expected
    assert result.report is not None
    assert result.report.complete
    assert not said


@pytest.mark.parametrize("size", ["first: 0", "last: 0"])
def test_a_query_for_zero_items_is_not_complete(size: str) -> None:
    """A page size of zero leaves items out."""
    text = f"{{ items({size}) {{ nodes {{ name }} }} }}"
    result, said = execute_all(CONNECTION, serve_items(connect), text)
    assert result.report is not None
    assert not result.report.complete
    assert f"`{size}`" in said[0]


def test_first_and_last_together_are_not_proved_complete() -> None:
    """Each page leaves items out."""
    text = "{ items(first: 5, last: 2) { nodes { name } } }"
    result, _ = execute_all(CONNECTION, serve_items(connect), text)
    assert result.report is not None
    assert not result.report.complete


def test_lists_beside_the_edges_are_not_paged() -> None:
    """Groups refer to all items, so they come once."""
    text = '{ items(first: 5) { groups(by: "x") { key } } }'
    result, _ = execute_all(CONNECTION, serve_items(connect), text)
    assert result.data == {"items": {"groups": [{"key": "a"}]}}
    assert result.report is not None
    assert result.report.requests == 1


@pytest.mark.parametrize("rows", [7, 40])
def test_equal_rows_without_key_and_count_are_not_proved_complete(rows: int) -> None:
    """Such pages may overlap."""
    sdl = "type Visit { country: String! } type Query { items(limit: Int, offset: Int): [Visit!]! }"
    visits = [{"country": f"c{n % 3}"} for n in range(rows)]
    result, said = execute_all(
        sdl, serve_items(lambda args: cut(visits, args)), "{ items(limit: 5) { country } }"
    )
    assert result.data["items"] == visits
    assert result.report is not None
    assert not result.report.complete
    assert "nothing tells their rows apart" in said[0]


def test_short_pages_in_the_middle_do_not_end_a_list() -> None:
    """A service that removes items from a page after cutting it returns shorter pages."""

    def resolve(args: Mapping[str, Any]) -> list[Any]:
        number = args.get("page") or 1
        page = ITEMS[(number - 1) * 5 : number * 5]
        return [each for each in page if each["id"] not in {"7", "22"}]

    sdl = ITEM + "type Query { items(page: Int, perPage: Int): [Item!]! }"
    result, _ = execute_all(sdl, serve_items(resolve), "{ items(perPage: 5) { name } }")
    assert len(result.data["items"]) == TOTAL - 2
    assert result.report is not None
    assert result.report.complete


def test_a_large_size_that_returns_fewer_items_does_not_end_a_list() -> None:
    """Some services use their default for a size that they do not accept."""
    items = [{"id": str(n), "name": f"n{n}"} for n in range(400)]

    def resolve(args: Mapping[str, Any]) -> list[Any]:
        limit = args.get("limit") or 10
        return cut(items, {**args, "limit": limit if limit <= 20 else 10})

    result, _ = execute_all(PLAIN, serve_items(resolve), "{ items(limit: 20) { id name } }")
    assert result.data["items"] == items
    assert result.report is not None
    assert result.report.complete
    assert result.report.requests < 30


def test_an_empty_page_with_a_token_is_not_the_end() -> None:
    """AppSync filters its pages, so an empty page may be followed by others."""
    sdl = (
        ITEM
        + "type Items { items: [Item!]! nextToken: String } "
        + "type Query { items(limit: Int, nextToken: String): Items! }"
    )

    def resolve(args: Mapping[str, Any]) -> dict[str, Any]:
        begin = int(args.get("nextToken") or 0)
        page = [] if begin in {10, 15} else ITEMS[begin : begin + 5]
        token = str(begin + 5) if begin + 5 < TOTAL else None
        return {"items": page, "nextToken": token}

    result, _ = execute_all(sdl, serve_items(resolve), "{ items(limit: 5) { items { name } } }")
    assert len(result.data["items"]["items"]) == TOTAL - 10
    assert result.report is not None
    assert result.report.complete


def test_a_list_of_a_round_length_is_not_proved_complete() -> None:
    """20 items for a limit of 100 may be all, or the endpoint's maximum."""
    sdl = ITEM + "type Query { items(limit: Int): [Item!]! }"
    resolvers = serve_items(lambda args: cut(ITEMS, args, 20))
    result, _ = execute_all(sdl, resolvers, "{ items(limit: 100) { name } }")
    assert result.report is not None
    assert not result.report.complete
    resolvers = serve_items(lambda args: cut(ITEMS[:17], args, 20))
    result, _ = execute_all(sdl, resolvers, "{ items(limit: 100) { name } }")
    assert result.report is not None
    assert result.report.complete


def test_a_page_with_two_lists_is_not_proved_complete() -> None:
    """The report names the field and its argument, as it cannot be continued."""
    sdl = (
        ITEM
        + "type Page { media: [Item!]! users: [Item!]! } "
        + "type Query { items(page: Int, perPage: Int): Page! }"
    )
    resolvers = serve_items(lambda _: {"media": ITEMS[:5], "users": ITEMS[:5]})
    result, _ = execute_all(sdl, resolvers, "{ items { media { name } users { name } } }")
    assert result.report is not None
    assert result.report.doubts == (
        "items: it takes `page:`, and its pages do not say whether more follow.",
    )


def test_a_list_that_an_error_made_null_is_reported() -> None:
    """The report names the list, with the message of the endpoint."""

    def refuse(_: Any) -> Any:
        msg = "Not today."
        raise ValueError(msg)

    result, _ = execute_all(
        ITEM + "type Query { items: [Item] }", serve_items(refuse), "{ items { name } }"
    )
    assert result.report is not None
    assert not result.report.complete
    assert result.report.doubts[0].startswith("items: not answered")


def test_a_negative_limit_is_proved_by_an_empty_page() -> None:
    """Directus returns all items for -1; one more request proves it."""
    resolvers = serve_items(lambda args: cut(ITEMS, {"offset": args.get("offset")}, 10**6))
    result, _ = execute_all(PLAIN, resolvers, "{ items(limit: -1) { id name } }")
    assert result.data["items"] == ITEMS
    assert result.report is not None
    assert result.report.complete
    assert result.report.requests == 2


def test_items_listed_twice_in_one_page_are_kept() -> None:
    """Only items of other pages count as duplicates."""
    items = [ITEMS[0], ITEMS[0], ITEMS[1]]
    result, _ = execute_all(
        PLAIN, serve_items(lambda args: cut(items, args)), "{ items(limit: 5) { id name } }"
    )
    assert result.data["items"] == items


def test_only_the_last_page_warns() -> None:
    """The pages before it are incomplete because others follow."""
    schema = Schema(PLAIN, serve_items(lambda args: cut(ITEMS, {**args, "offset": 0})))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        pages = Client(schema, schema=schema).pages("{ items(limit: 5) { name } }", progress=False)
        frames = [page.frame() for page in pages]
    assert all(frame.attrs["partial"] for frame in frames)
    assert len(said) == 1


def test_many_small_inner_lists_take_few_requests() -> None:
    """Pages of inner lists grow together, and more of them share a request."""
    sdl = """
    type Query { posts(first: Int, offset: Int): [Post!]! post(id: ID!): Post }
    type Post { id: ID! comments(first: Int, offset: Int): [Comment!]! }
    type Comment { id: ID! }
    """
    comments = {str(n): [{"id": f"{n}-{m}"} for m in range(n * 7 % 13)] for n in range(2000)}

    def page(items: list[Any], args: Mapping[str, Any]) -> list[Any]:
        begin, first = args.get("offset") or 0, args.get("first")
        return items[begin:] if first is None else items[begin : begin + first]

    schema = Schema(
        sdl,
        {
            "Query": {
                "posts": lambda _, args, __: page([{"id": n} for n in comments], args),
                "post": lambda _, args, __: {"id": args["id"]},
            },
            "Post": {"comments": lambda root, args, _: page(comments[root["id"]], args)},
        },
    )
    transport = Counting(schema)
    text = "{ posts { id comments(first: 2) { id } } }"
    result = Client(transport, schema=schema).execute_all(text, progress=False)
    assert {post["id"]: post["comments"] for post in result.data["posts"]} == comments
    assert result.report is not None
    assert result.report.complete
    assert transport.sent < 100
