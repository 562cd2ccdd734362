"""PostGraphile 5: its own names and ids (amber), and those of version 4 (compatible)."""

from __future__ import annotations

import threading
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from tests.servers.postgraphile.database import POSTS
from tests.servers.postgraphile.postgraphile import run_postgraphile
from tests.servers.postgraphile.test_page_size import MOST_REQUESTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from gqlnb import Client
    from tests.servers.postgraphile.postgraphile import PostGraphile
    from tests.servers.postgraphile.postgres import Postgres

    Connect = Callable[..., Client]

PATIENCE = 20.0  # seconds until a test gives up


def test_a_hundred_thousand_rows_take_few_requests(amber: PostGraphile, connect: Connect) -> None:
    """Pages grow to the server's limit."""
    amber.take_requests()
    result = connect(amber).execute_all("{ allPosts(first: 1000) { nodes { rowId } } }")
    assert len({node["rowId"] for node in result.data["allPosts"]["nodes"]}) == POSTS
    assert result.report.complete
    assert result.report.requests == len(amber.take_requests()) <= MOST_REQUESTS


def test_extremes(amber: PostGraphile, connect: Connect) -> None:
    """The largest and smallest values of the types are unchanged."""
    text = "{ allReadings(first: 6) { nodes { aBigint aNumeric aTimestamp aTimestamptz } } }"
    frame = connect(amber).frame(text)
    assert frame["aBigint"].tolist()[1:4] == [-(2**63), 2**63 - 1, 2**53 + 1]
    assert frame["aNumeric"][1] == Decimal("-12345678901234567890.123456789012345")
    assert frame["aTimestamp"][2] == datetime(9999, 12, 31, 23, 59, 59, 999999)
    assert frame["aTimestamptz"][1].year == 1


def test_a_masked_sql_error(amber: PostGraphile, connect: Connect) -> None:
    """Version 5 hides the message: the error has its path and the id in the server's log."""
    result = connect(amber).execute(
        '{ fail(reason: "secret") allTags(first: 1) { nodes { name } } }'
    )
    assert result.data["fail"] is None
    assert result.errors[0]["path"] == ["fail"]
    assert "secret" not in str(result.errors)
    assert result.errors[0]["extensions"]["errorId"]


def test_a_subscription_receives_notifications(
    amber: PostGraphile, connect: Connect, database: Postgres
) -> None:
    """Those sent on a channel of PostgreSQL."""
    came = threading.Event()

    def notify_until_it_came() -> None:
        # PostgreSQL does not tell when somebody listens, so the notification is sent again.
        while not came.wait(0.1):
            database.run_script("NOTIFY news, 'Größe 🎉';")

    notifying = threading.Thread(target=notify_until_it_came)
    with connect(amber).subscribe('subscription { notification(channel: "news") }') as events:
        notifying.start()
        try:
            event = next(iter(events))
        finally:
            came.set()
            notifying.join(PATIENCE)
    assert event.data == {"notification": "Größe 🎉"}


def test_changes_of_the_schema_are_reported(
    compatible: PostGraphile, connect: Connect, database: Postgres
) -> None:
    """After a column was dropped: its field, and the queries with it."""
    text = "{ allChangings { nodes { id amount } } }"
    before = connect(compatible).schema
    database.run_script("ALTER TABLE forum.changing DROP COLUMN amount;")
    try:
        with run_postgraphile(database, "v5", "compatible") as servers:
            changes = connect(servers["compatible"]).schema_changes(before, documents=[text])
    finally:
        database.run_script("ALTER TABLE forum.changing ADD COLUMN amount numeric;")
    assert ("FIELD_REMOVED", "Changing.amount") in [
        (change.kind, change.place) for change in changes.breaking
    ]
    assert [*changes.broken] == [text]
