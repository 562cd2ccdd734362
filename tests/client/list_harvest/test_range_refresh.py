"""Refreshes of finished harvests: ranges without a proof are read again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pytest
from graphql import GraphQLError

import gqlnb
from gqlnb import Client, Slice
from gqlnb.lists.list_harvest import REFRESH_HINT
from tests.client.list_harvest.simulator import Endpoint
from tests.client.list_harvest.test_range_harvest import (
    assert_whole,
    harvest,
    harvest_quietly,
    list_ids,
)

pytestmark = pytest.mark.filterwarnings("ignore:.* more ranges are not proved complete")

ROWS = {f"r{number}": number for number in range(400)}
FAILING = {"r100", "r250"}
RISING = Slice(column="at", cap=50, fixed=True)  # a whole number


def fail_labels(nodes: list[Any]) -> None:
    """Let the label of two rows fail."""
    for node in nodes:
        if node["id"] in FAILING:
            node["label"] = GraphQLError("The label is not available.")


@contextmanager
def connect_to(endpoint: Endpoint) -> Iterator[Client]:
    """Yield a client of an endpoint over a socket."""
    with gqlnb.serve(endpoint.build_schema(), port=0) as server, Client(server.url) as client:
        yield client


def test_ranges_of_which_a_field_failed_are_read_again(tmp_path):
    """A refresh reads them and the highest range; the same call returns the harvest as it is."""
    endpoint = Endpoint({**ROWS}, damage=fail_labels)
    options: dict[str, Any] = {"slice": RISING, "page_size": 50, "out": tmp_path}
    with connect_to(endpoint) as client:
        with pytest.warns(UserWarning, match=r"A field failed: .*The label is not available"):
            first = client.harvest(endpoint.query, **options)
        assert len(first.coverage.gaps) == 2
        highest = max(low for low in endpoint.lows if low is not None)
        endpoint.damage, endpoint.lows, requests = None, [], endpoint.requests
        with pytest.warns(UserWarning, match="A field failed"):
            same = client.harvest(endpoint.query, **options)
        assert (same.coverage, endpoint.requests) == (first.coverage, requests)
        found = client.harvest(endpoint.query, **options, refresh=True)
    texts = [gap.text.partition(" ")[0] for gap in first.coverage.gaps]
    assert endpoint.lows == [*map(int, texts), highest]
    assert_whole(found, ROWS)
    assert found.frame()["label"].notna().all()
    assert found.changes is not None
    assert set(found.changes.changed) == FAILING


def test_a_field_that_still_fails_is_the_same_gap(tmp_path):
    """The rows of the range are there once, and a later refresh tries again."""
    endpoint = Endpoint({**ROWS}, damage=fail_labels)
    with pytest.warns(UserWarning, match="A field failed"):
        first = harvest(endpoint, out=tmp_path, page_size=50)
    with pytest.warns(UserWarning, match="A field failed"):
        again = harvest(endpoint, out=tmp_path, page_size=50, refresh=True)
    assert {gap.text for gap in again.coverage.gaps} == {gap.text for gap in first.coverage.gaps}
    assert list_ids(again) == sorted(ROWS)
    endpoint.damage = None
    assert harvest(endpoint, out=tmp_path, page_size=50, refresh=True).complete


def test_an_interrupted_refresh_reads_the_other_ranges(tmp_path):
    """The same call continues it, also without `refresh`."""
    endpoint = Endpoint({**ROWS}, damage=fail_labels)
    with pytest.warns(UserWarning, match="A field failed"):
        harvest(endpoint, out=tmp_path, page_size=50)
    endpoint.damage, endpoint.lows = None, []

    def interrupt() -> None:
        if len(endpoint.lows) == 2:
            raise KeyboardInterrupt

    endpoint.drift = interrupt
    with pytest.raises(KeyboardInterrupt):
        harvest(endpoint, out=tmp_path, page_size=50, refresh=True)
    endpoint.drift, (first, *_), endpoint.lows = None, endpoint.lows, []
    found = harvest(endpoint, out=tmp_path, page_size=50)
    assert found.complete
    assert first not in endpoint.lows
    assert list_ids(found) == sorted(ROWS)
    assert found.frame()["label"].notna().all()


def test_a_range_with_more_equal_values_than_the_cap_is_not_read_again(tmp_path):
    """Another reading would return no more of them; the gap remains."""
    rows = ROWS | {f"same{number}": 77 for number in range(60)}
    endpoint = Endpoint(rows)
    with pytest.warns(UserWarning, match="no value divides them"):
        first = harvest(endpoint, out=tmp_path, page_size=50, slice=RISING)
    endpoint.lows = []
    with pytest.warns(UserWarning, match="no value divides them"):
        found = harvest(endpoint, out=tmp_path, page_size=50, slice=RISING, refresh=True)
    assert 77 not in endpoint.lows
    assert found.coverage.gaps == first.coverage.gaps
    assert "refresh=True" not in repr(found)


@pytest.mark.parametrize(("left", "is_complete"), [(70, False), (20, True)])
def test_a_range_with_another_number_of_equal_values_is_read_again(tmp_path, left, is_complete):
    """The gap has the new count; there is none if the endpoint returns all rows now."""
    endpoint = Endpoint(ROWS | {f"same{number}": 77 for number in range(60)})
    options: dict[str, Any] = {"slice": RISING, "page_size": 50, "out": tmp_path}
    with connect_to(endpoint) as client:
        with pytest.warns(UserWarning, match=r"77 to 77: 50 of 61 rows\. .* no value divides them"):
            client.harvest(endpoint.query, **options)
        endpoint.rows = ROWS | {f"same{number}": 77 for number in range(left)}
        found = harvest_quietly(client, endpoint.query, **options, refresh=True)
    assert found.complete is is_complete
    gaps = [(gap.text, gap.expected, gap.got) for gap in found.coverage.gaps]
    assert gaps == ([] if is_complete else [("77 to 77", left + 1, 50)])


def test_a_field_that_failed_beyond_the_cap_is_named_and_tried_again(tmp_path):
    """The gap has both reasons; a refresh leaves the one that lasts."""
    endpoint = Endpoint(ROWS | {f"same{number}": 77 for number in range(60)})

    def fail(nodes: list[Any]) -> None:
        for node in nodes:
            if node["id"] == "same3":
                node["label"] = GraphQLError("The label is not available.")

    endpoint.damage = fail
    options: dict[str, Any] = {"slice": RISING, "page_size": 50, "out": tmp_path}
    with connect_to(endpoint) as client:
        with pytest.warns(UserWarning, match=r"divides them\. A field failed: .*not available"):
            client.harvest(endpoint.query, **options)
        endpoint.damage = None
        found = harvest_quietly(client, endpoint.query, **options, refresh=True)
    (gap,) = found.coverage.gaps
    assert gap.why.endswith("no value divides them.")
    assert gap.lasts
    assert found.frame()["label"].notna().all()


def test_a_report_names_refresh_where_it_may_help(tmp_path):
    """It does so once, and only for a harvest in a folder."""
    endpoint = Endpoint({**ROWS}, damage=fail_labels)
    options: dict[str, Any] = {"slice": RISING, "page_size": 50}
    client = Client(endpoint.build_schema())
    harvest_quietly(client, endpoint.query, **options, out=tmp_path)
    with pytest.warns(UserWarning, match="A field failed") as warned:
        found = client.harvest(endpoint.query, **options, out=tmp_path)
    texts = [str(each.message) for each in warned]
    assert [text.endswith(REFRESH_HINT) for text in texts] == [False, True]
    assert repr(found).count("refresh=True") == 1
    assert "refresh=True" not in repr(harvest_quietly(client, endpoint.query, **options))


def test_ranges_without_a_count_of_nulls_are_not_read_again(tmp_path):
    """Another reading would count no rows with null either, and values that rise come later."""
    endpoint = Endpoint({**ROWS}, has_count=False)
    options: dict[str, Any] = {"slice": RISING, "page_size": 50}
    with pytest.warns(UserWarning, match="does not count rows"):
        first = harvest(endpoint, out=tmp_path, **options)
    endpoint.lows = []
    with pytest.warns(UserWarning, match="does not count rows"):
        found = harvest(endpoint, out=tmp_path, **options, refresh=True)
    assert len(set(endpoint.lows)) < 4  # parts of the highest range
    assert len(found.coverage.gaps) >= len(first.coverage.gaps)
    assert "refresh=True" not in repr(found)


NUMBERS: dict[str, Any] = {f"r{number}": number * 10 for number in range(400)}
NAMES: dict[str, Any] = {f"r{number}": f"k{number * 7919 % 400:03}" for number in range(400)}


@pytest.mark.parametrize(
    ("rows", "new", "is_fixed", "has_count"),
    [
        (NUMBERS, 35, False, False),
        (NUMBERS, 35, False, True),  # in the range of the deleted row
        (NAMES, "k120x", True, False),
        (NAMES, "k120x", True, True),
    ],
)
def test_rows_that_may_come_anywhere_are_found(tmp_path, rows, new, is_fixed, has_count):
    """A refresh reads all ranges again, as counts may agree although a row has come."""
    type_ = "String" if is_fixed else "Int"
    endpoint = Endpoint({**rows}, type=type_, has_count=has_count, is_required=True)
    slice_ = Slice(column="at", cap=50, fixed=is_fixed)
    options: dict[str, Any] = {"slice": slice_, "page_size": 50, "out": tmp_path}
    with connect_to(endpoint) as client:
        assert client.harvest(endpoint.query, **options).complete
        endpoint.rows["new"] = new
        del endpoint.rows["r3"]
        if not (is_fixed or has_count):
            endpoint.rows["r390"] = 105
        found = client.harvest(endpoint.query, **options, refresh=True)
    assert_whole(found, endpoint.rows)
    assert found.changes is not None
    assert (found.changes.added, found.changes.removed) == (["new"], ["r3"])


@pytest.mark.parametrize("is_fixed", [False, True])
def test_deleted_rows_that_no_count_shows_are_noted(tmp_path, is_fixed):
    """Later times are read again; a note says that deleted rows may be left, also later."""
    start = datetime(2020, 1, 1, tzinfo=UTC)
    rows = {f"r{hour}": (start + timedelta(hours=hour)).isoformat() for hour in range(400)}
    endpoint = Endpoint(rows, type="DateTime", has_count=False, is_required=True)
    slice_ = Slice(column="at", cap=50, fixed=is_fixed)
    options: dict[str, Any] = {"slice": slice_, "page_size": 50, "out": tmp_path}
    with connect_to(endpoint) as client:
        assert not client.harvest(endpoint.query, **options).notes
        highest = max(low for low in endpoint.lows if low is not None)
        del endpoint.rows["r30"]
        now = datetime.now(UTC) - timedelta(seconds=10)
        endpoint.rows["new" if is_fixed else "r100"] = now.isoformat()
        endpoint.lows = []
        with pytest.warns(UserWarning, match="were deleted since .* are not noticed. resume=False"):
            found = client.harvest(endpoint.query, **options, refresh=True)
        with pytest.warns(UserWarning, match="does not count rows"):
            again = client.harvest(endpoint.query, **options)
    assert set(endpoint.lows) == {highest}
    assert found.complete
    assert set(list_ids(found)) == {*endpoint.rows, "r30"}
    assert again.notes == found.notes


def test_ranges_in_which_rows_moved_are_read_again(tmp_path):
    """Their counts may agree by chance, though a row is missing and another one is gone."""
    endpoint, places = Endpoint({**ROWS}), count()

    def swap(args: dict[str, Any]) -> None:
        """When all are counted, let one of the highest range take the place of a lower one."""
        if args["first"] == 1 and not {"low", "high"} & args.keys():
            place = next(places)
            endpoint.rows[f"r{399 - place}"] = endpoint.rows.pop(f"r{5 + 60 * place}")

    endpoint.watch = swap
    with pytest.warns(UserWarning, match="rows which moved may be in none"):
        first = harvest(endpoint, out=tmp_path)
    assert not first.complete
    endpoint.watch = None
    found = harvest(endpoint, out=tmp_path, refresh=True)
    assert_whole(found, endpoint.rows)
