"""A real server with a subscription, and a relay in front of it."""

from __future__ import annotations

import pytest

from gqlnb import serve
from tests.client.relays import Relay
from tests.client.subscriptions.tickers import Ticker


@pytest.fixture(autouse=True)
def eager(monkeypatch):
    """Wait a thousandth of what would be waited before subscribing again."""
    monkeypatch.setattr("gqlnb.client.subscriptions.FIRST_DELAY", 0.0005)


@pytest.fixture
def ticker():
    """Return what is subscribed to."""
    return Ticker()


@pytest.fixture
def url(ticker):
    """Yield the address of a real server."""
    with serve(ticker.schema, port=0) as server:
        yield server.url


@pytest.fixture
def relay(url):
    """Yield a relay in front of the server."""
    with Relay(url) as made:
        yield made
