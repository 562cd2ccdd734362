"""Pages that overlap by an item show that items moved between them."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest

from gqlnb import Client, Result, Schema
from gqlnb.client.endpoint import PagingOptions
from gqlnb.client.paging.crawler import Crawler

SDL = """
type Query {
  plain(first: Int, offset: Int): [Item!]!
  connected(first: Int, after: String): Items!
}
type Items { totalCount: Int! edges: [Edge!]! nodes: [Item!]! pageInfo: PageInfo! }
type Edge { cursor: String! node: Item! }
type PageInfo { hasNextPage: Boolean! endCursor: String }
type Item { id: ID! label: String }
"""
QUERIES = {
    "offset": "{ plain(first: 10) { label } }",
    "cursor": "{ connected(first: 10) { nodes { label } } }",
    "edges": "{ connected(first: 10) { edges { node { label } } nodes { label } } }",
}


class Rows:
    """Rows, of which one is replaced by a later one before a request."""

    def __init__(self, count: int, replaced_at: int | None, prefix: str = "cursor:") -> None:
        self.ids = [*range(count)]
        self.replaced_at, self.prefix = replaced_at, prefix
        self.starts: list[int] = []

    def resolve_plain(self, _root: object, args: dict[str, Any], _context: object) -> object:
        """Return a page by its offset."""
        start = args.get("offset") or 0
        if len(self.starts) == self.replaced_at:
            self.ids = [*self.ids[1:], len(self.ids)]
        self.starts.append(start)
        found = self.ids[start : start + args["first"]]
        return [{"id": str(each), "label": f"{each} at {start}"} for each in found]

    def resolve_connected(self, root: object, args: dict[str, Any], context: object) -> object:
        """Return a page by its cursor."""
        after = args.get("after")
        start = 0 if after is None else self.cursors.index(after)
        nodes: Any = self.resolve_plain(root, {"offset": start, **args}, context)
        end = start + len(nodes)
        return {
            "totalCount": len(self.ids),
            "nodes": nodes,
            "edges": [{"cursor": self.cursors[start], "node": node} for node in nodes],
            "pageInfo": {"hasNextPage": end < len(self.ids), "endCursor": self.cursors[end]},
        }

    @property
    def cursors(self) -> list[str]:
        """The cursor after each number of rows."""
        return [b64encode(f"{self.prefix}{n}".encode()).decode() for n in range(1000)]


def crawl(rows: Rows, kind: str, **limits: Any) -> tuple[Crawler, Result]:
    """Return the crawler and the joined result of all pages, which overlap."""
    resolvers = {"plain": rows.resolve_plain, "connected": rows.resolve_connected}
    client = Client(Schema(SDL, {"Query": resolvers}))
    options = PagingOptions(page_size=10, **limits)
    crawler = client._pager.start_crawler(QUERIES[kind], None, None, options, examines=False)
    crawler.detects_changes = True
    return crawler, client._pager.run_crawler(crawler, progress=False)


def collect(rows: Rows, kind: str, **limits: Any) -> Any:
    """Return the joined result of all pages, which overlap."""
    return crawl(rows, kind, **limits)[1]


@pytest.mark.parametrize("count", [0, 1, 9, 10, 11, 19, 20, 28, 95])
@pytest.mark.parametrize("kind", QUERIES)
def test_each_item_comes_once(kind, count):
    """The item that a page repeats is removed; its other fields may have changed."""
    rows = Rows(count, None)
    result = collect(rows, kind)
    data = result.data["plain"] if kind == "offset" else result.data["connected"]["nodes"]
    assert [each["label"].split()[0] for each in data] == [str(n) for n in range(count)]
    assert result.report.complete
    assert result.report.got == count
    if count > 20:
        assert rows.starts[:3] == [0, 9, 18]


@pytest.mark.parametrize("kind", QUERIES)
@pytest.mark.parametrize("at", [1, 2, 3])
def test_a_replaced_item_is_noticed(kind, at):
    """The count does not change, and neither does the number of items that come."""
    rows = Rows(35, at)
    report = collect(rows, kind).report
    assert not report.complete
    assert any("items moved between two pages" in doubt for doubt in report.doubts)


@pytest.mark.parametrize("most", [10, 11, 25])
@pytest.mark.parametrize("kind", QUERIES)
def test_a_limit_of_items_is_kept(kind, most):
    """The last page has so many items more as it repeats."""
    rows = Rows(60, None)
    assert collect(rows, kind, max_results=most).report.got == most


def test_cursors_that_are_no_positions_do_not_overlap():
    """Such a list is continued by the cursor of the endpoint, though it contains a position."""
    rows = Rows(25, None, prefix="after row ")
    crawler, result = crawl(rows, "cursor")
    assert result.report.complete
    assert rows.starts == [0, 10, 20]
    assert crawler.has_positions
