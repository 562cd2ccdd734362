"""Frames of every scalar of each server, compared with what its resolvers hold."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from gqlnb import Client
from tests.servers.processes import NODE_NAMES
from tests.servers.scalars import APOLLO, ARIADNE, STRAWBERRY, field_name

if TYPE_CHECKING:
    from tests.servers.scalars import ScalarCase

# Years and months have no fixed length, so such a column keeps its values and gqlnb says so.
pytestmark = pytest.mark.filterwarnings("ignore:Values of the scalar 'ISO8601Duration'")
MISSING = (None, pd.NA, pd.NaT)
CASES = {**dict.fromkeys(NODE_NAMES, APOLLO), "strawberry": STRAWBERRY, "ariadne": ARIADNE}


def query_for(cases: list[ScalarCase], field: str = "scalars") -> str:
    """Return a query for the columns of some scalars."""
    return f"{{ {field} {{ number {' '.join(field_name(case.type) for case in cases)} }} }}"


def plain(values: Any) -> list[Any]:
    """Return values with None for what is missing."""
    return [
        None if value is None or value is pd.NA or value is pd.NaT else value for value in values
    ]


def find_mistakes(frame: pd.DataFrame, expected: dict[str, tuple[str, list[Any]]]) -> list[str]:
    """Return a line for each scalar whose column has another dtype, or other values."""
    found = {name: frame[field_name(name)] for name in expected}
    columns = {name: (str(column.dtype), plain(column)) for name, column in found.items()}
    return [
        f"{name}: {columns[name]} instead of {expected[name]}"
        for name in expected
        if columns[name] != expected[name]
    ]


WAYS: dict[str, Callable[[Client, str], pd.DataFrame]] = {
    "frame": lambda client, text: client.frame(text),
    "execute": lambda client, text: client.execute(text).frame(),
    "execute_all": lambda client, text: client.execute_all(text).frame(),
    "all pages": lambda client, text: client.frame(text, pages="all"),
    "aexecute": lambda client, text: asyncio.run(client.aexecute(text)).frame(),
}


@pytest.mark.parametrize("way", WAYS)
def test_scalars_have_their_dtypes_and_values(client: Client, name: str, way: str) -> None:
    """For a fresh client, by every function that returns a frame."""
    cases = CASES[name]
    frame = WAYS[way](client, query_for(cases))
    assert list(frame.columns) == ["number", *(field_name(case.type) for case in cases)]
    expected = {case.type: (case.dtype, case.values()) for case in cases}
    assert find_mistakes(frame, expected) == []


def test_scalars_that_are_null_keep_their_dtypes(client: Client, name: str) -> None:
    """Columns without any value have the dtypes of the schema."""
    # Years and months have no fixed length; the dtype of such a column is known from its values.
    cases = [case for case in CASES[name] if case.type != "ISO8601Duration"]
    frame = client.frame(query_for(cases, "nullScalars"))
    expected = {case.type: (case.dtype, [None, None]) for case in cases}
    assert find_mistakes(frame, expected) == []


def test_scalars_can_be_written_to_parquet(client: Client, name: str, tmp_path: Any) -> None:
    """Every column of a frame has an Arrow type that Parquet supports."""
    import pyarrow.parquet as pq

    table = client.execute(query_for(CASES[name])).arrow()
    pq.write_table(table, tmp_path / "scalars.parquet")
    assert pq.read_table(tmp_path / "scalars.parquet").equals(table)


def test_an_enum_is_categorical_with_all_values(client: Client) -> None:
    """Those of the schema, whether or not they occur."""
    frame = client.frame("{ booksByOffset(limit: 1) { genre } }")
    assert isinstance(frame["genre"].dtype, pd.CategoricalDtype)
    values = {"NOVEL", "POETRY", "ESSAY", "DRAMA", "SCIENCE"}
    assert set(frame["genre"].cat.categories) == values


def test_rows_are_those_of_the_data(client: Client, library: dict[str, Any]) -> None:
    """Text, whole numbers, numbers, booleans and objects in objects of a plain list."""
    frame = client.frame("{ allBooks { number title pages rating inPrint author { name } } }")
    assert {key: str(dtype) for key, dtype in frame.dtypes.items()} == {
        "number": "Int64",
        "title": "string",
        "pages": "Int64",
        "rating": "Float64",
        "inPrint": "boolean",
        "author.name": "string",
    }
    names = {author["number"]: author["name"] for author in library["authors"]}
    assert [tuple(plain(row)) for row in frame.itertuples(index=False)] == [
        (
            *(book["number"], book["title"], book["pages"], book["rating"], book["inPrint"]),
            names[book["author"]],
        )
        for book in library["books"]
    ]
