"""A schema over a frame: a filter, an order and the first hundred of a million rows.

Against resolvers that look at row after row, as they are written where no database does it, and
against pandas as a person writes it by hand: a mask, ``sort_values``, ``head``. The rows of the
former are made beforehand, which is not timed. `later` is every query but the first with an order;
`first` makes the schema, and the order, which a schema keeps; `walk` turns to a page in the middle.

    python tests/benchmarks/from_frame.py            all, each in a process of its own
    python tests/benchmarks/from_frame.py later      one of them
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from gqlnb import Schema
from tests.benchmarks.measure import OURS, Goal, Workload, main

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.benchmarks.measure import Sides

PANDAS = "pandas by hand"
PER_ROW = "resolvers, row by row"
MILLION = 1_000_000

SDL = """
type Query { rows: Rows }
type Rows { totalCount: Int nodes: [Row] }
type Row { name: String stars: Int }
"""
NUMBERS = """{
  rows(where: {stars: {gt: 400000}}, orderBy: {field: stars, direction: DESC}, first: 100) {
    totalCount nodes { name stars }
  }
}"""
WORDS = """{
  rows(where: {name: {contains: "77"}}, orderBy: {field: name}, first: 100) {
    totalCount nodes { name stars }
  }
}"""


def frame_of(size: int) -> pd.DataFrame:
    """Return rows by chance: names, stars of which many are equal, and a score."""
    random = np.random.default_rng(0)
    numbers = random.integers(0, 900_000, size)
    return pd.DataFrame(
        {
            "name": pd.Series([f"repository-{number}" for number in numbers]),
            "stars": random.integers(0, 500_000, size),
            "score": random.normal(size=size),
        }
    )


def highest(frame: pd.DataFrame) -> dict[str, Any]:
    """Answer the query about numbers by hand."""
    found = frame[frame["stars"] > 400_000]
    page = found.sort_values("stars", ascending=False, kind="stable").head(100)
    nodes = page[["name", "stars"]].to_dict("records")
    return {"rows": {"totalCount": len(found), "nodes": nodes}}


def named(frame: pd.DataFrame) -> dict[str, Any]:
    """Answer the query about text by hand."""
    found = frame[frame["name"].str.contains("77", regex=False)]
    nodes = found.sort_values("name", kind="stable").head(100)[["name", "stars"]].to_dict("records")
    return {"rows": {"totalCount": len(found), "nodes": nodes}}


def highest_rows(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Resolve the query about numbers row by row."""
    found = [row for row in rows if row["stars"] > 400_000]
    page = sorted(found, key=lambda row: row["stars"], reverse=True)[:100]
    return {"totalCount": len(found), "nodes": page}


def named_rows(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Resolve the query about text row by row."""
    found = [row for row in rows if "77" in row["name"]]
    return {"totalCount": len(found), "nodes": sorted(found, key=lambda row: row["name"])[:100]}


def sides(
    query: str,
    by_hand: Callable[[pd.DataFrame], Any],
    by_row: Callable[[list[dict[str, Any]]], Any],
    size: int,
) -> Sides:
    """Return who answers a query again and again."""
    frame = frame_of(size)
    rows = frame.to_dict("records")
    ours = Schema.from_frame(rows=frame)
    theirs = Schema(SDL, {"Query": {"rows": lambda *_: by_row(rows)}})
    return {
        OURS: lambda: ours.execute(query),
        PANDAS: lambda: by_hand(frame),
        PER_ROW: lambda: theirs.execute("{ rows { totalCount nodes { name stars } } }"),
    }


def first(size: int) -> Sides:
    """Return who answers the query about numbers for the first time; ours is a new schema."""
    frame = frame_of(size)
    return {
        OURS: lambda: Schema.from_frame(rows=frame).execute(NUMBERS),
        PANDAS: lambda: highest(frame),
    }


def walk(size: int) -> Sides:
    """Return who turns to the next page of a thousand, from the middle on."""
    frame = frame_of(size)
    ours = Schema.from_frame(rows=frame, page_sizes=(1000, size))
    text = """query ($after: String) {
      rows(orderBy: {field: stars}, first: 1000, after: $after) { nodes { name stars } }
    }"""
    middle = "{ rows(orderBy: {field: stars}, first: HALF) { pageInfo { endCursor } } }"
    half = ours.execute(middle.replace("HALF", str(size // 2)))["rows"]["pageInfo"]["endCursor"]
    ordered = frame.sort_values("stars", kind="stable")  # kept, as ours keeps its order

    def by_hand() -> dict[str, Any]:
        page = ordered.iloc[size // 2 : size // 2 + 1000][["name", "stars"]]
        return {"rows": {"nodes": page.to_dict("records")}}

    return {OURS: lambda: ours.execute(text, {"after": half}), PANDAS: by_hand}


WORKLOADS = [
    Workload("later", partial(sides, NUMBERS, highest, highest_rows),
     (Goal(PANDAS, 1, most=True), Goal(PER_ROW, 10)), MILLION, 10_000),
    Workload("later-text", partial(sides, WORDS, named, named_rows),
     (Goal(PANDAS, 1, most=True), Goal(PER_ROW, 2)), MILLION, 10_000),
    Workload("first", first, (Goal(PANDAS, 5, most=True),), MILLION, 10_000),
    Workload("walk", walk, (Goal(PANDAS, 1.5, most=True),), MILLION, 10_000),
]  # fmt: skip

if __name__ == "__main__":
    main(__file__, WORKLOADS)
