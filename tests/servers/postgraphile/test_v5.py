"""PostGraphile 5: its own names and ids (amber), and those of version 4 (compatible)."""

from __future__ import annotations

import threading
from collections import Counter
from datetime import datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from gqlnb import QueryError
from tests.servers.postgraphile.database import INFINITE_ROW, POSTS
from tests.servers.postgraphile.postgraphile import run_postgraphile
from tests.servers.postgraphile.rows import count_rows, read_leaves
from tests.servers.postgraphile.test_page_size import MOST_REQUESTS
from tests.servers.postgraphile.test_paging import FLAT, wanted
from tests.servers.postgraphile.test_paging_lists import LISTS
from tests.servers.postgraphile.test_paging_nested import COMMENTS, NESTED, VOTES
from tests.servers.postgraphile.test_scalars import SCALARS, column_values

if TYPE_CHECKING:
    from collections.abc import Callable

    from gqlnb import Client
    from tests.servers.postgraphile.postgraphile import PostGraphile
    from tests.servers.postgraphile.postgres import Postgres

    Connect = Callable[..., Client]

PATIENCE = 20.0  # seconds until a test gives up
# Version 5 has no root field `query` with its own defaults, and other types for these columns.
V4_ONLY = {"below the root's `query`", "two connections"}
AMBER_FLAT = {
    "forward": (
        "{ allTags(first: 7) { totalCount nodes { rowId name } } }",
        "allTags",
        "SELECT id, name FROM forum.tags",
    ),
    "backward": (
        "{ allTags(last: 7) { nodes { rowId name } } }",
        "allTags",
        "SELECT id, name FROM forum.tags",
    ),
    "from an offset": (
        "{ allTags(first: 7, offset: 10) { nodes { rowId name } } }",
        "allTags",
        "SELECT id, name FROM forum.tags WHERE id > 10",
    ),
    "no key, duplicate rows": (
        "{ allVisits(first: 300) { totalCount nodes { page day seconds } } }",
        "allVisits",
        "SELECT page, day, seconds FROM forum.visits",
    ),
    "function": (
        "{ postsOfTeam(team: 2, first: 30) { nodes { rowId title } } }",
        "postsOfTeam",
        "SELECT id, title FROM forum.posts_of_team(2)",
    ),
    "empty": (
        "{ allEmptyTables(first: 7) { nodes { rowId } } }",
        "allEmptyTables",
        "SELECT id FROM forum.empty_table",
    ),
}
AMBER_NESTED = {
    "three levels": (
        """{ allAuthors(condition: {team: 1}, first: 4) { nodes { rowId
             postsByAuthorId(first: 5) { nodes { rowId
               commentsByPostId(first: 4) { nodes { number } } } } } } }""",
        ("allAuthors", "postsByAuthorId", "commentsByPostId"),
        COMMENTS,
    ),
    "four levels": (
        """{ allAuthors(condition: {team: 1}, first: 4) { nodes { rowId
             postsByAuthorId(first: 5) { nodes { rowId
               commentsByPostId(first: 4) { nodes { number
                 votesByPostIdAndNumber(first: 2) { nodes { rowId } } } } } } } } }""",
        ("allAuthors", "postsByAuthorId", "commentsByPostId", "votesByPostIdAndNumber"),
        VOTES,
    ),
}
# What version 5 sends of a column differs from version 4.
AMBER_SCALARS = SCALARS | {
    "aTimetz": ("object", "a_timetz AT TIME ZONE 'UTC'", time.fromisoformat),
    "aBytea": ("string", "replace(encode(a_bytea, 'base64'), E'\\n', '')", str),
}


@pytest.mark.parametrize("case", [name for name in FLAT if name not in V4_ONLY])
def test_flat_connections_with_the_names_of_version_4(
    case: str, compatible: PostGraphile, connect: Connect, database: Postgres
) -> None:
    """Every row of a connection is there as often as in the table."""
    text, name, sql = FLAT[case]
    result = connect(compatible).execute_all(text, follow="all")
    assert Counter(read_leaves(result.data, name)) == wanted(database, sql)
    assert result.report.complete, result.report


