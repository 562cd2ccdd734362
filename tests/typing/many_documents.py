"""Execute many documents, and one for many inputs."""

from __future__ import annotations

from typing import assert_type

import pandas as pd

import gqlnb
from gqlnb import Client, GqlnbError, Result


def run(client: Client, texts: list[str], logins: pd.DataFrame) -> list[Result]:
    """Return all results; errors in their places."""
    outcomes = client.execute_many(texts, return_errors=True)
    assert_type(outcomes, list[Result | GqlnbError])
    good = [it for it in outcomes if isinstance(it, Result)]
    assert_type(good, list[Result])
    try:
        client.execute_many(texts)
    except gqlnb.BatchError as error:
        assert_type(error.outcomes, list[Result | GqlnbError])
    client.map("query ($login: String!) { user(login: $login) { name } }", logins)
    client.execute_many(texts, concurency=8)  # type: ignore[call-overload]
    return good
