"""Resolvers that return tables, of which the columns would be taken for the rows."""

from __future__ import annotations

import re
from typing import Any

import graphql
import pandas as pd
import polars as pl
import pytest

from gqlnb import Schema

SDL = """
directive @defer(if: Boolean! = true, label: String) on FRAGMENT_SPREAD | INLINE_FRAGMENT
type Query { rows: [Row]  lists: [[Row]]  numbers: [Float] }
type Row { a: Int  b: String }
"""
COLUMNS = {"a": [1, 2], "b": ["x", "y"]}
FRAMES = [
    pytest.param(pd.DataFrame(COLUMNS), 'pandas.*to_dict\\("records"\\)', id="pandas"),
    pytest.param(pl.DataFrame(COLUMNS), "polars.*to_dicts\\(\\)", id="polars"),
]


def build_schema(frame: Any) -> Schema:
    """Return a schema whose resolvers return a frame, a list of it, and a column of it."""
    return Schema(
        SDL,
        {
            "Query": {
                "rows": lambda root, args, context: frame,
                "lists": lambda root, args, context: [frame],
                "numbers": lambda root, args, context: frame["a"],
            }
        },
    )


@pytest.mark.parametrize(("frame", "message"), FRAMES)
@pytest.mark.parametrize(
    ("query", "path"), [("{ rows { a b } }", ["rows"]), ("{ lists { a } }", ["lists", 0])]
)
def test_a_frame_is_an_error_that_names_the_conversion(frame, message, query, path):
    """The first runs, by graphql-core's methods, and the later ones, by compiled code, agree."""
    schema = build_schema(frame)
    for _ in range(4):
        error = schema.execute(query).errors[0]
        assert error["path"] == path
        assert re.search(message, error["message"])
        assert f"'Query.{path[0]}' returned a DataFrame" in error["message"]


@pytest.mark.parametrize(("frame", "message"), FRAMES)
def test_a_column_is_a_list_of_its_values(frame, message):
    """A Series is iterated over like a list."""
    schema = build_schema(frame)
    for _ in range(4):
        assert schema.execute("{ numbers }").data == {"numbers": [1.0, 2.0]}, message


@pytest.mark.skipif(graphql.version_info < (3, 3), reason="@defer needs graphql-core 3.3")
def test_a_frame_in_a_deferred_part_is_an_error():
    """Parts of an answer are executed by another class."""
    schema = build_schema(pd.DataFrame(COLUMNS))
    parts = list(schema.subscribe("{ numbers ... @defer { rows { a } } }"))
    assert "returned a DataFrame" in parts[-1].errors[0]["message"]
