"""Recordings of PostGraphile answer the same queries when the server has ended."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tests.servers.test_recordings import SEEN, check_replay

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from gqlnb import Client
    from tests.servers.postgraphile.postgraphile import PostGraphile

COLUMNS = "aBigint aNumeric aTimestamp aTimestamptz aDate aTimetz aStatus aJsonb aHstore integers"
QUERIES = {
    "scalars": f"{{ allReadings(first: 60, offset: 7) {{ nodes {{ id {COLUMNS} }} }} }}",
    "pages": "{ allAuthors(first: 60) { totalCount nodes { id name joinedAt } } }",
    "nested pages": """{ allAuthors(condition: {team: 1}, first: 4) { nodes { id
                         postsByAuthorId(first: 5) { nodes { id views } } } } }""",
    "duplicate rows": "{ allVisits(first: 500) { totalCount nodes { page day seconds } } }",
    "list": "{ allTagsList(first: 7) { id name } }",
}


@pytest.mark.parametrize("name", QUERIES)
@SEEN
def test_a_recording_is_replayed(
    name: str,
    recording: bool,
    replaying: bool,
    forum: PostGraphile,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It returns the same rows and dtypes, with or without the schema."""

    def read_frames(client: Client) -> list[pd.DataFrame]:
        return list(client.execute_all(QUERIES[name]).frames.values())

    seen = {"recording": recording, "replaying": replaying}
    check_replay(forum.url, read_frames, tmp_path, monkeypatch, **seen)


@pytest.mark.parametrize("name", QUERIES)
def test_a_recording_is_replayed_in_a_running_loop(
    name: str, forum: PostGraphile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its answers come in any order."""

    def read_frames(client: Client) -> list[pd.DataFrame]:
        return list(asyncio.run(client.aexecute_all(QUERIES[name])).frames.values())

    check_replay(forum.url, read_frames, tmp_path, monkeypatch)
