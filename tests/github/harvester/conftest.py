"""Populations to harvest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gqlnb import Client, github
from tests.github.harvester.logging_standin import Listening, rows

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZE = 12_000


@pytest.fixture(scope="session")
def people() -> Any:
    """Return a population with thousands of repositories of equal stars."""
    return github.population(SIZE, seed=3)


@pytest.fixture
def standin(people: Any) -> Listening:
    """Return a stand-in for the population."""
    return Listening(people)


@pytest.fixture
def client(standin: Listening) -> Iterator[Client]:
    """Yield a client of the stand-in in this process."""
    with Client(standin) as made:
        yield made


@pytest.fixture(scope="session")
def truth(people: Any) -> set[tuple[str, str, int]]:
    """Return all rows of the population."""
    return rows(people.frame())
