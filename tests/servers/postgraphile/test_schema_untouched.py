"""Rows, dtypes and requests do not depend on whether the schema was looked at before."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from gqlnb import Client
    from tests.servers.postgraphile.postgraphile import PostGraphile

    Connect = Callable[..., Client]
    Frames = list[pd.DataFrame]

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


def execute_frames(client: Client, text: str) -> Frames:
    """Return the frames of one request."""
    return list(client.execute(text).frames.values())


def shortcut_frame(client: Client, text: str) -> Frames:
    """Return the frame of the shortcut, where the answer has one list."""
    if "postsByAuthorId" in text:
        return execute_frames(client, text)
    return [client.frame(text)]


def all_frames(client: Client, text: str) -> Frames:
    """Return the frames of all pages in one."""
    return list(client.execute_all(text).frames.values())


def page_frames(client: Client, text: str) -> Frames:
    """Return the frames of each page."""
    return [frame for page in client.pages(text) for frame in page.frames.values()]


def async_page_frames(client: Client, text: str) -> Frames:
    """Return the frames of each page, from a running loop."""

    async def collect() -> Frames:
        return [f async for page in client.apages(text) for f in page.frames.values()]

    return asyncio.run(collect())


def async_all_frames(client: Client, text: str) -> Frames:
    """Return the frames of all pages in one, from a running loop."""
    return list(asyncio.run(client.aexecute_all(text)).frames.values())


CALLS: dict[str, Callable[[Client, str], Any]] = {
    "execute().frame": execute_frames,
    "frame": shortcut_frame,
    "execute_all": all_frames,
    "pages": page_frames,
    "apages": async_page_frames,
    "aexecute_all": async_all_frames,
}


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("call", CALLS)
def test_touching_the_schema_changes_nothing(
    call: str,
    query: str,
    forum: PostGraphile,
    connect: Connect,
    tmp_path: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A client whose schema was read sends and returns the same as a fresh one."""
    seen = []
    for touched in (False, True):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / f"cache {touched}"))
        client = connect(forum)
        if touched:
            assert client.schema
        forum.take_requests()
        frames = CALLS[call](client, QUERIES[query])
        sent = Counter(request.body for request in forum.take_requests())
        seen.append((frames, sent))
    (frames, sent), (touched_frames, touched_sent) = seen
    assert len(frames) == len(touched_frames) > 0
    for frame, touched_frame in zip(frames, touched_frames, strict=True):
        pd.testing.assert_frame_equal(frame, touched_frame)
    assert sent == touched_sent


@pytest.mark.parametrize("query", QUERIES)
def test_all_ways_of_paging_return_the_same(
    query: str, forum: PostGraphile, connect: Connect
) -> None:
    """In threads or in a running loop, in one result or page by page: the same outermost rows."""
    text = QUERIES[query]
    whole = all_frames(connect(forum), text)[0]
    pd.testing.assert_frame_equal(async_all_frames(connect(forum), text)[0], whole)
    if query == "object":
        return
    for pages in (connect(forum).pages(text), collect_pages(connect(forum), text)):
        joined = pd.concat([next(iter(page.frames.values())) for page in pages])
        assert len(joined) == len(whole)
        assert joined.dtypes.equals(whole.dtypes)


def collect_pages(client: Client, text: str) -> list[Any]:
    """Return the pages that a running loop gets."""

    async def collect() -> list[Any]:
        return [page async for page in client.apages(text)]

    return asyncio.run(collect())
