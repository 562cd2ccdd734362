"""Accounts work at the same time, according to a simulation of the time."""

from __future__ import annotations

import pytest

from tests.github.harvester.simulated_time import LATENCY, simulate_harvest


@pytest.mark.parametrize("accounts", [2, 4])
def test_accounts_are_rarely_idle(accounts):
    """Beside the logins, at most three times the latency is lost."""
    made = simulate_harvest(20_000, accounts)
    busy = made.requests * LATENCY / accounts
    assert made.seconds - accounts * LATENCY <= busy + 3 * LATENCY


def test_four_accounts_are_almost_four_times_as_fast():
    """Logins and the first searches are the same for every size."""
    one, four = simulate_harvest(80_000, 1), simulate_harvest(80_000, 4)
    assert one.rows == four.rows
    logins = 4 * LATENCY
    assert one.seconds / (four.seconds - logins) >= 3.4
