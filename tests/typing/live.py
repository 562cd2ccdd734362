"""Watch a subscription and a search in a notebook."""

from __future__ import annotations

from typing import assert_type

import pandas as pd

import gqlnb
from gqlnb import Client, Explorer, LiveFrame, ResultView, StarSearch


def watch(client: Client) -> None:
    """Show widgets, and read them."""
    live = LiveFrame(client.subscribe("subscription { tick }"), rows=10)
    assert_type(live.frame, pd.DataFrame)
    search = StarSearch(">1000", limit=100, client=client)
    assert_type(search.frame, pd.DataFrame | None)
    explorer = Explorer(client, query="{ hello }")
    assert_type(explorer.query, str)
    assert_type(explorer.result, gqlnb.Result | None)
    assert_type(ResultView(client.execute("{ hello }")).frame, pd.DataFrame)
    StarSearch(">1000", limt=5)  # type: ignore[call-arg]
