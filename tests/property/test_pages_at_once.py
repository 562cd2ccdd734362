"""Pages asked for at once, answered in any order and interrupted anywhere, give what one by one do.

And in as few requests: what cannot be told beforehand is not asked for.
"""

from __future__ import annotations

from base64 import b64encode
from math import ceil
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from gqlnb import Client, Schema
from gqlnb.client.endpoint import PagingOptions

SDL = """
type Query { a(first: Int, after: String): Rows! b(first: Int, after: String): Rows! me: Me! }
type Me { id: ID! a(first: Int, after: String): Rows! }
type Rows { totalCount: Int! nodes: [Row!]! pageInfo: PageInfo! }
type Row { id: ID! n: Int! }
type PageInfo { hasNextPage: Boolean! endCursor: String }
"""
MOST = 60


def coded(text: str) -> str:
    """Return a text in base64."""
    return b64encode(text.encode()).decode()


WRITTEN = {
    "plain": str,
    "from 0": lambda n: str(n - 1),
    "search": lambda n: coded(f"cursor:{n}"),
    "array": lambda n: coded(f"arrayconnection:{n - 1}"),
    "no offset": lambda n: f"x{n * 7}",
}


def served(written: str, sizes: dict[str, int]) -> Schema:
    """Return a schema with connections of these sizes, whose cursors are written in one way."""
    cursor = WRITTEN[written]
    places = {cursor(n): n for n in range(1, MOST + 1)}

    def rows(size: int) -> Any:
        def page(_: Any, args: dict[str, Any], __: Any) -> dict[str, Any]:
            begin = places[args["after"]] if args.get("after") else 0
            end = min(begin + args["first"], size)
            return {
                "totalCount": size,
                "nodes": [{"id": str(n), "n": n} for n in range(begin, end)],
                "pageInfo": {"hasNextPage": end < size, "endCursor": cursor(end) if end else None},
            }

        return page

    query = {"a": rows(sizes["a"]), "b": rows(sizes["b"]), "me": lambda *_: {"id": "m"}}
    return Schema(SDL, {"Query": query, "Me": {"a": rows(sizes["a"])}})


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_the_order_of_responses_does_not_change_paging(data):
    """Rows and request counts are equal for three connections, with and without totalCount."""
    draw, pages = data.draw, st.integers(1, 12)
    sizes = {name: draw(st.integers(0, MOST)) for name in "ab"}
    of_a, of_b = draw(pages), draw(pages)
    count_a, count_b = (draw(st.sampled_from(["totalCount", ""])) for _ in "ab")
    most = draw(st.one_of(st.none(), st.integers(1, 40)))
    text = f"""{{ a(first: {of_a}) {{ {count_a} nodes {{ n }} }}
        b(first: {of_b}) {{ {count_b} nodes {{ n }} }}
        me {{ a(first: {of_b}) {{ totalCount nodes {{ n }} }} }} }}"""
    client = Client(served(draw(st.sampled_from(list(WRITTEN))), sizes))
    walk = client._pager.start_crawler(text, None, None, PagingOptions(max_results=most))
    walk._sizes._grows = False  # the bound below is that of steady sizes
    asks, width = [walk.build_first_request()], draw(st.integers(1, 7))
    while asks:
        for ask in draw(st.permutations(asks)):
            if walk.begun and not draw(st.integers(0, 9)):
                walk.recall_requests()  # as an interrupt does
                break
            ask.sent = 1
            walk.add_answer(ask, client.execute(ask.text, ask.variables))
        asks = walk.build_next_requests(width)
    enough = MOST if most is None else most
    came = walk.build_result().data
    for name, page in (("a", came["a"]), ("b", came["b"]), ("a", came["me"]["a"])):
        assert [row["n"] for row in page["nodes"]] == list(range(min(sizes[name], enough)))
    least = (ceil(min(sizes[n], enough) / p) for n, p in (("a", of_a), ("b", of_b), ("a", of_b)))
    assert walk.requests == max(1, *least)
