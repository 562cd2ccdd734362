"""Folders of harvests in ranges: another harvest, a lost part, no rows, and errors."""

from __future__ import annotations

from typing import Any

import pytest

import gqlnb
from gqlnb import Client, OptionError, Slice
from tests.client.list_harvest.simulator import Endpoint
from tests.client.list_harvest.test_range_harvest import harvest, list_ids

OTHERS: dict[str, dict[str, Any]] = {
    "most": {"slice": Slice(column="at", cap=50, least=0, most=199)},
    "least": {"slice": Slice(column="at", cap=50, least=10, most=99)},
    "id": {"slice": Slice(column="at", cap=50, least=0, most=99, id="label")},
    "operation": {"operation": "Second"},
    "path": {"path": "items"},
}


def make_endpoint(**options: Any) -> Endpoint:
    """Return an endpoint with 400 rows."""
    return Endpoint({f"r{number}": number for number in range(400)}, is_required=True, **options)


@pytest.mark.parametrize("name", OTHERS)
def test_a_harvest_of_other_rows_is_another_one(name, tmp_path):
    """A finished folder is returned only for the same range, operation and path."""
    endpoint = make_endpoint()
    text = endpoint.query.replace("query", "query First") + endpoint.query.replace(
        "query", "query Second"
    )
    options: dict[str, Any] = {
        "slice": Slice(column="at", cap=50, least=0, most=99),
        "operation": "First",
        "out": tmp_path,
    }
    client = Client(endpoint.build_schema())
    assert len(client.harvest(text, **options)) == 100
    assert len(client.harvest(text, **options)) == 100
    with pytest.raises(OptionError, match="is the log of"):
        client.harvest(text, **options | OTHERS[name])
    found = client.harvest(text, **options | OTHERS[name], resume=False)
    assert found.complete
    assert len(found) == {"most": 200, "least": 90}.get(name, 100)


def test_the_message_shows_where_long_queries_differ(tmp_path):
    """They are cut to begin shortly before their first difference."""
    endpoint = make_endpoint()
    client = Client(endpoint.build_schema())
    comment = f"# {'a long query ' * 20}\n"
    slice_ = Slice(column="at", cap=50)
    client.harvest(comment + endpoint.query, slice=slice_, out=tmp_path)
    other = endpoint.query.replace("label tags", "tags label")
    with pytest.raises(OptionError) as caught:
        client.harvest(comment + other, slice=slice_, out=tmp_path)
    before, _, after = str(caught.value).partition("and this harvest is")
    assert "{ id at label tags }" in before
    assert "{ id at tags label }" in after
    assert "a long query" not in before + after


def test_a_folder_that_lost_its_only_part_names_it(tmp_path):
    """It is not described as one whose first part is still to come."""
    harvest(make_endpoint(), out=tmp_path)
    (tmp_path / "part-00000.parquet").unlink()
    with pytest.raises(OptionError, match=r"part-00000\.parquet is missing\. Put it back"):
        gqlnb.github.open(tmp_path).frame()


@pytest.mark.parametrize("least", [0, "2020-01-05", None])
def test_a_harvest_without_rows_is_refreshed(least, tmp_path):
    """The rows that have come since are added."""
    kind = "DateTime" if isinstance(least, str) else "Int"
    endpoint = Endpoint({}, type=kind)
    slice_ = Slice(column="at", cap=50, least=least)
    assert len(harvest(endpoint, out=tmp_path, slice=slice_)) == 0
    assert len(harvest(endpoint, out=tmp_path, slice=slice_, refresh=True)) == 0
    endpoint.rows["a"] = "2021-01-01T00:00:00Z" if kind == "DateTime" else 5
    found = harvest(endpoint, out=tmp_path, slice=slice_, refresh=True)
    assert found.complete
    assert list_ids(found) == ["a"]
    assert found.changes is not None
    assert found.changes.added == ["a"]
