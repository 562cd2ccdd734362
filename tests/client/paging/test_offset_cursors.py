"""Pages whose cursors can be computed are requested at once, and never more than exist.

In any order of the answers the result is the same as with one request after the other.
"""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

import pytest

from gqlnb import Client, Schema, serve
from gqlnb.client.endpoint import PagingOptions
from gqlnb.client.paging.crawler import Crawler
from tests.client.paging.faulty_connections import (
    FAULTS,
    QUERY,
    SIZE,
    TOTAL,
    Failing,
    Items,
    ids,
    item,
    page,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from gqlnb.client.paging.cursors import PageRequest

SDL = """
type Query { items(first: Int, after: String): Items! others(first: Int, after: String): Items! }
type Item { id: ID! n: Int! }
type Items { totalCount: Int! nodes: [Item] pageInfo: PageInfo! }
type PageInfo { hasNextPage: Boolean! endCursor: String }
"""
WIDTH = 4


def plain(made: dict[str, Any]) -> dict[str, Any]:
    """Return a page with cursors that are offsets."""
    info = made["pageInfo"]
    end = info["endCursor"]
    return made | {"pageInfo": info | {"endCursor": end and end.removeprefix("c:")}}


def world(spoil: Any = FAULTS["right"].spoil, sdl: str = SDL) -> tuple[Schema, Items]:
    """Return a schema whose cursors are offsets, and its items."""
    items = Items(spoil)
    numbers = range(SIZE, 3 * SIZE)

    def others(_: Any, args: dict[str, Any], __: Any) -> Any:
        begin = int(args.get("after") or 0)
        rows = [item(n) for n in numbers[begin : begin + args["first"]]]
        return plain(page(rows, begin, len(numbers)))

    resolvers = {"items": lambda _, a, __: plain(items.page(a["first"], a.get("after")))}
    return Schema(sdl, {"Query": {**resolvers, "others": others}}), items


def walked(
    client: Client,
    text: str,
    order: Callable[[list[PageRequest]], list[PageRequest]],
    **options: Any,
) -> Crawler:
    """Page a query, with the answers of each round in another order."""
    walk = client._pager.start_crawler(text, None, None, PagingOptions(follow="all", **options))
    asks = [walk.build_first_request()]
    while asks:
        for ask in order(asks):
            ask.sent = 1
            walk.add_answer(ask, client.execute(ask.text, ask.variables))
        asks = walk.build_next_requests(WIDTH)
    return walk


@pytest.mark.parametrize("name", FAULTS)
def test_faults_give_the_same_result_as_single_requests(name):
    """The same items and the same end; a wrong guess costs at most one round."""
    fault = FAULTS[name]
    for order in (list, lambda asks: asks[::-1]):
        schema, items = world(fault.spoil)
        result = walked(Client(schema), QUERY, order).build_result()
        got, report = ids(result.data), result.report
        assert len(got) == len({*got})
        assert report is not None
        if name not in CHANGING:
            assert {*got} == fault.numbers
            assert report.ended == fault.ended
        assert items.asked <= fault.most + WIDTH - 1


# Their items change with each request, so the result depends on the order of the answers.
CHANGING = {"shrinks", "grows", "grows in front", "reordered", "empty pages"}


UNCOUNTED = SDL.replace("totalCount: Int! ", "")


def rounds(text: str, sdl: str = SDL, **options: Any) -> list[int]:
    """Return the number of requests in each round."""
    schema, _ = world(sdl=sdl)
    sizes: list[int] = []

    def noted(asks: list[PageRequest]) -> list[PageRequest]:
        sizes.append(len(asks))
        return asks

    walked(Client(schema), text, noted, **options)
    return sizes


def test_pages_are_requested_at_once_only_with_a_count():
    """Without a count the number of pages is unknown."""
    assert rounds(QUERY) == [1, 4]
    assert rounds(QUERY.replace("totalCount", "")) == [1, 4]
    assert rounds(QUERY.replace("totalCount", ""), UNCOUNTED) == [1, 1, 1, 1, 1, 1]
    assert rounds(QUERY, page_size=4) == [1, 4, 2]
    assert rounds(QUERY, max_results=12) == [1, 2]
    assert rounds(QUERY, max_requests=3) == [1, 2]


def test_halved_pages_are_requested_one_by_one():
    """The next page may be too large again."""
    schema, _ = world()
    client = Client(Failing(schema, heavy=3), schema=schema)
    walk = client._pager.start_crawler(QUERY, None, None, PagingOptions(follow="all"))
    walk._sizes.halve(0)
    ask = walk.build_first_request()
    walk.add_answer(ask, client.execute(ask.text, ask.variables))
    assert len(walk.build_next_requests(WIDTH)) == 1


@pytest.mark.parametrize("bound", [{"heavy": 3}, {"refused": 3}, {"fails": {3: MemoryError}}])
@pytest.mark.parametrize("way", ["threads", "loop"])
def test_failures_in_a_round_lose_no_items(bound, way):
    """Halved pages, and an error in the middle of a round."""
    schema, _ = world()
    client = Client(Failing(schema, **bound), schema=schema)
    text = "{ items(first: 2) { totalCount nodes { n } } }"
    ways = {
        "threads": client.execute_all,
        "loop": lambda text: asyncio.run(client.aexecute_all(text, follow="all")),
    }
    try:
        result = ways[way](text)
    except MemoryError:
        result = client.resume()
    assert ids(result.data) == list(range(TOTAL))
    assert result.report.ended == "complete"


@pytest.mark.parametrize("way", ["threads", "loop"])
def test_over_http_pages_are_requested_in_parallel(way):
    """The four pages after the first wait for each other, and each is requested once."""
    together = threading.Barrier(WIDTH, timeout=20)

    def waits(_: Items, good: dict[str, Any], begin: int, __: int) -> dict[str, Any]:
        if begin:
            together.wait()
        return good

    schema, items = world(waits)
    with serve(schema, port=0) as server, Client(server.url, schema=schema) as client:
        if way == "threads":
            result = client.execute_all(QUERY, follow="all")
        else:
            result = asyncio.run(client.aexecute_all(QUERY, follow="all"))
    assert ids(result.data) == list(range(TOTAL))
    assert items.asked == TOTAL // SIZE
