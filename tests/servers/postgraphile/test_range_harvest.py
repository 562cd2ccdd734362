"""Harvests in ranges from PostGraphile: the rows of the table, and what no range contains."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pandas as pd
import pytest

import gqlnb

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from gqlnb import Client
    from tests.servers.postgraphile.postgraphile import PostGraphile
    from tests.servers.postgraphile.postgres import Postgres

    Connect = Callable[..., Client]

TEXT = """query ($since: Datetime, $until: Datetime) {
  postsPublished(since: $since, until: $until) { nodes { id publishedAt price } }
}"""
PUBLISHED = gqlnb.Slice(
    column="publishedAt", low="since", high="until", closed="left", least="2000-01-01", cap=10_000
)


def test_all_rows_with_a_time_come(
    lists: PostGraphile, connect: Connect, database: Postgres, tmp_path: Path
):
    """All posts that have a time are in the ranges; the ids and prices are those of the table."""
    client = connect(lists)
    found = client.harvest(TEXT, slice=PUBLISHED, page_size=1000, out=tmp_path, part=30_000)
    sql = "SELECT id, price::text FROM forum.posts WHERE published_at IS NOT NULL ORDER BY id"
    rows = database.fetch_rows(sql)
    frame = found.frame().sort_values("id")
    assert found.complete
    assert frame["id"].astype(int).tolist() == [row["id"] for row in rows]
    prices = [None if row["price"] is None else Decimal(row["price"]) for row in rows]
    assert [None if pd.isna(price) else price for price in frame["price"]] == prices


def test_rows_without_a_time_are_counted(lists: PostGraphile, connect: Connect, database: Postgres):
    """Without bounds the whole contains posts without a time, and the report gives their number."""
    whole = gqlnb.Slice(
        column="publishedAt", low="since", high="until", closed="left", cap=20_000, fixed=True
    )
    (row,) = database.fetch_rows("SELECT count(*) AS n FROM forum.posts WHERE published_at IS NULL")
    with pytest.warns(UserWarning, match=f"{row['n']:,} more rows are in no range"):
        found = connect(lists).harvest(TEXT, slice=whole, page_size=5000)
    assert not found.complete
    assert len(found) == 100_000 - row["n"]
