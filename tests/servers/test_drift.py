"""A server that is restarted with another schema at the same address."""

from __future__ import annotations

import pytest

from gqlnb import Client, QueryError
from tests.servers.processes import NAMES

each = pytest.mark.parametrize("server_name", NAMES)
OLD = "{ booksByOffset(limit: 2) { number pages } }"
NEW = "{ booksByOffset(limit: 2) { number pageCount } }"


@each
def test_changes_are_told(start, server_name):
    """The field that is gone, and the operation that it broke."""
    before = start(server_name)
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


@each
def test_a_kept_schema_is_asked_for_again(start, server_name):
    """A fresh client with an old schema in its cache does not call a new field wrong."""
    before = start(server_name)
    assert Client(before.url).schema.query_type
    before.stop()
    start(server_name, port=before.port, version=2)
    client = Client(before.url)
    assert client.frame(NEW)["number"].tolist() == [1, 2]
    with pytest.raises(QueryError, match="pages"):
        Client(before.url).frame(OLD)
