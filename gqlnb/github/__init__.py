"""A second endpoint, GitHub-shaped: a stand-in with embedded data, and star searches on both.

Importing this room loads nothing; its functions load what they need when first used.

Examples
--------
>>> import gqlnb
>>> sample = gqlnb.connect(gqlnb.github.service())
>>> sample.execute('{ search(query: "stars:>500000", type: REPOSITORY) { repositoryCount } }').data
{'search': {'repositoryCount': 1}}
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gqlnb.github.edge import app
    from gqlnb.github.finding import Population
    from gqlnb.github.generation import population
    from gqlnb.github.harvesting.estimate import Estimate
    from gqlnb.github.harvesting.running import Harvest, harvest
    from gqlnb.github.serving import serve
    from gqlnb.github.simulation import Simulation
    from gqlnb.github.standin import schema, service
    from gqlnb.github.starsearch import stars

__all__ = [
    "Estimate",
    "Harvest",
    "Population",
    "Simulation",
    "app",
    "harvest",
    "population",
    "schema",
    "serve",
    "service",
    "stars",
]

_HOMES = {
    "Estimate": "gqlnb.github.harvesting.estimate",
    "Harvest": "gqlnb.github.harvesting.running",
    "Population": "gqlnb.github.finding",
    "Simulation": "gqlnb.github.simulation",
    "app": "gqlnb.github.edge",
    "harvest": "gqlnb.github.harvesting.running",
    "population": "gqlnb.github.generation",
    "serve": "gqlnb.github.serving",
    "schema": "gqlnb.github.standin",
    "service": "gqlnb.github.standin",
    "stars": "gqlnb.github.starsearch",
}


def __getattr__(name: str) -> Any:
    if name == "rest":
        return import_module("gqlnb.github.rest")
    if name not in _HOMES:
        message = f"module 'gqlnb.github' has no attribute {name!r}"
        raise AttributeError(message)
    found = getattr(import_module(_HOMES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return list(__all__)
