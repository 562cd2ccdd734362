"""A server that is restarted with another schema at the same address."""

from __future__ import annotations

import pytest

from gqlnb import Client, QueryError
from tests.servers.processes import NAMES

each = pytest.mark.parametrize("server_name", NAMES)
OLD = "{ booksByOffset(limit: 2) { number pages } }"
NEW = "{ booksByOffset(limit: 2) { number pageCount } }"


@each
def test_schema_changes_are_reported(start, server_name, tmp_path, monkeypatch):
    """The removed field, the operation that uses it, and an outdated cache."""
    before = start(server_name)
    kept = tmp_path / "kept"
    monkeypatch.setenv("XDG_CACHE_HOME", str(kept))
    assert Client(before.url).schema.query_type
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    client = Client(before.url)
    assert client.schema.query_type
    assert len(client.execute(OLD)["booksByOffset"]) == 2
    assert not client.schema_changes()
    before.stop()
    start(server_name, port=before.port, version=2)
    changes = client.schema_changes()
    assert [(change.kind, change.place) for change in changes.breaking] == [
        ("FIELD_REMOVED", "Book.pages")
    ]
    assert [*changes.broken.values()] == ["Cannot query field 'pages' on type 'Book'."]
    with pytest.raises(QueryError, match="pages"):
        client.execute(OLD)
    assert str(client.execute(NEW).frame()["pageCount"].dtype) == "Int64"
    # The old schema is still in the cache of this machine: it is not the last word.
    monkeypatch.setenv("XDG_CACHE_HOME", str(kept))
    client = Client(before.url)
    assert client.frame(NEW)["number"].tolist() == [1, 2]
    with pytest.raises(QueryError, match="pages"):
        Client(before.url).frame(OLD)
