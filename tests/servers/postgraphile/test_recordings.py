"""Recordings of PostGraphile answer the same queries when the server has ended."""

from __future__ import annotations

import asyncio
from itertools import product
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from gqlnb import Client, ReplayError
from tests.servers.postgraphile.conftest import require_postgraphile
from tests.servers.postgraphile.postgraphile import run_postgraphile

if TYPE_CHECKING:
    from pathlib import Path

    from tests.servers.postgraphile.postgres import Postgres

COLUMNS = "aBigint aNumeric aTimestamp aTimestamptz aDate aTimetz aStatus aJsonb aHstore integers"
QUERIES = {
    "scalars": f"{{ allReadings(first: 60, offset: 7) {{ nodes {{ id {COLUMNS} }} }} }}",
    "pages": "{ allAuthors(first: 60) { totalCount nodes { id name joinedAt } } }",
    "nested pages": """{ allAuthors(condition: {team: 1}, first: 4) { nodes { id
                         postsByAuthorId(first: 5) { nodes { id views } } } } }""",
    "duplicate rows": "{ allVisits(first: 500) { totalCount nodes { page day seconds } } }",
    "list": "{ allTagsList(first: 7) { id name } }",
}
TOUCHED = list(product((False, True), repeat=2))


def read_frames(client: Client, text: str, touched: bool) -> list[pd.DataFrame]:
    """Return the frames of all pages, after a look at the schema or without one."""
    if touched:
        assert client.schema
    return list(client.execute_all(text).frames.values())


@pytest.fixture(scope="module", params=["v4", "v5"])
def recorded(
    request: pytest.FixtureRequest, database: Postgres, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Path, dict[tuple[str, bool], Any]]:
    """Record every query twice; return the URL of the server, which has ended, and the frames."""
    version: str = request.param
    variant = {"v4": "lists", "v5": "compatible"}[version]
    require_postgraphile(version)
    folder = tmp_path_factory.mktemp("recordings")
    frames = {}
    with (
        pytest.MonkeyPatch.context() as patch,
        run_postgraphile(database, version, variant) as servers,
    ):
        url = servers[variant].url
        for name, touched in product(QUERIES, (False, True)):
            patch.setenv("XDG_CACHE_HOME", str(folder / f"cache {name} {touched}"))
            path = folder / f"{name} {touched}.jsonl"
            with Client(url, recording=path, mode="record") as client:
                try:
                    frames[name, touched] = read_frames(client, QUERIES[name], touched)
                except Exception as error:  # the test of this recording shows it
                    frames[name, touched] = error
    return url, folder, frames


@pytest.mark.parametrize(("touched_first", "touched_again"), TOUCHED)
@pytest.mark.parametrize("name", QUERIES)
def test_a_replay_needs_no_server(
    name: str, touched_first: bool, touched_again: bool, recorded: Any
) -> None:
    """It returns the same rows and dtypes, with or without the schema."""
    url, folder, frames = recorded
    wanted = frames[name, touched_first]
    if isinstance(wanted, Exception):
        raise wanted
    path = folder / f"{name} {touched_first}.jsonl"
    with Client(url, recording=path, mode="replay") as client:
        found = read_frames(client, QUERIES[name], touched_again)
    assert len(found) == len(wanted)
    for frame, recorded_frame in zip(found, wanted, strict=True):
        pd.testing.assert_frame_equal(frame, recorded_frame)


@pytest.mark.parametrize("name", QUERIES)
def test_a_replay_in_a_running_loop(name: str, recorded: Any) -> None:
    """A recording by threads is replayed in a loop."""
    url, folder, frames = recorded
    wanted = frames[name, False]
    if isinstance(wanted, Exception):
        raise wanted
    with Client(url, recording=folder / f"{name} False.jsonl", mode="replay") as client:
        result = asyncio.run(client.aexecute_all(QUERIES[name]))
        pd.testing.assert_frame_equal(next(iter(result.frames.values())), wanted[0])


def test_a_query_that_was_not_recorded_is_an_error(recorded: Any) -> None:
    """A replay never sends a request; the error has a remedy."""
    url, folder, _ = recorded
    with (
        Client(url, recording=folder / "scalars True.jsonl", mode="replay") as client,
        pytest.raises(ReplayError, match="record"),
    ):
        client.execute("{ allTags(first: 3) { nodes { name } } }")
