"""Pages that begin after a value of a row, such as a time, which several rows may have."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from gqlnb import Result
from tests.client.paging.lists import build_client, fetch

SDL = "events(after: String, limit: Int): [Event!]! type Event { id: ID!, at: String! }"


def make_events(rng: Random, most: int) -> list[dict[str, str]]:
    """Return events of which up to `most` have the same time, in the order of time."""
    events = list[dict[str, str]]()
    while len(events) < 137:
        at = f"2026-01-01T{len(events) // 60:02}:{len(events) % 60:02}:00Z"
        count = rng.randint(1, most) if rng.random() < 0.3 else 1
        events += [{"id": str(len(events) + n), "at": at} for n in range(count)]
    return events


def fetch_events(events: list[dict[str, str]], size: int, *, has_limit: bool) -> Result:
    """Return all events of a list whose pages have `size` events after a time."""

    def resolve(args: dict[str, Any]) -> Any:
        after = args.get("after")
        most = min(args.get("limit") or size, size)
        return [event for event in events if after is None or event["at"] > after][:most]

    sdl = SDL if has_limit else SDL.replace(", limit: Int", "")
    return fetch(sdl, resolve, "{ events { at } }")


@pytest.mark.parametrize("has_limit", [True, False])
@pytest.mark.parametrize("size", [10, 20, 25])
def test_rows_with_equal_values_are_not_left_out_between_pages(
    size: int, *, has_limit: bool
) -> None:
    """Where a page ends between two rows with the same time, the next one repeats the first."""
    rng, followed = Random(size), 0
    for _ in range(10):
        events = make_events(rng, rng.choice([2, 3, 5, size - 1]))
        result = fetch_events(events, size, has_limit=has_limit)
        rows = result.data["events"]
        is_whole = rows == [{"at": event["at"]} for event in events]
        assert is_whole or not result.report.complete
        is_followed = len(rows) > size  # else no experiment could tell how it goes on
        assert is_whole == result.report.complete == is_followed
        followed += is_followed
    assert followed > 2


def test_more_equal_values_than_a_page_holds_are_a_doubt() -> None:
    """No value leads to the rest of them."""
    events = [{"id": str(n), "at": f"{n if n < 50 else max(50, n - 30):03}"} for n in range(137)]
    result = fetch_events(events, 20, has_limit=False)
    assert len(result.data["events"]) < 137
    assert "the same `at`" in result.report.doubts[0]


@pytest.mark.parametrize("first", ["id", "key: id", "value"])
@pytest.mark.parametrize("selection", ["id", "key: id", "value", "id: value key: id"])
def test_the_field_of_a_cursor_is_selected_in_later_queries(first: str, selection: str) -> None:
    """A client remembers the field of the rows, under whatever name a query has it."""

    def resolve(args: dict[str, Any]) -> Any:
        start = int(args.get("startingAfter") or 0)
        rows = [{"id": n, "value": f"row {n}"} for n in range(1, 138) if n > start]
        return rows[: min(args.get("limit") or 10, 20)]

    sdl = "rows(limit: Int, startingAfter: String): [Row!] type Row { id: Int! value: String! }"
    client = build_client(sdl, resolve)
    for text in (first, selection):
        result = client.execute_all(f"{{ rows {{ {text} }} }}", progress=False)
        assert result.report.complete, result.report.doubts
        assert len(result.data["rows"]) == 137
        assert set(result.data["rows"][0]) <= {"id", "key", "value"}
