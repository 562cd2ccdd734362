"""What a server answered once is replayed when it is gone, to a fresh client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pandas as pd
import pytest

from gqlnb import Client, ReplayError
from tests.servers.paging import page_through
from tests.servers.proxy import Proxy
from tests.servers.test_scalars import CASES, query_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

QUERY = "{ booksByOffset(limit: 30) { number title genre pages } }"
CONNECTION = "{ authors(first: 15) { edges { node { number name born } } } }"
NESTED = "{ authors(first: 20) { edges { node { number books { edges { node { number } } } } } } }"
CALLS: dict[str, Callable[[Client], Any]] = {
    "execute": lambda client: [client.execute(QUERY).frame()],
    "frame": lambda client: [client.frame(QUERY)],
    "all pages": lambda client: [client.frame(CONNECTION, pages="all")],
    "nested": lambda client: page_through(client, NESTED).items,
}


SEEN = pytest.mark.parametrize(
    ("recording", "replaying"),
    [(False, False), (True, False), (True, True)],
    ids=["schema unseen", "seen while recording", "seen twice"],
)


def check_replay(
    url: str,
    call: Callable[[Client], list[Any]],
    folder: Path,
    patch: pytest.MonkeyPatch,
    *,
    recording: bool = False,
    replaying: bool = False,
) -> None:
    """Record a call, end the endpoint, and assert that a fresh client replays frames or rows.

    `recording` and `replaying` say whether the client looks at the schema first.
    """
    path = folder / "it.jsonl"
    address = urlsplit(url)
    assert address.port is not None
    with Proxy(address.port, address.path) as endpoint:
        client = Client(endpoint.url, recording=path, mode="record")
        if recording:
            assert client.schema.query_type
        expected = call(client)
        client.close()
    patch.setenv("XDG_CACHE_HOME", str(folder / "another"))
    client = Client(endpoint.url, recording=path, mode="replay")
    if replaying:
        assert client.schema.query_type
    for one, other in zip(call(client), expected, strict=True):
        if isinstance(other, pd.DataFrame):
            pd.testing.assert_frame_equal(one, other)
        else:
            assert one == other


@pytest.mark.parametrize("call", CALLS)
@SEEN
def test_a_recording_is_replayed(server, recording, replaying, call, tmp_path, monkeypatch):
    """After the endpoint was stopped, by a client without a cached schema."""
    seen = {"recording": recording, "replaying": replaying}
    check_replay(server.url, CALLS[call], tmp_path, monkeypatch, **seen)


def test_frames_of_scalars_are_replayed(server, name, tmp_path, monkeypatch):
    """With the dtypes of the schema, which is part of the recording."""
    text = query_for(CASES[name])
    check_replay(server.url, lambda client: [client.frame(text)], tmp_path, monkeypatch)


def test_a_query_that_was_not_recorded_is_an_error(server, tmp_path):
    """No request is sent."""
    path = tmp_path / "it.jsonl"
    client = Client(server.url, recording=path, mode="record")
    client.execute("{ hello }")
    client.close()
    with pytest.raises(ReplayError, match="no answer"):
        Client(server.url, recording=path, mode="replay").execute('{ echo(text: "a") }')
