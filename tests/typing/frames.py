"""Read lists as frames."""

from __future__ import annotations

from typing import assert_type

import pandas as pd

from gqlnb import Client


def read(client: Client, text: str) -> pd.DataFrame:
    """Return the rows, in several ways."""
    result = client.execute(text)
    assert_type(result.df, pd.DataFrame)
    assert_type(result.frame("search.nodes", short=True, explode="languages"), pd.DataFrame)
    assert_type(result.frames["search"], pd.DataFrame)
    assert_type(list(result.frames), list[str])
    assert_type(result.errors_frame(), pd.DataFrame)
    result.frame(explode=5)  # type: ignore[arg-type]
    result.frame(sort=True)  # type: ignore[call-arg]
    return client.frame(text, {"first": 3}, path="search", strict=False)
