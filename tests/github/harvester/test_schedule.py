"""Accounts work at the same time, according to a simulation of the time."""

from __future__ import annotations

import pytest

from tests.github.harvester.search_simulator import Changes, SearchSimulator
from tests.github.harvester.simulated_time import LATENCY, simulate_schedule


@pytest.mark.parametrize("accounts", [2, 4])
def test_accounts_are_rarely_idle(accounts):
    """Beside the logins, at most three times the latency is lost."""
    made = simulate_schedule(SearchSimulator(20_000, 1, Changes(), 1), 1, accounts)
    busy = made.requests * LATENCY / accounts
    assert made.seconds - accounts * LATENCY <= busy + 3 * LATENCY
