"""Rows, dtypes and requests do not depend on whether the schema was looked at before."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pandas as pd
import pytest

from tests.servers.proxy import Proxy
from tests.servers.test_schema_untouched import compare, gather_pages

if TYPE_CHECKING:
    from collections.abc import Callable

    from gqlnb import Client
    from tests.servers.postgraphile.postgraphile import PostGraphile

    Connect = Callable[..., Client]

COLUMNS = "id aBigint aNumeric aTimestamp aTimestamptz aStatus aJsonb aUuid"
QUERIES = {
    "types": f"{{ allReadings(first: 20, offset: 7) {{ nodes {{ {COLUMNS} }} }} }}",
    "one page": f"{{ allReadings(offset: 7) {{ nodes {{ {COLUMNS} }} }} }}",
    "many pages": "{ allAuthors(first: 60) { nodes { id name joinedAt } } }",
    "nested": """{ allAuthors(condition: {team: 1}, first: 4) { nodes { id
                   postsByAuthorId(first: 5) { nodes { id views publishedAt } } } } }""",
    "duplicates": "{ allVisits(first: 500) { nodes { page day seconds } } }",
    "list": "{ allTagsList(first: 7) { id name } }",
    "object": "{ authorById(id: 20) { name postsByAuthorId(first: 5) { nodes { id views } } } }",
}


WAYS = ("execute", "execute_all", "aexecute_all", "pages", "apages", "frame")


@pytest.mark.parametrize(
    ("query", "way"),
    # Of several lists, `frame` would have to be told which one.
    [(q, way) for q in QUERIES for way in WAYS if way != "frame" or "posts" not in QUERIES[q]],
)
def test_reading_the_schema_does_not_affect_any_query(
    query: str, way: str, forum: PostGraphile, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client whose schema was read sends, returns and records the same as a fresh one."""
    port = urlsplit(forum.url).port
    assert port is not None
    with Proxy(port, urlsplit(forum.url).path) as proxy:
        compare(proxy, way, QUERIES[query], tmp_path, monkeypatch)


@pytest.mark.parametrize("query", [name for name in QUERIES if name != "object"])
def test_all_ways_of_paging_return_the_same(
    query: str, forum: PostGraphile, connect: Connect
) -> None:
    """In threads or in a running loop, in one result or page by page: the same outermost rows."""
    text = QUERIES[query]
    whole = next(iter(connect(forum).execute_all(text).frames.values()))
    awaited = asyncio.run(connect(forum).aexecute_all(text))
    pd.testing.assert_frame_equal(next(iter(awaited.frames.values())), whole)
    for pages in (connect(forum).pages(text), asyncio.run(gather_pages(connect(forum), text))):
        joined = pd.concat([next(iter(page.frames.values())) for page in pages])
        assert len(joined) == len(whole)
        assert joined.dtypes.equals(whole.dtypes)