@pytest.mark.parametrize("case", LISTS)
def test_plain_lists_with_the_names_of_version_4(
    case: str, compatible: PostGraphile, connect: Connect, database: Postgres
) -> None:
    """Every row of a plain list is there as often as in the table."""
    text, name, sql = LISTS[case]
    result = connect(compatible).execute_all(text, follow="all")
    assert Counter(read_leaves(result.data, name)) == count_rows(database.fetch_rows(sql))
    assert result.report.complete or result.report.notes


@pytest.mark.parametrize(
    "case", [name for name, (variant, *_) in NESTED.items() if variant in {"plain", "lists"}]
)
def test_nested_connections_with_the_names_of_version_4(
    case: str, compatible: PostGraphile, connect: Connect, database: Postgres
) -> None:
    """Every item of every level is there once."""
    _, text, path, sql = NESTED[case]
    result = connect(compatible).execute_all(text, follow="all")
    data = result.data
    if path[0] == "authorById":
        data, path = data["authorById"], path[1:]
    assert Counter(read_leaves(data, *path)) == count_rows(database.fetch_rows(sql))
    assert result.report.complete, result.report


@pytest.mark.parametrize("case", AMBER_FLAT)
def test_flat_connections(
    case: str, amber: PostGraphile, connect: Connect, database: Postgres
) -> None:
    """Every row of a connection is there as often as in the table."""
    text, name, sql = AMBER_FLAT[case]
    result = connect(amber).execute_all(text, follow="all")
    assert Counter(read_leaves(result.data, name)) == wanted(database, sql)
    assert result.report.complete, result.report


@pytest.mark.parametrize("case", AMBER_NESTED)
def test_nested_connections(
    case: str, amber: PostGraphile, connect: Connect, database: Postgres
) -> None:
    """Every item of every level is there once, and each request is accepted."""
    text, path, sql = AMBER_NESTED[case]
    amber.take_requests()
    result = connect(amber).execute_all(text, follow="all")
    assert Counter(read_leaves(result.data, *path)) == count_rows(database.fetch_rows(sql))
    assert result.report.complete, result.report
    requests = amber.take_requests()
    assert {request.status for request in requests} == {200}
    assert result.report.requests == len(requests)


def test_a_hundred_thousand_rows_take_few_requests(amber: PostGraphile, connect: Connect) -> None:
    """Pages grow to the server's limit."""
    amber.take_requests()
    result = connect(amber).execute_all("{ allPosts(first: 1000) { nodes { rowId } } }")
    assert len({node["rowId"] for node in result.data["allPosts"]["nodes"]}) == POSTS
    assert result.report.complete
    assert result.report.requests == len(amber.take_requests()) <= MOST_REQUESTS


@pytest.mark.parametrize("field", AMBER_SCALARS)
def test_a_column_has_the_values_of_the_table(
    field: str, amber: PostGraphile, connect: Connect, database: Postgres
) -> None:
    """Each scalar has its dtype, exact values and its nulls."""
    dtype, sql, read = AMBER_SCALARS[field]
    rows = database.fetch_rows(
        f"SELECT ({sql})::text AS value FROM forum.readings WHERE id > {INFINITE_ROW} ORDER BY id"
    )
    text = f"{{ allReadings(offset: {INFINITE_ROW}) {{ nodes {{ {field} }} }} }}"
    frame = connect(amber).frame(text)
    wanted_values: list[Any] = [
        None if row["value"] is None else read(row["value"]) for row in rows
    ]
    if field == "aStatus":
        wanted_values = [None if value is None else value.lower() for value in wanted_values]
    assert str(frame[field].dtype) == dtype
    assert column_values(frame, field) == wanted_values


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


def test_a_mistake_in_a_query_is_named(amber: PostGraphile, connect: Connect) -> None:
    """An unknown field is an error with a suggestion."""
    with pytest.raises(QueryError, match=r"(?s)nam.*name"):
        connect(amber).execute("{ allTags { nodes { nam } } }")


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
