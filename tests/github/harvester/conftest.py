"""Populations to harvest."""

from __future__ import annotations

import sys

import pytest

from gqlnb import Client, github
from tests.github.harvester.logging_standin import Listening, rows

SIZE = 6_000


@pytest.fixture(scope="session")
def people():
    """Return a population with thousands of repositories of equal stars."""
    return github.population(SIZE, seed=3)


@pytest.fixture
def standin(people):
    """Return a stand-in for the population."""
    return Listening(people)


@pytest.fixture
def client(standin):
    """Yield a client of the stand-in in this process."""
    with Client(standin) as made:
        yield made


@pytest.fixture
def spawning(monkeypatch):
    """Allow processes to be spawned after the shell of another test has emptied ``__main__``."""
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", None, raising=False)


@pytest.fixture(scope="session")
def truth(people):
    """Return all rows of the population."""
    return rows(people.frame())
