"""Fetch all pages, with a bound and a report."""

from __future__ import annotations

from typing import assert_type

import gqlnb
from gqlnb import Client, Result


def count(client: Client, text: str) -> int:
    """Return the number of rows, and stop at 10,000."""
    total = 0
    for page in client.pages(text, page_size=100, max_results=10_000, progress=False):
        assert_type(page, Result)
        total += len(page)
    try:
        whole = client.execute_all(text, path="search", max_requests=5)
    except gqlnb.GqlnbError:
        whole = client.resume()
    assert_type(whole, Result)
    if whole.report is not None:
        assert_type(whole.report.complete, bool)
    client.pages(text, page_sise=5)  # type: ignore[call-arg]
    return total
