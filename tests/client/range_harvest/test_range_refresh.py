"""Refreshes of finished harvests: ranges without a proof are read again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from graphql import GraphQLError

import gqlnb
from gqlnb import Client, Slice
from tests.client.range_harvest.simulator import Endpoint
from tests.client.range_harvest.test_range_harvest import harvest, list_ids

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings("ignore:.* more ranges are not proved complete")

ROWS = {f"r{number}": number for number in range(400)}
FAILING = {"r100", "r250"}


@dataclass
class ReadingEndpoint(Endpoint):
    """Notes the low ends of the ranges of which it returns rows."""

    lows: list[int | None] = field(default_factory=list)

    def resolve_items(self, root: object, args: dict[str, Any], context: object) -> object:
        """Return a page."""
        if args["first"] > 1:
            self.lows.append(args.get("low"))
        return super().resolve_items(root, args, context)


@dataclass
class RestlessEndpoint(Endpoint):
    """Whenever all rows are counted, one of the highest range takes the place of a lower one."""

    swaps: int = 0
    is_calm: bool = False

    def resolve_items(self, root: object, args: dict[str, Any], context: object) -> object:
        """Return a page."""
        is_total = args["first"] == 1 and not {"low", "high"} & args.keys()
        if is_total and not self.is_calm:
            self.rows[f"r{399 - self.swaps}"] = self.rows.pop(f"r{5 + 60 * self.swaps}")
            self.swaps += 1
        return super().resolve_items(root, args, context)


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


def test_ranges_of_which_a_field_failed_are_read_again(tmp_path: Path):
    """A refresh reads them and the highest range; the same call returns the harvest as it is."""
    endpoint = ReadingEndpoint({**ROWS}, damage=fail_labels)
    options: dict[str, Any] = {
        "slice": Slice(column="at", cap=50),
        "page_size": 50,
        "out": tmp_path,
    }
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
    assert found.complete
    assert list_ids(found) == sorted(ROWS)
    assert found.frame()["label"].notna().all()
    assert found.changes is not None
    assert set(found.changes.changed) == FAILING


def test_a_field_that_still_fails_is_the_same_gap(tmp_path: Path):
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


def test_an_interrupted_refresh_reads_the_other_ranges(tmp_path: Path):
    """The same call continues it, also without `refresh`."""
    endpoint = ReadingEndpoint({**ROWS}, damage=fail_labels)
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


def test_a_range_with_more_equal_values_than_the_cap_is_not_read_again(tmp_path: Path):
    """Another reading would return no more of them; the gap remains."""
    rows = ROWS | {f"same{number}": 77 for number in range(60)}
    endpoint = ReadingEndpoint(rows)
    with pytest.warns(UserWarning, match="no value divides them"):
        first = harvest(endpoint, out=tmp_path, page_size=50)
    endpoint.lows = []
    with pytest.warns(UserWarning, match="no value divides them"):
        found = harvest(endpoint, out=tmp_path, page_size=50, refresh=True)
    assert 77 not in endpoint.lows
    assert found.coverage.gaps == first.coverage.gaps


def test_ranges_without_a_count_of_nulls_are_not_read_again(tmp_path: Path):
    """Another reading would count no rows with null either."""
    endpoint = ReadingEndpoint({**ROWS}, has_count=False)
    with pytest.warns(UserWarning, match="does not count rows"):
        first = harvest(endpoint, out=tmp_path, page_size=50)
    endpoint.lows = []
    with pytest.warns(UserWarning, match="does not count rows"):
        found = harvest(endpoint, out=tmp_path, page_size=50, refresh=True)
    assert len(set(endpoint.lows)) < 4  # parts of the highest range
    assert len(found.coverage.gaps) >= len(first.coverage.gaps)


def test_ranges_in_which_rows_moved_are_read_again(tmp_path: Path):
    """Their counts may agree by chance, though a row is missing and another one is gone."""
    endpoint = RestlessEndpoint({**ROWS})
    with pytest.warns(UserWarning, match="rows which moved may be in none"):
        first = harvest(endpoint, out=tmp_path)
    assert not first.complete
    endpoint.is_calm = True
    found = harvest(endpoint, out=tmp_path, refresh=True)
    assert found.complete
    assert list_ids(found) == sorted(endpoint.rows)
