"""PostGraphile 5: its own names and ids (amber), and those of version 4 (compatible)."""

from __future__ import annotations

import threading
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from gqlnb import Client
    from tests.servers.postgraphile.postgraphile import PostGraphile
    from tests.servers.postgraphile.postgres import Postgres

    Connect = Callable[..., Client]

PATIENCE = 20.0  # seconds until a test gives up


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
