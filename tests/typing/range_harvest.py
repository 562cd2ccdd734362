"""Fetch a list beyond an endpoint's cap."""

from __future__ import annotations

from typing import assert_type

import pandas as pd

from gqlnb import Client, RangeEstimate, RangeHarvest, Slice


def fetch(client: Client, text: str) -> pd.DataFrame:
    """Return all rows."""
    created = Slice(column="createdAt", template="created:{low}..{high}", cap=500)
    assert_type(client.harvest(text, slice=created, dry_run=True), RangeEstimate)
    found = client.harvest(text, {"first": 100}, slice=created, out="rows", refresh=True)
    assert_type(found, RangeHarvest)
    assert_type(found.complete, bool)
    Slice(colum="createdAt")  # type: ignore[call-arg]
    client.harvest(text)  # type: ignore[call-overload]
    return found.frame()
