"""Compare two schemas, and look at one."""

from __future__ import annotations

from typing import assert_type

import pandas as pd
from graphql import GraphQLSchema

import gqlnb


def compare(client: gqlnb.Client) -> list[str]:
    """Return the breaking changes."""
    assert_type(client.schema, GraphQLSchema)
    assert_type(client.sdl, str)
    changes = gqlnb.diff("old.graphql", client, documents=["{ hello }"])
    assert_type(changes.frame(), pd.DataFrame)
    assert_type(client.diagram(["Query"]).text, str)
    gqlnb.diff("old.graphql")  # type: ignore[call-arg]
    return [f"{change.place}: {change.severity}" for change in changes.breaking]
