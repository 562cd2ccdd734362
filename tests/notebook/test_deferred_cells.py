"""Cells with incremental answers."""

from __future__ import annotations

import pytest

from gqlnb import Client
from tests.client.faults import Endpoint
from tests.client.test_deferred import DEFERRED, FAULTS


@pytest.mark.parametrize("fault", ["406", "mixed, cut", "first part as JSON", "Apollo"])
def test_the_error_names_subscribe(shell, fault):
    """As the error of `execute` does."""
    with Endpoint(FAULTS[fault][0]) as endpoint:
        shell.user_ns["client"] = Client(endpoint.url)
        done = shell.run_cell(f"%%graphql -c client\n{DEFERRED}")
    assert not done.success
    assert "client.subscribe(text)" in str(done.error_in_exec)
