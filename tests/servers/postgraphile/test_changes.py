"""Mutations and subscriptions."""

from __future__ import annotations

import threading
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from gqlnb import Client
    from tests.servers.postgraphile.postgraphile import PostGraphile
    from tests.servers.postgraphile.postgres import Postgres

    Connect = Callable[..., Client]

PATIENCE = 20.0  # seconds until a test gives up
BIG = 2**53 + 1
CREATE = """mutation Create($task: TaskInput!) {
  createTask(input: {task: $task}) {
    task { id title amount big due startsAt localStart done labels } } }"""
ADD = """mutation Add($tasks: [TaskInput]!) {
  addTasks(input: {newTasks: $tasks}) { tasks { id title } } }"""
STORED = "SELECT title, amount::text, big, due, starts_at, local_start, labels FROM forum.tasks"


@pytest.fixture
def task_frame() -> pd.DataFrame:
    """Return rows with every kind of value that a task has, nulls among them."""
    frame = pd.DataFrame(
        {
            "title": ["Zoë", "plain", "nothing"],
            "amount": [Decimal("12345678901234567890.10"), Decimal("0.5"), None],
            # From a list with None, pandas makes integers by way of floats, which are not exact.
            "big": pd.array([BIG, -1, 0], dtype="Int64"),
            "due": pd.to_datetime(["2024-02-29", "9999-12-31", None]).astype("datetime64[us]"),
            "startsAt": pd.Series(
                [datetime(2024, 1, 2, 3, 4, 5, 678901, tzinfo=UTC), None, None],
                dtype="datetime64[us, UTC]",
            ),
            "labels": [["a", "ü"], [], None],
        }
    )
    frame.loc[2, "big"] = pd.NA
    return frame


def expected_rows() -> list[dict[str, Any]]:
    """Return what PostgreSQL holds of these rows."""
    names = ("title", "amount", "big", "due", "starts_at", "local_start", "labels")
    moment = "2024-01-02T03:04:05.678901+00:00"
    rows: list[tuple[Any, ...]] = [
        ("Zoë", "12345678901234567890.10", BIG, "2024-02-29", moment, None, ["a", "ü"]),
        ("plain", "0.5", -1, "9999-12-31", None, None, []),
        ("nothing", *[None] * 6),
    ]
    return [dict(zip(names, row, strict=True)) for row in rows]


@pytest.mark.parametrize("schema_first", [False, True], ids=["fresh", "schema first"])
def test_python_values_are_stored_exactly(
    schema_first: bool, plain: PostGraphile, connect: Connect, tasks: Postgres
) -> None:
    """Decimals, big integers, dates and moments of a mapping arrive as the database has them."""
    client = connect(plain)
    if schema_first:
        assert client.schema
    task = {
        "title": "Ünï 🎉",
        "amount": Decimal("0.1000000000000000000001"),
        "big": BIG,
        "due": date(2024, 2, 29),
        "startsAt": datetime(2024, 1, 2, 3, 4, 5, 678901, tzinfo=UTC),
        "localStart": datetime(2024, 1, 2, 3, 4, 5),
        "labels": ["a", None, ""],
    }
    client.execute(CREATE, {"task": task}).raise_for_errors()
    assert tasks.fetch_rows(STORED) == [
        {
            "title": "Ünï 🎉",
            "amount": "0.1000000000000000000001",
            "big": BIG,
            "due": "2024-02-29",
            "starts_at": "2024-01-02T03:04:05.678901+00:00",
            "local_start": "2024-01-02T03:04:05",
            "labels": ["a", None, ""],
        }
    ]


def test_a_frame_is_a_list_of_input_objects(
    plain: PostGraphile, connect: Connect, tasks: Postgres, task_frame: pd.DataFrame
) -> None:
    """A whole DataFrame is one variable of a list type."""
    result = connect(plain).execute(ADD, {"tasks": task_frame})
    result.raise_for_errors()
    assert len(result.data["addTasks"]["tasks"]) == len(task_frame)
    assert tasks.fetch_rows(STORED + " ORDER BY id") == expected_rows()


def test_a_frame_of_a_query_can_be_sent_as_a_variable(
    plain: PostGraphile, connect: Connect, tasks: Postgres, task_frame: pd.DataFrame
) -> None:
    """The mutation stores the same values."""
    client = connect(plain)
    client.execute(ADD, {"tasks": task_frame}).raise_for_errors()
    text = """{ allTasks(orderBy: ID_ASC) {
      nodes { title amount big due startsAt localStart labels } } }"""
    frame = client.frame(text)
    tasks.run_script("TRUNCATE forum.tasks;")
    client.execute(ADD, {"tasks": frame}).raise_for_errors()
    assert tasks.fetch_rows(STORED + " ORDER BY id") == expected_rows()


def test_a_mutation_is_sent_once(plain: PostGraphile, connect: Connect, tasks: Postgres) -> None:
    """One call is one row, and one request beside those for the schema."""
    plain.take_requests()
    connect(plain).execute(CREATE, {"task": {"title": "once"}})
    assert tasks.fetch_value("SELECT count(*) FROM forum.tasks") == 1
    assert len(plain.take_requests()) == 1


# The other one does not answer the first handshake.
@pytest.mark.parametrize("variant", ["plain", pytest.param("older", marks=pytest.mark.slow)])
def test_a_subscription_ends_after_its_last_event(
    variant: str, v4: dict[str, PostGraphile], connect: Connect
) -> None:
    """Events are in order, also with the older subprotocol."""
    with connect(v4[variant]).subscribe("subscription { count(top: 5) }") as events:
        assert [event.data["count"] for event in events] == [1, 2, 3, 4, 5]


def test_a_subscription_receives_new_rows(
    plain: PostGraphile, connect: Connect, tasks: Postgres
) -> None:
    """A row inserted by SQL is sent to a subscriber as an object."""
    text = """subscription {
      listen(topic: "tasks") { relatedNode { ... on Task { title big startsAt } } } }"""
    came = threading.Event()

    def insert_until_it_came() -> None:
        # PostgreSQL does not tell when somebody listens, so the row is inserted again.
        while not came.wait(0.1):
            tasks.run_script(
                "INSERT INTO forum.tasks (title, big, starts_at)"
                f" VALUES ('Zoë', {BIG}, '2024-01-02 03:04:05Z');"
            )

    inserting = threading.Thread(target=insert_until_it_came)
    with connect(plain).subscribe(text) as events:
        inserting.start()
        try:
            event = next(iter(events))
        finally:
            came.set()
            inserting.join(PATIENCE)
    node = event.data["listen"]["relatedNode"]
    assert node["title"] == "Zoë"
    assert int(node["big"]) == BIG
    assert node["startsAt"] == "2024-01-02T03:04:05+00:00"
