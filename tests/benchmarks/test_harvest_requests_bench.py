"""The requests of a harvest of a synthetic GitHub, counted and not timed."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from gqlnb import github
from gqlnb.client.client import Client
from gqlnb.github.harvester.requests import PortableClient, SearchRequest, fetch_pages
from gqlnb.github.harvester.scope import Scope
from tests.github.harvester.populations import World, harvest, truth

if TYPE_CHECKING:
    from gqlnb.lists.window_harvest import Page


@pytest.mark.parametrize("threshold", [10_000, 4_000])
def test_the_stand_in_receives_the_requests_of_the_population(threshold):
    """Word for word; all rows come, in few more pages than there must be."""
    population, text = github.population(15_000), f"stars:>{threshold}"
    client = PortableClient(Client(github.service(population=population)))
    asked: list[SearchRequest] = []

    def ask_stand_in(request: SearchRequest) -> Page:
        asked.append(request)
        (page,) = fetch_pages(client, [request]).answers
        return cast("Page", page)

    world = World(population)
    harvest(Scope.parse(text), world)
    rows, coverage = harvest(Scope.parse(text), ask_stand_in)
    assert asked == world.asked
    wanted = truth(population, text)
    assert sorted(f"{row.owner}/{row.name}" for row in rows) == sorted(wanted)
    assert coverage.pages <= 1.07 * -(-len(wanted) // 100)
