"""What a server answered once is replayed when it is gone, to a fresh client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from gqlnb import Client, ReplayError
from tests.servers.paging import page_through
from tests.servers.proxy import Proxy
from tests.servers.test_scalars import CASES, query_for

if TYPE_CHECKING:
    from collections.abc import Callable

QUERY = "{ booksByOffset(limit: 30) { number title genre pages } }"
CONNECTION = "{ authors(first: 15) { edges { node { number name born } } } }"
NESTED = "{ authors(first: 20) { edges { node { number books { edges { node { number } } } } } } }"
CALLS: dict[str, Callable[[Client], Any]] = {
    "execute": lambda client: client.execute(QUERY).frame(),
    "frame": lambda client: client.frame(QUERY),
    "all pages": lambda client: client.frame(CONNECTION, pages="all"),
    "nested": lambda client: page_through(client, NESTED).items,
}


SEEN = pytest.mark.parametrize(
    ("recording", "replaying"),
    [(False, False), (True, False), (True, True)],
    ids=["schema unseen", "seen while recording", "seen twice"],
)


def assert_same(found: Any, expected: Any) -> None:
    """Assert that frames have the same dtypes and values, and other things are equal."""
    if isinstance(expected, pd.DataFrame):
        pd.testing.assert_frame_equal(found, expected)
    else:
        assert found == expected


@pytest.mark.parametrize("call", CALLS)
@SEEN
def test_a_recording_is_replayed(server, recording, replaying, call, tmp_path, monkeypatch):
    """After the endpoint was stopped, by a client without a cached schema."""
    path = tmp_path / "it.jsonl"
    with Proxy(server.port) as endpoint:
        client = Client(endpoint.url, recording=path, mode="record")
        if recording:
            assert client.schema.query_type
        expected = CALLS[call](client)
        client.close()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another"))
    client = Client(endpoint.url, recording=path, mode="replay")
    if replaying:
        assert client.schema.query_type
    assert_same(CALLS[call](client), expected)


def test_frames_of_scalars_are_replayed(server, name, tmp_path, monkeypatch):
    """With the dtypes of the schema, which is part of the recording."""
    path, text = tmp_path / "it.jsonl", query_for(CASES[name])
    with Proxy(server.port) as endpoint:
        client = Client(endpoint.url, recording=path, mode="record")
        expected = client.frame(text)
        client.close()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another"))
    assert_same(Client(endpoint.url, recording=path, mode="replay").frame(text), expected)


def test_a_query_that_was_not_recorded_is_an_error(server, tmp_path):
    """No request is sent."""
    path = tmp_path / "it.jsonl"
    client = Client(server.url, recording=path, mode="record")
    client.execute("{ hello }")
    client.close()
    with pytest.raises(ReplayError, match="no answer"):
        Client(server.url, recording=path, mode="replay").execute('{ echo(text: "a") }')
