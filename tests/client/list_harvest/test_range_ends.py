"""The ends of a harvest in ranges, and values between the ends of adjacent ranges."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from gqlnb import Client, OptionError, Slice
from tests.client.list_harvest.simulator import Endpoint
from tests.client.list_harvest.test_range_harvest import harvest, harvest_quietly, list_ids
from tests.client.paging.lists import build_client, build_page
from tests.examples import select_combinations

DAYS = [dt.datetime(2020, 1, day, tzinfo=dt.UTC) for day in range(1, 31)]
FIRST, LAST = 4, 19  # the 5th and the 20th
ENDS: dict[str, tuple[Any, Any]] = {
    "texts": ("2020-01-05T00:00:00Z", "2020-01-20T00:00:00Z"),
    "texts of days": ("2020-01-05", "2020-01-20"),
    "days": (dt.date(2020, 1, 5), dt.date(2020, 1, 20)),
    "times": (DAYS[FIRST], DAYS[LAST]),
    "no least": (None, "2020-01-20"),
    "no most": ("2020-01-05", None),
}


def make_days(**options: Any) -> Endpoint:
    """Return an endpoint with a row for each day; a page has three at most."""
    rows = {f"d{number}": f"{day:%Y-%m-%dT%H:%M:%SZ}" for number, day in enumerate(DAYS)}
    return Endpoint(rows, type="DateTime", is_required=True, **options)


def slice_days(endpoint: Endpoint, ends: tuple[Any, Any]) -> Slice:
    """Return the slice from the 5th to the 20th."""
    closed: Any = endpoint.closed
    return Slice(column="at", cap=endpoint.cap, closed=closed, least=ends[0], most=ends[1])


def list_days(ends: tuple[Any, Any]) -> list[str]:
    """Return the ids of the days between two ends, both included."""
    first, last = 0 if ends[0] is None else FIRST, 29 if ends[1] is None else LAST
    return sorted(f"d{number}" for number in range(first, last + 1))


@pytest.mark.parametrize(
    ("name", "closed", "cap"),
    select_combinations(ENDS, ["both", "left", "right", "neither"], [8, 1000]),
)
def test_the_rows_at_both_ends_come(name, closed, cap):
    """Whatever the type of the ends, and whether the filter includes them."""
    endpoint = make_days(closed=closed, cap=cap)
    found = harvest(endpoint, slice=slice_days(endpoint, ENDS[name]))
    assert list_ids(found) == list_days(ENDS[name])
    assert found.complete
    assert endpoint.requests == found.coverage.pages + found.coverage.counts


@pytest.mark.parametrize("name", ENDS)
def test_the_rows_at_both_ends_come_after_an_interrupt_and_a_refresh(name, tmp_path):
    """The log has the ends as texts."""
    endpoint = make_days(closed="neither", cap=8)
    slice_ = slice_days(endpoint, ENDS[name])

    def interrupt() -> None:
        if endpoint.requests in {1, 2, 3, 5, 9}:
            raise KeyboardInterrupt

    endpoint.drift = interrupt
    failures = 0
    while failures < 9:
        try:
            found = harvest(endpoint, slice=slice_, out=tmp_path)
            break
        except KeyboardInterrupt:
            failures += 1
    assert failures > 3
    assert (list_ids(found), found.complete) == (list_days(ENDS[name]), True)
    again = harvest(endpoint, slice=slice_, out=tmp_path, refresh=True)
    assert (list_ids(again), again.complete) == (list_days(ENDS[name]), True)


def test_the_ends_may_be_times_of_a_column_of_days():
    """An endpoint that reads a time as its day includes the last day."""
    rows = {f"d{number}": f"{day:%Y-%m-%d}" for number, day in enumerate(DAYS)}
    endpoint = Endpoint(rows, type="Date", is_required=True, closed="left")
    schema = endpoint.build_schema()
    resolve = endpoint.resolve_items

    def cut_times(root: object, args: dict[str, Any], context: object) -> object:
        ends = {name: str(args[name])[:10] for name in ("low", "high") if name in args}
        return resolve(root, {**args, **ends}, context)

    schema.resolver("Query.items")(cut_times)
    slice_ = Slice(column="at", closed="left", least=DAYS[FIRST], most=DAYS[LAST])
    found = Client(schema).harvest(endpoint.query, slice=slice_)
    assert list_ids(found) == list_days(ENDS["times"])


def test_a_filter_that_excludes_a_text_cannot_begin_with_it():
    """No text comes just before another one, so the row with it could not be selected."""
    rows = {f"r{number}": f"t{number:03}" for number in range(30)}
    for closed in ("right", "neither"):
        endpoint = Endpoint(rows, type="String", is_required=True, closed=closed)
        slice_ = Slice(column="at", cap=50, closed=closed, least="t005", most="t010")  # type: ignore[arg-type]
        with pytest.raises(OptionError, match="least= is a text, and the filter leaves out"):
            harvest(endpoint, slice=slice_)
    endpoint = Endpoint(rows, type="String", is_required=True, closed="left", cap=4)
    slice_ = Slice(column="at", cap=4, closed="left", least="t005", most="t010")
    found = harvest(endpoint, slice=slice_)
    assert list_ids(found) == sorted(f"r{number}" for number in range(5, 11))
    assert found.complete


# -- values between the ends of adjacent ranges


FINE_SDL = """
items(low: {0}, high: {0}, first: Int, after: String): Page! scalar DateTime scalar Decimal
type Page {{ {1} nodes: [Row!]! pageInfo: PageInfo! }} type Row {{ id: ID! at: {0}! }}
"""
FINE_VALUES = {
    "Decimal": [f"0.{number:012}" for number in range(0, 2000, 5)],
    "DateTime": [f"2020-01-01T00:00:00.{number:09}Z" for number in range(0, 20000, 50)],
    "String": [f"v{number:03}{end}" for number in range(200) for end in ("", "\t")],
}


@pytest.mark.parametrize("has_count", [True, False])
@pytest.mark.parametrize("kind", FINE_VALUES)
def test_rows_between_the_ends_of_adjacent_ranges_are_not_overlooked(kind, has_count):
    """The harvest is not complete if rows are missing, also without a count."""
    values = FINE_VALUES[kind]
    parse: Any = Decimal if kind == "Decimal" else str

    def read_end(end: object) -> Any:
        # Times as the endpoint writes them, with nine places.
        text = str(end).replace("+00:00", "Z")
        return parse(text.replace("Z", "000Z") if kind == "DateTime" and len(text) == 27 else text)

    def find_items(args: dict[str, Any]) -> object:
        ends = args.get("low"), args.get("high")
        low, high = (None if end is None else read_end(end) for end in ends)
        found = [
            {"id": f"i{number}", "at": value}
            for number, value in enumerate(values)
            if (low is None or parse(value) >= low) and (high is None or parse(value) <= high)
        ]
        page = build_page(found[:50], args.get("after"), args.get("first") or 20)
        return page | {"totalCount": len(found)}

    sdl = FINE_SDL.format(kind, "totalCount: Int!" if has_count else "")
    ends = f"($low: {kind}, $high: {kind})"
    text = f"query {ends} {{ items(low: $low, high: $high) {{ nodes {{ id at }} }} }}"
    client = build_client(sdl, find_items)
    found = harvest_quietly(client, text, slice=Slice(column="at", cap=50), progress=False)
    assert len(found) < len(values)
    assert not found.complete
    if not has_count:
        assert any("closer together than the ends" in gap.why for gap in found.coverage.gaps)
